// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The commands print-cfg and domtree.
#include "hoistdev/filetest_command.hpp"
#include "ir/analysis/dominators.hpp"
#include "ir/text/printer.hpp"

namespace hoistdev {

using namespace hoist;  // NOLINT: a tool, not a library

namespace {

std::string cfg_text(const ir::Function& func) {
  ir::ControlFlow flow;
  flow.compute(func);
  base::Printer text;
  text << "digraph \"" << func.name << "\" {\n";
  if (func.entry_block().is_some()) text << "    {rank=min; " << func.entry_block() << "}\n";
  for (ir::Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    text << "    " << block << " [shape=record, label=\"{";
    ir::print_block_header(text, func, block);
    text << '\n';
    if (const ir::Inst last = func.last_inst(block)) {
      text << " | <" << last << '>';
      ir::print(text, func, last);
      text << '\n';
    }
    text << "}\"]\n";
  }
  for (ir::Block block = func.first_block(); block.is_some(); block = func.next_block(block)) {
    for (const ir::Predecessor& pred : flow.predecessors(block)) {
      text << "    " << pred.block << ':' << pred.branch << " -> " << block << '\n';
    }
  }
  text << "}\n";
  return text.take();
}

void domtree_one(const FileTest& test, const ir::ParsedFunction& f, Words words, Collector& out) {
  const ir::Function& func = f.func;
  ir::ControlFlow flow;
  flow.compute(func);
  ir::DominatorTree tree;
  tree.compute(func, flow);
  std::size_t claimed = 0;
  for (const ir::AttachedComment& comment : f.comments) {
    const std::size_t at = comment.text.find("dominates:");
    if (at == std::string::npos || comment.owner.kind != ir::EntityKind::Inst) continue;
    const ir::Block dominator = func.inst_block(ir::Inst(comment.owner.index));
    std::size_t from = at + 10;
    while ((from = comment.text.find("block", from)) != std::string::npos) {
      from += 5;
      std::size_t number = 0;
      for (std::size_t i = from; i < comment.text.size() && i < from + 9; ++i) {
        const char c = comment.text[i];
        if (c < '0' || c > '9') break;
        number = number * 10 + static_cast<std::size_t>(c - '0');
      }
      ++claimed;
      const ir::Block block(number);
      if (block.index() >= func.block_count()) {
        out.fail(line_text(comment.line, "no block " + std::to_string(number)));
        continue;
      }
      if (tree.idom(block) == dominator) continue;
      base::Printer text;
      text << "the immediate dominator of " << block << " is " << tree.idom(block) << ", not "
           << dominator;
      out.fail(line_text(comment.line, text.take()));
    }
  }
  if (claimed + 1 != tree.preorder().size()) {
    out.fail(function_name(func) + ": " + std::to_string(tree.preorder().size() - 1) +
             " blocks are dominated, the comments name " + std::to_string(claimed));
  }
  base::Printer text;
  text << "cfg_postorder:";
  for (const ir::Block block : flow.postorder()) text << ' ' << block;
  text << "\ndomtree_preorder {\n";
  for (const ir::Block block : tree.preorder()) {
    text << block << ':';
    for (ir::Block child = tree.first_child(block); child.is_some();
         child = tree.next_sibling(child)) {
      text << ' ' << child;
    }
    text << '\n';
  }
  text << "}\n";
  check_text(test, f, words, text.take(), out);
}

}  // namespace

void filetest_print_cfg(const FileTest& test, Words words, Collector& out) {
  for (const ir::ParsedFunction& f : test.file.functions) {
    check_text(test, f, words, cfg_text(f.func), out);
  }
}

void filetest_domtree(const FileTest& test, Words words, Collector& out) {
  for (const ir::ParsedFunction& f : test.file.functions) domtree_one(test, f, words, out);
}

}  // namespace hoistdev
