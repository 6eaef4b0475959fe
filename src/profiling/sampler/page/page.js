// The flame graph's page. One tree of merged frames is drawn at a time: calls by function or by
// line, or callers (the tree upside down). What is seen (view, thread, zoom, search) is in the
// address behind '#', so that Back and bookmarks work. Names of guests become text only.
"use strict";
(() => {
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const KINDS = ["guest", "inlined", "host", "trampoline", "frames left out"];
const HUES = [18, 48, 204, 284, 0];
const ROW = 19;
const MIN_WIDTH = 2;        // of a frame that is drawn, in pixels
const MOST_BOXES = 15000;
const FIRST_ROWS = 6;
const MORE_ROWS = 50;

const frames = data.frames.map(([name, short, module, file, line, kind]) => ({
  name: data.strings[name], short: data.strings[short], module: data.strings[module],
  file: data.strings[file], line, kind }));
const nodeCount = data.nodes.length / 3;
const parentOf = i => data.nodes[3 * i];
const frameOf = i => data.nodes[3 * i + 1];

const state = { view: "calls", thread: "", fold: true, focus: "", search: "", zoom: null, list: false, rows: FIRST_ROWS, sort: "self" };
let weights;                 // of the raw nodes, of the thread that is looked at
let whole = 0;
let pattern = null;
let hitAbove = null;         // of each raw node, whether it or a caller is found
let shown = null;            // the tree that is drawn
let counted = null;          // the tree of calls that the table is of
let current = null;          // the node that has the keyboard
let boxes = new Map();       // node or rest of a node to its box
let rows = [];               // boxes of each row, from left to right

// ---- Labels: what frames of one kind are called in a view.

// The last component of a name: what is in brackets is no path.
function lastPart(short, kind) {
  if (kind === 2) return short.slice(short.indexOf(".") + 1);
  let depth = 0;
  for (let i = short.length - 1; i > 0; i--) {
    const c = short[i];
    if (c === ">" && short[i - 1] !== "-" || c === ")" || c === "}") depth++;
    else if ((c === "<" || c === "(" || c === "{") && depth) depth--;
    else if (c === ":" && short[i - 1] === ":" && !depth && !"<{".includes(short[i + 1])) return short.slice(i + 1);
  }
  return short;
}
function makeLabels(byLine) {
  const byText = new Map(), list = [], of = [];
  for (const frame of frames) {
    const mark = frame.kind === 2 ? " [host]" : frame.kind === 1 ? " [inlined]" : "";
    const place = byLine && frame.line ? " " + frame.file.split("/").pop() + ":" + frame.line : "";
    const text = frame.name + mark + place;
    let label = byText.get(text);
    if (label === undefined) {
      byText.set(text, label = list.length);
      let hash = 0;
      for (const c of text) hash = (hash * 31 + c.codePointAt(0)) | 0;
      const host = frame.kind === 2 ? mark : "";
      list.push({ text, name: frame.name + host + place, short: frame.short + mark + place,
        last: lastPart(frame.short, frame.kind) + place, frame, hash, hit: false, spot: -1 });
    }
    of.push(label);
  }
  return { list, of, byText };
}
const labelSets = new Map();
function labelsFor(byLine) {
  if (!labelSets.has(byLine)) labelSets.set(byLine, makeLabels(byLine));
  return labelSets.get(byLine);
}

// ---- Trees.

const NO_NODES = [];
function newNode(label, parent) {
  return { label, parent, depth: parent ? parent.depth + 1 : 0, self: 0, total: 0, run: 1, children: null, sorted: NO_NODES };
}
function child(up, label) {
  if (!up.children) up.children = new Map();
  let node = up.children.get(label);
  if (!node) up.children.set(label, node = newNode(label, up));
  return node;
}
function inOrder(children, list) {
  return [...children.values()].filter(next => next.total > 0)
    .sort((a, b) => b.total - a.total || (list[a.label].text < list[b.label].text ? -1 : 1));
}
// Totals and the order of children, without recursion: stacks can be deep.
function finish(tree) {
  const order = [tree.root], list = tree.labels.list;
  for (let i = 0; i < order.length; i++) if (order[i].children) for (const next of order[i].children.values()) order.push(next);
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i];
    node.total += node.self;
    if (node.parent) node.parent.total += node.total;
    if (!node.children) continue;
    node.sorted = inOrder(node.children, list);
  }
  return tree;
}
function buildCalls(byLine, fold) {
  const labels = labelsFor(byLine), root = newNode(-1, null), at = new Array(nodeCount), runs = new Uint32Array(nodeCount);
  let longest = 1;
  for (let i = 0; i < nodeCount; i++) {
    const parent = parentOf(i), up = parent < 0 ? root : at[parent], label = labels.of[frameOf(i)];
    const again = up.label === label;
    runs[i] = again ? runs[parent] + 1 : 1;
    if (again) longest = Math.max(longest, runs[i]);
    const node = at[i] = again && fold ? up : child(up, label);
    if (fold) node.run = Math.max(node.run, runs[i]);
    node.self += weights[i];
  }
  return finish({ root, labels, at, longest });
}
// From each function up to who called it; of one function if there is a focus. Nodes get their
// children when they are looked at: all of them may be far more than there are stacks.
function buildCallers(focus, fold) {
  const labels = labelsFor(false), root = newNode(-1, null), inside = new Uint8Array(nodeCount);
  const isFocus = i => labels.list[labels.of[frameOf(i)]].name === focus;
  const tree = { root, labels, fold, at: null, longest: 1, starts: [] };
  const sums = focus ? totals() : null, first = new Map();
  for (let i = 0; i < nodeCount; i++) {
    const parent = parentOf(i);
    if (focus) inside[i] = parent >= 0 && (inside[parent] || isFocus(parent)) ? 1 : 0;
    // Of a recursion, the outermost call counts.
    const weight = !focus ? weights[i] : isFocus(i) && !inside[i] ? sums[i] : 0;
    if (!weight) continue;
    tree.starts.push([i, weight]);
    root.total += weight;
    addCaller(tree, root, first, i, weight);
  }
  root.sorted = inOrder(first, labels.list);
  return tree;
}
function addCaller(tree, parent, siblings, raw, weight) {
  const label = tree.labels.of[frameOf(raw)];
  let node = siblings.get(label), run = 1;
  if (!node) {
    siblings.set(label, node = newNode(label, parent));
    node.entries = [];
  }
  while (tree.fold && parentOf(raw) >= 0 && tree.labels.of[frameOf(parentOf(raw))] === label) { raw = parentOf(raw); run++; }
  node.run = Math.max(node.run, run);
  node.total += weight;
  node.entries.push([raw, weight]);
}
function childrenOf(node) {
  if (!node.entries) return node.sorted;
  const callers = new Map();
  for (const [raw, weight] of node.entries) {
    if (parentOf(raw) < 0) node.self += weight;
    else addCaller(shown, node, callers, parentOf(raw), weight);
  }
  node.entries = null;
  return node.sorted = inOrder(callers, shown.labels.list);
}
// Of the raw nodes, with what they call.
function totals() {
  const out = Float64Array.from(weights);
  for (let i = nodeCount - 1; i >= 0; i--) if (parentOf(i) >= 0) out[parentOf(i)] += out[i];
  return out;
}
// A node as the ranks of its ancestors and its own: the same for the same profile.
function pathOf(node) {
  const path = [];
  for (; node.parent; node = node.parent) path.push(node.parent.sorted.indexOf(node));
  return path.reverse().join(".");
}
function nodeAt(path) {
  let node = shown.root;
  for (const rank of path ? path.split(".") : []) {
    if (!childrenOf(node)[rank]) break;
    node = node.sorted[rank];
  }
  return node;
}
// The raw node that stands for a merged one: where most of its time is.
function rawOf(node) {
  let best = -1;
  if (!shown.at || !node.parent) return best;
  const sums = totals();
  for (let i = 0; i < nodeCount; i++) if (shown.at[i] === node && (best < 0 || sums[i] > sums[best])) best = i;
  return best;
}

