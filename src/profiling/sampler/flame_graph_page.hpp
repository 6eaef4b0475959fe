// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
/// The page of flame_graph_html, around its data. Loads nothing; works from a file.

namespace hoist::profiling {

inline constexpr const char* kFlameGraphHead = R"page(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Flame graph</title>
<style>
:root { --bg: #fcfcfb; --fg: #1d1d1f; --dim: #6b6b70; --line: #d9d9de; --hit: #c026d3; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #17181a; --fg: #ececee; --dim: #9a9aa1; --line: #37383d; --hit: #f0abfc; }
}
* { box-sizing: border-box; }
html { overflow-y: scroll; }
body { margin: 0; padding: 14px 16px; background: var(--bg); color: var(--fg);
  font: 13px/1.45 system-ui, sans-serif; }
h1 { font-size: 16px; margin: 0 0 2px; overflow-wrap: anywhere; }
#facts { color: var(--dim); margin: 0 0 10px; }
#bar { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin-bottom: 10px; }
input, button, select { font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 5px; padding: 4px 8px; }
input { min-width: 260px; }
button { cursor: pointer; }
button:disabled { opacity: .45; cursor: default; }
#found { color: var(--dim); }
#graph { position: relative; width: 100%; overflow: hidden; }
.f { position: absolute; height: 18px; padding: 0 4px; border-radius: 2px; overflow: hidden;
  white-space: nowrap; font: 11px/18px ui-monospace, monospace; cursor: pointer; color: #1d1d1f;
  border: 0; text-align: left; }
.f:hover, .f:focus-visible { outline: 2px solid var(--fg); z-index: 2; }
.above { opacity: .55; }
.miss { filter: saturate(.15); opacity: .5; }
.hit { background: var(--hit) !important; color: #fff; }
#detail { position: sticky; bottom: 0; background: var(--bg); border-top: 1px solid var(--line);
  margin-top: 12px; padding: 6px 0; min-height: 46px; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin-top: 14px; width: 100%; }
th, td { text-align: right; white-space: nowrap; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
th:last-child, td:last-child { text-align: left; width: 100%; white-space: normal; overflow-wrap: anywhere; }
th { color: var(--dim); font-weight: 500; }
td button { border: 0; padding: 0; text-align: left; }
</style></head><body>
<h1 id="title"></h1><p id="facts"></p>
<div id="bar">
  <input id="search" type="search" placeholder="Search functions (regular expression)" aria-label="Search">
  <select id="by" aria-label="Frames"><option value="0">by function</option><option value="1">by line</option></select>
  <button id="reset" disabled>Reset zoom</button>
  <span id="found" role="status"></span>
</div>
<div id="graph"></div>
<div id="detail" role="status">Point at a frame to see what it is. Click it to zoom in.</div>
<table><thead><tr><th>self</th><th>self %</th><th>total %</th><th id="what">function</th></tr></thead><tbody id="hot"></tbody></table>
<script type="application/json" id="data">)page";

inline constexpr const char* kFlameGraphTail = R"page(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const KINDS = ["guest", "inlined", "host", "trampoline", "frames left out"];
const HUES = [28, 46, 205, 285, 0];
const ROW = 19;
let root, zoomed, byLine = false, pattern = null;

function label(frame) {
  const [name, , file, line, kind] = frame;
  let text = name + (kind === 2 ? " [host]" : kind === 1 ? " [inlined]" : "");
  if (byLine && line) text += " " + file.split("/").pop() + ":" + line;
  return text;
}
// Merges nodes whose labels are the same: lines of a function are one frame unless lines are wanted.
function build() {
  root = { label: "all", frame: null, self: 0, total: 0, children: new Map(), parent: null, depth: 0 };
  const at = [];
  for (const [parent, frame, self] of data.nodes) {
    const up = parent < 0 ? root : at[parent];
    const name = label(data.frames[frame]);
    let node = up.children.get(name);
    if (!node) {
      node = { label: name, frame: data.frames[frame], self: 0, total: 0, children: new Map(), parent: up, depth: up.depth + 1 };
      up.children.set(name, node);
    }
    node.self += self;
    at.push(node);
  }
  // From the leaves up, without recursion: stacks can be deep.
  const order = [root];
  for (let i = 0; i < order.length; i++) order.push(...order[i].children.values());
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    node.total += node.self;
    if (node.parent) node.parent.total += node.total;
    node.sorted = [...node.children.values()].sort((a, b) => b.total - a.total || (a.label < b.label ? -1 : 1));
  }
  root.all = order;
  zoomed = root;
}
const percent = n => root.total ? (100 * n / root.total).toFixed(n === root.total ? 0 : 2) + " %" : "0 %";
const time = n => { const ms = n * data.interval_ns / 1e6; return ms < 1000 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(2) + " s"; };

