#include "codegen/mach/print.hpp"
#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <iostream>
#include "ir/text/reader.hpp"
#include "isa/registry.hpp"
#include "ir/verify/verifier.hpp"
#include "isa/x64/lower_function.hpp"
#include "isa/x64/print.hpp"
namespace hoist::isa::x64 {
using namespace codegen;
static std::string verify(const MachFunction& f) {
  std::vector<int> defs(f.vregs.size()), defblock(f.vregs.size(), -1);
  base::Printer p;
  for (size_t b=0;b<f.blocks.size();++b){ const auto& bl=f.blocks[MachBlock(b)];
    for (auto v: f.params_of(bl)) { defs[v.index()]++; }
    if (bl.first_inst==bl.end_inst) { p<<"empty "<<MachBlock(b)<<"\n"; continue; }
    for (unsigned k=bl.first_inst;k<bl.end_inst;++k){ const auto& in=f.insts[k];
      bool term=(in.flags&kTerminator)!=0;
      if (term!=(k+1==bl.end_inst)) p<<"terminator misplaced "<<MachBlock(b)<<"\n";
      for (auto& o: f.operands_of(in)) if (o.role==Role::Def||o.role==Role::EarlyDef) defs[o.vreg.index()]++;
    }
    if (b==0 && (bl.pred_count||bl.param_count)) p<<"entry has preds\n";
    if (b!=0 && !bl.pred_count) p<<"unreachable block\n";
    for (auto& e: f.succs_of(bl)) { if (e.arg_count && bl.succ_count!=1) p<<"args on multi\n";
       if (e.arg_count!=f.blocks[e.target].param_count) p<<"arg count mismatch "<<MachBlock(b)<<"\n";
       if (bl.succ_count>1 && f.blocks[e.target].pred_count>1) p<<"critical edge\n"; }
  }
  for (size_t b=0;b<f.blocks.size();++b){ const auto& bl=f.blocks[MachBlock(b)];
    for (unsigned k=bl.first_inst;k<bl.end_inst;++k) for (auto& o: f.operands_of(f.insts[k])) if (defs[o.vreg.index()]!=1) p<<"vreg "<<o.vreg<<" defs "<<defs[o.vreg.index()]<<"\n";
    for (auto& e: f.succs_of(bl)) for (auto v: f.args_of(e)) if (defs[v.index()]!=1) p<<"arg vreg "<<v<<" defs "<<defs[v.index()]<<"\n";
  }
  return p.take();
}
TEST(TmpLower, All) {
  std::map<std::string,int> uns; int ok=0, bad=0;
  for (auto& e: std::filesystem::recursive_directory_iterator("/work/shared/suites/clif")) {
    if (e.path().extension()!=".clif") continue;
    std::ifstream in(e.path()); std::string t(std::istreambuf_iterator<char>(in),{});
    auto file=ir::parse_file(t);
    if (!file) { continue; }
    for (auto& fn: file->functions) { if (fn.unsupported) { uns["parse"]++; continue; }
      if (!ir::verify(fn.func)) { uns["verify"]++; continue; }
      for (unsigned feat: {baseline_features("x86_64"), 0xfffu}) {
      Lowering rules(feat); MachFunction m;
      if (e.path().string().find("verifier")!=std::string::npos) continue;
      auto r=lower_function(rules, fn.func, m);
      if(!r){ uns[r.error().message()]++; continue; }
      auto v=verify(m);
      if(!v.empty()){ ++bad; std::cout<<e.path()<<"\n"<<v; base::Printer o; codegen::print_function(o,m,nullptr,[&](base::Printer& to,const MachInst& i){x64::print_inst(to,m,i,nullptr);}); if(bad<4) std::cout<<o.view()<<"\n"; }
      else ++ok; }
    }
  }
  for (auto&[k,v]:uns) std::cout<<v<<" "<<k<<"\n";
  std::cout<<"ok "<<ok<<" bad "<<bad<<"\n";
}
}