// ---- Texts.

const many = n => n.toLocaleString("en-US");
const labelOf = node => node.label < 0 ? null : shown.labels.list[node.label];
const percent = n => {
  if (!whole) return "0 %";
  const digits = n === whole || n === 0 ? 0 : whole < 1000 ? 1 : 2, text = (100 * n / whole).toFixed(digits);
  return (n && !Number(text) ? "<0.01" : text) + " %";
};
const time = n => {
  const ms = n * data.interval_ns / 1e6;
  return ms < 10 && ms % 1 ? ms.toFixed(1) + " ms" : ms < 1000 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(2) + " s";
};
const runText = node => node.run > 1 ? " \u00d7" + node.run : "";
function fullText(node) {
  const label = labelOf(node);
  if (label) return label.text + runText(node);
  return state.view === "callers" && state.focus ? "callers of " + state.focus : state.thread === "" ? "all" : data.threads[state.thread][0];
}
// What of a name fits into so many characters.
function textFor(node, room) {
  const label = labelOf(node);
  if (!label) return fullText(node);
  const run = runText(node);
  for (const text of [label.text, label.short, label.last]) if (text.length + run.length <= room) return text + run;
  return room < 3 ? "" : label.last + run;
}
let charWidth = 0;
function measure() {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 6.7;
  context.font = '11px ui-monospace, "DejaVu Sans Mono", monospace';
  return context.measureText("mmmmmmmmmm").width / 10 || 6.7;
}
function describe(node) {
  const label = labelOf(node), detail = $("detail");
  detail.textContent = "";
  const name = document.createElement("b");
  name.textContent = fullText(node);
  detail.append(name);
  const add = text => {
    const span = document.createElement("span");
    span.textContent = text;
    detail.append(" ", span);
  };
  add("total " + percent(node.total) + " (" + time(node.total) + ")");
  if (state.view !== "callers") add("self " + percent(node.self) + " (" + time(node.self) + ")");
  if (!label) return;
  const { kind, module, file, line } = label.frame;
  add(KINDS[kind] + (module ? " in " + module : ""));
  if (file) add(file + (state.view === "lines" && line ? ":" + line : ""));
}

