#include "codegen/mach/print.hpp"
namespace hoist::codegen {
void print(base::Printer& out, PReg r) { out << (r.index<32?"r":"f") << r.number(); }
void print_operand(base::Printer& out, const MachFunction& func, std::uint32_t number, const Allocation*) {
  const Operand& o = func.operands[number];
  const char* roles[]={"use ","late ","def ","early "};
  if (o.constraint==Constraint::RegOrSlot) out<<"any "; else out << roles[(int)o.role];
  out << o.vreg;
  if (o.role==Role::Def||o.role==Role::EarlyDef) out << (func.vregs[o.vreg].cls==RegClass::Int?":i":":f");
  if (o.constraint==Constraint::Fixed) { out<<"="; print(out,o.fixed);}
  if (o.constraint==Constraint::Same) out<<"~"<<unsigned(o.same_as);
}
void print_function(base::Printer& out, const MachFunction& func, const Allocation*, InstPrinter p) {
  for (std::size_t i=0;i<func.blocks.size();++i){ const auto& b=func.blocks[MachBlock(i)];
    out<<MachBlock(i); if(b.param_count){out<<"("; for(auto v:func.params_of(b)) out<<v<<" "; out<<")";}
    if(b.loop_depth) out<<" depth "<<b.loop_depth; if(b.loop_header) out<<" loop"; if(b.cold) out<<" cold"; out<<":\n";
    for(unsigned k=b.first_inst;k<b.end_inst;++k){ out<<"  "; p(out,func.insts[k]); out<<"\n";}
  }
}
}