function colour(node) {
  if (!node.frame) return "hsl(0 0% 82%)";
  let hash = 0;
  for (const c of node.label) hash = (hash * 31 + c.codePointAt(0)) | 0;
  return `hsl(${HUES[node.frame[4]] + (hash >>> 4) % 22} ${68 + (hash >>> 9) % 20}% ${66 + (hash >>> 14) % 10}%)`;
}
function describe(node) {
  $("detail").textContent = node.label + (node.frame ? "\u2003" + KINDS[node.frame[4]] + (node.frame[1] ? " in " + node.frame[1] : "") +
    (node.frame[2] && byLine ? ", " + node.frame[2] + ":" + node.frame[3] : "") : "") +
    "\u2003total " + percent(node.total) + " (" + time(node.total) + "), self " + percent(node.self);
}
function draw() {
  const graph = $("graph"), width = graph.clientWidth || 1000;
  graph.textContent = "";
  const boxes = [];
  for (let at = zoomed.parent; at; at = at.parent) boxes.push([at, 0, width, true]);
  const todo = [[zoomed, 0, width]];
  let deepest = 0, matched = 0;
  while (todo.length) {
    const [node, x, w] = todo.pop();
    boxes.push([node, x, w, false]);
    deepest = Math.max(deepest, node.depth);
    let left = x;
    for (const child of node.sorted) {
      const share = w * child.total / node.total;
      if (share >= 0.5) todo.push([child, left, share]);
      left += share;
    }
  }
  for (const [node, x, w, above] of boxes) {
    const box = document.createElement("button");
    box.className = "f" + (above ? " above" : "");
    box.style.left = x + "px";
    box.style.top = node.depth * ROW + "px";
    box.style.width = Math.max(w - 1, 0.5) + "px";
    if (w < 12) box.style.padding = "0";
    box.style.background = colour(node);
    if (w > 30) box.textContent = node.label;
    box.title = node.label + "\n" + percent(node.total);
    if (pattern) box.classList.add(pattern.test(node.label) ? "hit" : "miss");
    box.onmouseenter = box.onfocus = () => describe(node);
    box.onclick = () => { zoomed = node; draw(); describe(node); };
    graph.append(box);
  }
  graph.style.height = (deepest + 1) * ROW + "px";
  $("reset").disabled = zoomed === root;
}
function search() {
  const text = $("search").value;
  pattern = null;
  $("found").textContent = "";
  if (text) {
    try { pattern = new RegExp(text, "i"); }
    catch (e) { pattern = new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"); }
    // Of nested matches the outermost counts.
    let sum = 0, count = 0;
    const todo = [root];
    while (todo.length) {
      const node = todo.pop();
      if (node.frame && pattern.test(node.label)) { sum += node.total; count++; }
      else todo.push(...node.sorted);
    }
    $("found").textContent = count ? "matched: " + percent(sum) + " of the time" : "no match";
  }
  draw();
}
function table() {
  const spots = new Map();
  for (const node of root.all) {
    if (!node.frame || (byLine && !node.frame[3])) continue;
    let spot = spots.get(node.label);
    if (!spot) spots.set(node.label, spot = { self: 0, total: 0 });
    spot.self += node.self;
    let up = node.parent;
    while (up && up.label !== node.label) up = up.parent;
    if (!up) spot.total += node.total;
  }
  const body = $("hot");
  body.textContent = "";
  $("what").textContent = byLine ? "line" : "function";
  for (const [name, spot] of [...spots].sort((a, b) => b[1].self - a[1].self).slice(0, 25)) {
    const row = body.insertRow();
    for (const text of [time(spot.self), percent(spot.self), percent(spot.total)]) row.insertCell().textContent = text;
    const button = document.createElement("button");
    button.textContent = name;
    button.onclick = () => { $("search").value = "^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$"; search(); };
    row.insertCell().append(button);
  }
}
function all() { build(); search(); table(); }
$("title").textContent = document.title = data.title;
$("facts").textContent = data.samples + " samples, one every " + data.interval_ns / 1e6 + " ms, in " + (data.ms / 1000).toFixed(2) + " s" +
  (data.lost ? "; " + data.lost + " lost" : "");
if (!data.frames.some(frame => frame[3])) $("by").disabled = true;
$("search").oninput = search;
$("by").onchange = () => { byLine = $("by").value === "1"; all(); };
$("reset").onclick = () => { zoomed = root; draw(); };
addEventListener("keydown", e => { if (e.key === "Escape") { zoomed = root; draw(); } });
addEventListener("resize", draw);
all();
</script></body></html>
)page";

}  // namespace hoist::profiling