// ---- Drawing.

function frameBox(node, x, width, above) {
  const label = labelOf(node), box = document.createElement("button");
  box.type = "button";
  box.tabIndex = -1;
  box.className = "f" + (label ? "" : " root") + (above ? " above" : "") + (width < 12 ? " thin" : "");
  box.style.left = x + "px";
  box.style.top = node.depth * ROW + "px";
  box.style.width = Math.max(width - 1, 1) + "px";
  if (label) {
    const { hash, frame } = label;
    box.style.setProperty("--h", HUES[frame.kind] + ((hash >>> 4) % 16));
    box.style.setProperty("--s", frame.kind === 4 ? "0%" : 66 + (hash >>> 9) % 22 + "%");
    box.style.setProperty("--l", (hash >>> 14) % 9 - 4 + "%");
    if (pattern) box.classList.add(label.hit ? "hit" : "miss");
  }
  box.textContent = textFor(node, Math.floor((width - 9) / charWidth));
  box.title = fullText(node) + "\n" + percent(node.total);
  box.setAttribute("aria-label", fullText(node) + ", " + percent(node.total));
  box.node = node;
  return box;
}
// Children that are too narrow for boxes of their own.
function restBox(parent, rest, x, width) {
  const box = document.createElement("button");
  const text = "\u2026 " + many(rest.count) + " smaller, " + percent(rest.total);
  box.type = "button";
  box.tabIndex = -1;
  box.className = "f rest" + (width < 12 ? " thin" : "");
  box.style.left = x + "px";
  box.style.top = (parent.depth + 1) * ROW + "px";
  box.style.width = Math.max(width - 1, 1) + "px";
  if (width > 24) box.textContent = text;
  box.title = text + "\nclick for a list";
  box.setAttribute("aria-label", text + ", shows a list");
  box.node = rest;
  if (pattern && rest.hit) box.classList.add("hit");
  return box;
}
function anyHit(nodes) {
  const todo = [...nodes];
  for (let i = 0; i < todo.length; i++) {
    if (labelOf(todo[i]).hit || todo[i].entries && todo[i].entries.some(([raw]) => hitAbove[raw])) return true;
    for (const next of todo[i].sorted) todo.push(next);
  }
  return false;
}
function draw() {
  const graph = $("graph"), width = graph.clientWidth || 1000, had = graph.contains(document.activeElement);
  charWidth = charWidth || measure();
  graph.textContent = "";
  boxes = new Map();
  rows = [];
  const fragment = document.createDocumentFragment();
  const put = (box, row) => {
    fragment.append(box);
    boxes.set(box.node, box);
    (rows[row] = rows[row] || []).push(box);
  };
  const above = [], rests = [];
  for (let at = state.zoom.parent; at; at = at.parent) above.unshift(at);
  for (const node of above) put(frameBox(node, 0, width, true), node.depth);
  const todo = [[state.zoom, 0, width]];
  for (let i = 0; i < todo.length && boxes.size < MOST_BOXES; i++) {
    const [node, x, w] = todo[i];
    put(frameBox(node, x, w, false), node.depth);
    const children = childrenOf(node);
    let left = x, drawn = 0;
    for (; drawn < children.length; drawn++) {
      const share = w * children[drawn].total / node.total;
      if (share < MIN_WIDTH) break;
      todo.push([children[drawn], left, share]);
      left += share;
    }
    const small = children.slice(drawn);
    if (!small.length) continue;
    const rest = { of: node, nodes: small, count: small.length, total: small.reduce((sum, n) => sum + n.total, 0) };
    const share = w * rest.total / node.total;
    if (share < 1) continue;
    if (pattern) rest.hit = anyHit(small);
    rests.push([rest, left, share]);
  }
  for (const [rest, x, w] of rests) put(restBox(rest.of, rest, x, w), rest.of.depth + 1);
  for (const row of rows) if (row) row.sort((a, b) => parseFloat(a.style.left) - parseFloat(b.style.left));
  graph.append(fragment);
  graph.style.height = rows.length * ROW + "px";
  $("reset").disabled = state.zoom === shown.root && !state.focus;
  if (!boxes.has(current)) current = state.zoom;
  const box = boxes.get(current);
  if (box) {
    box.tabIndex = 0;
    if (had) box.focus({ preventScroll: true });
  }
}

// ---- Search.

function makePattern(text) {
  if (!text) return null;
  try { return new RegExp(text, "i"); }
  catch (e) { return new RegExp(escape(text), "i"); }
}
const escape = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
function search() {
  pattern = makePattern(state.search);
  $("legend-hit").hidden = !pattern;
  $("found").textContent = "";
  if (!pattern) return;
  for (const label of shown.labels.list) label.hit = pattern.test(label.name) || pattern.test(label.text);
  // A stack counts once, however often it matches.
  const { list, of } = shown.labels;
  hitAbove = new Uint8Array(nodeCount);
  let sum = 0;
  for (let i = 0; i < nodeCount; i++) {
    hitAbove[i] = list[of[frameOf(i)]].hit || parentOf(i) >= 0 && hitAbove[parentOf(i)] ? 1 : 0;
    if (hitAbove[i] && !shown.starts) sum += weights[i];
  }
  for (const [raw, weight] of shown.starts || []) if (hitAbove[raw]) sum += weight;
  $("found").textContent = sum ? "matched: " + percent(sum) + " of the time" : "no match";
}

// ---- The table.

function spots() {
  const list = counted.labels.list, byName = new Map(), out = [];
  for (const label of list) {
    if (!byName.has(label.name)) {
      byName.set(label.name, out.length);
      out.push({ label, self: 0, total: 0, active: 0 });
    }
    label.spot = byName.get(label.name);
  }
  const todo = [...counted.root.sorted];
  while (todo.length) {
    const node = todo.pop();
    if (node.left) { out[list[node.left.label].spot].active--; continue; }
    const spot = out[list[node.label].spot];
    spot.self += node.self;
    if (!spot.active++) spot.total += node.total;
    todo.push({ left: node });
    for (const next of node.sorted) todo.push(next);
  }
  return out.filter(spot => spot.total && (state.view !== "lines" || spot.label.frame.line));
}
function cell(row, className, text, share) {
  const td = row.insertCell();
  td.className = className;
  td.textContent = text;
  if (share === undefined) return td;
  const bar = document.createElement("div");
  bar.className = "bar";
  bar.style.width = Math.min(100, 100 * share) + "%";
  td.append(bar);
  return td;
}
function button(className, text, title, action) {
  const out = document.createElement("button");
  out.type = "button";
  out.className = className;
  out.textContent = text;
  out.title = title;
  out.onclick = action;
  return out;
}
function addRow(label, self, total, action) {
  const row = $("rows").insertRow();
  cell(row, "n", percent(self), self / whole);
  cell(row, "n total", percent(total), total / whole);
  cell(row, "n time", time(self));
  const td = row.insertCell(), name = document.createElement("div");
  name.className = "name";
  const place = state.view === "lines" && label.frame.line ? label.frame.file.split("/").pop() + ":" + label.frame.line + "  " : "";
  const short = place ? place + label.frame.short : label.short.replace(/ \[inlined\]$/, "");
  name.append(button("fn", short, label.name + (place ? "\n" + label.frame.file : ""), action));
  const called = label.frame.name + (label.frame.kind === 2 ? " [host]" : "");
  name.append(button("up", "callers", "Who calls it", () => go({ view: "callers", focus: called, zoom: null })));
  td.append(name);
}
function table() {
  const body = $("rows");
  body.textContent = "";
  $("by-self").setAttribute("aria-pressed", state.sort === "self");
  $("by-total").setAttribute("aria-pressed", state.sort === "total");
  $("what").textContent = state.view === "lines" ? "line" : "function";
  const rest = state.list && [...boxes.keys()].find(key => key.of === state.zoom);
  let count = 0;
  if (rest) {
    count = rest.count;
    $("hot-title").textContent = "Too narrow to draw, in " + (labelOf(state.zoom) || { short: "all" }).short + ": " + many(count);
    const nodes = [...rest.nodes].sort((a, b) => b[state.sort] - a[state.sort]);
    for (const node of nodes.slice(0, state.rows)) addRow(labelOf(node), node.self, node.total, () => go({ zoom: node, list: false }));
  } else {
    const all = spots().sort((a, b) => b[state.sort] - a[state.sort] || b.total - a.total || (a.label.name < b.label.name ? -1 : 1));
    count = all.length;
    $("hot-title").textContent = state.view === "lines" ? "Hottest lines" : "Hottest functions";
    for (const { label, self, total } of all.slice(0, state.rows)) {
      addRow(label, self, total, () => go({ search: "^" + escape(label.name) + "$" }));
    }
  }
  $("more").hidden = count <= state.rows;
  $("more").textContent = many(count - state.rows) + " more";
}

// ---- What is seen, and the address.

function hash() {
  const out = new URLSearchParams();
  if (state.view !== "calls") out.set("view", state.view);
  if (state.thread !== "") out.set("thread", state.thread);
  if (!state.fold) out.set("fold", "0");
  if (state.focus) out.set("of", state.focus);
  if (state.zoom !== shown.root) out.set("zoom", pathOf(state.zoom));
  if (state.list) out.set("list", "1");
  if (state.search) out.set("search", state.search);
  return "#" + out;
}
function remember(push) {
  try {
    if (push && hash() !== location.hash && (location.hash || hash() !== "#")) history.pushState(null, "", hash());
    else history.replaceState(null, "", hash());
  } catch (e) { /* where a page has no address of its own */ }
}
function chooseWeights() {
  weights = new Float64Array(nodeCount);
  if (state.thread === "") {
    for (let i = 0; i < nodeCount; i++) weights[i] = data.nodes[3 * i + 2];
  } else {
    const thread = data.threads[state.thread];
    for (let i = 1; i < thread.length; i += 2) weights[thread[i]] += thread[i + 1];
  }
  whole = weights.reduce((sum, w) => sum + w, 0);
}
function build() {
  chooseWeights();
  const calls = buildCalls(state.view === "lines", state.fold);
  if (calls.longest > 1) $("folds").hidden = false;
  counted = calls;
  shown = state.view === "callers" ? buildCallers(state.focus, state.fold) : calls;
}
function show() {
  $("search").value = state.search;
  $("view").value = state.view;
  $("thread").value = state.thread;
  $("fold").checked = state.fold;
  search();
  draw();
  table();
  describe(boxes.has(current) && !current.of ? current : state.zoom);
}
// Changes what is seen; the place that is zoomed in on is kept as far as the new view has it.
function go(change, push = true) {
  const before = { ...state };
  Object.assign(state, change);
  if (!("list" in change)) state.list = false;
  if (["view", "thread", "fold", "focus"].some(key => before[key] !== state[key])) {
    const raw = before.zoom ? rawOf(before.zoom) : -1;
    if (before.view !== "callers" && state.view === "callers" && !("focus" in change) && before.zoom && before.zoom.parent) {
      const { name, kind } = shown.labels.list[before.zoom.label].frame;
      state.focus = name + (kind === 2 ? " [host]" : "");
    }
    if (state.view !== "callers") state.focus = "";
    build();
    state.zoom = shown.at && raw >= 0 && shown.at[raw].total ? shown.at[raw] : shown.root;
    state.rows = FIRST_ROWS;
  }
  state.zoom = state.zoom || shown.root;
  if ("zoom" in change && change.zoom) current = change.zoom;
  show();
  remember(push);
}
function readAddress() {
  const from = new URLSearchParams(location.hash.slice(1)), view = from.get("view");
  Object.assign(state, { view: ["lines", "callers"].includes(view) ? view : "calls", fold: from.get("fold") !== "0",
    thread: data.threads[from.get("thread")] ? from.get("thread") : "", search: from.get("search") || "", list: from.get("list") === "1" });
  state.focus = state.view === "callers" ? from.get("of") || "" : "";
  build();
  state.zoom = nodeAt(from.get("zoom"));
  show();
}

// ---- Keys and clicks.

function clickBox(box) {
  if (!box.node.of) return go({ zoom: box.node });
  go({ zoom: box.node.of, list: true, rows: MORE_ROWS });
  $("hot").open = true;
  $("hot").scrollIntoView({ block: "nearest" });
}
function move(box, key) {
  const node = box.node, row = rows[(node.of ? node.of.depth : node.depth - 1) + 1] || [], at = row.indexOf(box);
  if (key === "ArrowLeft") return row[at - 1];
  if (key === "ArrowRight") return row[at + 1];
  if (key === "Home") return boxes.get(state.zoom);
  if (key === "ArrowUp") return boxes.get(node.of || node.parent);
  if (node.of) return undefined;
  for (const next of node.sorted) if (boxes.has(next)) return boxes.get(next);
  return [...boxes.values()].find(each => each.node.of === node);
}
function start() {
  $("title").textContent = $("title").title = document.title = data.title;
  const facts = [many(data.samples) + (data.samples === 1 ? " sample" : " samples"), "one every " + data.interval_ns / 1e6 + " ms",
    data.clock === "cpu" ? "CPU clock" : "wall clock", (data.ms / 1000).toFixed(2) + " s"];
  if (data.threads.length > 1) facts.push(data.threads.length + " threads");
  if (data.lost) facts.push(data.lost + " lost");
  if (data.start) facts.push(new Date(data.start).toLocaleString());
  $("facts").textContent = facts.join(" \u00b7 ");
  $("detail").textContent = "Point at a frame to see what it is. Click it to zoom in.";
  data.threads.forEach((thread, i) => $("thread").add(new Option(thread[0], i)));
  $("thread").hidden = data.threads.length < 2;
  $("view").options[1].disabled = !frames.some(frame => frame.line);
  if (!data.samples) {
    $("none").hidden = false;
    for (const id of ["bar", "legend", "hot", "graph", "detail"]) $(id).hidden = true;
    return;
  }
  const graph = $("graph");
  graph.addEventListener("click", e => { const box = e.target.closest(".f"); if (box) clickBox(box); });
  for (const name of ["mouseover", "focusin"]) {
    graph.addEventListener(name, e => {
      const box = e.target.closest(".f");
      if (!box) return;
      if (!box.node.of) describe(box.node);
      else $("detail").textContent = box.title.replace("\n", ": ");
    });
  }
  graph.addEventListener("focusin", e => {
    const old = boxes.get(current);
    if (old) old.tabIndex = -1;
    e.target.tabIndex = 0;
    current = e.target.node;
  });
  graph.addEventListener("keydown", e => {
    if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home"].includes(e.key) || !e.target.node) return;
    e.preventDefault();
    const next = move(e.target, e.key);
    if (next) next.focus();
  });
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "/" && e.target !== $("search")) {
      e.preventDefault();
      $("search").focus();
    } else if (e.key === "Escape") {
      e.preventDefault();
      if (state.search) go({ search: "" }, false);
      else if (state.list) go({ list: false });
      else if (state.zoom !== shown.root) go({ zoom: shown.root });
      else if (state.focus) go({ focus: "" });
    }
  });
  $("search").oninput = () => go({ search: $("search").value, list: state.list }, false);
  $("view").onchange = () => go({ view: $("view").value });
  $("thread").onchange = () => go({ thread: $("thread").value });
  $("fold").onchange = () => go({ fold: $("fold").checked });
  $("reset").onclick = () => go({ zoom: shown.root, focus: "" });
  $("more").onclick = () => { state.rows += MORE_ROWS; table(); };
  for (const key of ["self", "total"]) $("by-" + key).onclick = () => { state.sort = key; table(); };
  addEventListener("popstate", readAddress);
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => { draw(); if (state.list) table(); });
  });
  readAddress();
}
start();
})();
