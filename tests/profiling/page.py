# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A flame graph in a real browser, through chromedriver's own protocol (W3C WebDriver): looks at it, searches, zooms,
with mouse and keyboard, light, dark and narrow; profiles of odd shapes."""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1200,900"]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    def __init__(self):
        self.data = tempfile.mkdtemp()
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.base = None
        for line in self.driver.stdout:
            if b"started successfully on port" in line:
                self.base = "http://127.0.0.1:%d" % int(line.split(b"port")[-1].strip(b" .\n"))
                break
        options = {"args": FLAGS + ["--user-data-dir=" + self.data]}
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options,
                                                                               "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def do(self, path, body):
        return self.call("POST", self.session + path, body)

    def run(self, script, *args):
        return self.do("/execute/sync", {"script": script, "args": list(args)})

    def find(self, selector):
        return self.do("/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.do("/element/%s/click" % self.find(selector), {})

    def type(self, selector, text):
        self.do("/element/%s/value" % self.find(selector), {"text": text})

    def keys(self, text):
        """To whatever has the focus."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.do("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def emulate(self, **features):
        values = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.do("/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {"features": values}})

    def resize(self, width, height):
        self.do("/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride",
                                      "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def open(self, path, address=""):
        self.do("/url", {"url": "about:blank"})
        self.do("/url", {"url": "file://" + os.path.abspath(path) + address})

    def shoot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("GET", self.session + "/screenshot")))

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.data, ignore_errors=True)


ENTER, ESCAPE, LEFT, UP, RIGHT, DOWN = "\ue007", "\ue00c", "\ue012", "\ue013", "\ue014", "\ue015"
BOXES = "return [...document.querySelectorAll('.f')].map(f => f.getAttribute('aria-label'))"
WIDTH = "return [...document.querySelectorAll('.f')].find(f => f.textContent == arguments[0]).offsetWidth"
PICK = "[...document.querySelectorAll('.f')].find(f => f.textContent == arguments[0]).click()"
FOCUS = "return document.activeElement.getAttribute('aria-label') || ''"
SET = "const e = document.querySelector(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event(arguments[2]))"
# The least contrast of text among the boxes that are wide enough for text.
CONTRAST = """
  const light = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  return Math.min(...[...document.querySelectorAll(arguments[0])].filter(f => f.textContent).map(f => {
    const s = getComputedStyle(f), a = light(s.color), b = light(s.backgroundColor);
    return (Math.max(a, b) + .05) / (Math.min(a, b) + .05) * (s.opacity < 1 ? 0 : 1); }));"""


def quiet(browser, expect):
    log = browser.do("/se/log", {"type": "browser"})
    expect(not [e for e in log if e["level"] == "SEVERE"], "no errors in the page: %r" % log)


def check(path, name, folder, expect):
    """A profile of the guest hot.c: `name` is its hot function."""
    browser = Browser()
    try:
        browser.open(path)
        expect(browser.run("return document.querySelectorAll('.f').length") > 2, "frames are there")
        expect(browser.run("return performance.getEntriesByType('resource').length") == 0, "nothing is loaded")
        facts = browser.text("#facts")
        expect("one every 1 ms" in facts and "wall clock" in facts and " samples" in facts, "facts: " + facts)
        title = browser.text("#title")
        expect(title.endswith(".wasm 300 100"), "the title is the command: " + title)
        expect(name in browser.text("#rows tr"), "the table begins with what is hot: " + browser.text("#rows"))
        browser.shoot(folder + "/page.png")
        before = browser.run(WIDTH, name)
        browser.type("#search", name)
        expect("matched: " in browser.text("#found"), "search finds")
        expect(browser.run("return document.querySelectorAll('.f.hit').length") >= 1, "search marks")
        expect("search=" in browser.run("return location.hash"), "the address has the search")
        for scheme in ("light", "dark"):
            browser.emulate(prefers_color_scheme=scheme)
            for kind in (".f.hit", ".f.miss", ".f"):
                contrast = browser.run(CONTRAST, kind)
                expect(contrast is None or contrast >= 4.5, "contrast of %s, %s: %r" % (kind, scheme, contrast))
            browser.shoot(folder + "/search-%s.png" % scheme)
        browser.emulate(prefers_color_scheme="light")
        browser.run(PICK, name)
        after = browser.run(WIDTH, name)
        whole = browser.run("return document.querySelector('#graph').clientWidth")
        expect(after >= whole - 2, "what is zoomed fills the page: %d to %d of %d" % (before, after, whole))
        expect(browser.run(CONTRAST, ".f.above") >= 4.5, "contrast above")
        browser.shoot(folder + "/zoom.png")
        browser.run("document.activeElement.blur()")
        browser.keys(ESCAPE)
        expect(browser.run("return document.querySelector('#search').value") == "", "Escape clears the search first")
        expect(browser.run(WIDTH, name) == after, "and keeps the zoom")
        browser.keys(ESCAPE)
        expect(abs(browser.run(WIDTH, name) - before) <= 1, "then the zoom")
        browser.do("/back", {})
        expect(browser.run(WIDTH, name) == after, "Back: " + browser.run("return location.hash"))
        address = browser.run("return location.hash")
        browser.open(path, address)
        expect(browser.run(WIDTH, name) == after, "the address keeps the zoom")
        browser.run(SET, "#view", "lines", "change")
        expect("hot.c:" in browser.text("#graph") and name in browser.text("#detail"), "by line, zoomed: " + browser.text("#detail"))
        expect(not browser.run("return document.querySelector('#reset').disabled"), "by line keeps the zoom")
        browser.shoot(folder + "/lines.png")
        browser.run(SET, "#view", "callers", "change")
        expect("callers of " + name in browser.text("#graph"), "callers of what is zoomed: %r" % browser.run(BOXES))
        browser.click("#reset")
        boxes = browser.run(BOXES)
        expect(boxes[1].startswith(name) and any(box.startswith("main") for box in boxes[2:]), "bottom-up: %r" % boxes)
        browser.shoot(folder + "/callers.png")
        browser.run(SET, "#view", "calls", "change")
        browser.click("#rows tr:first-child .fn")
        expect("matched: " in browser.text("#found"), "a row of the table searches")
        browser.click("#by-total")
        expect(browser.text("#rows tr:first-child td:nth-child(2)").startswith("100 %"), "sorted by total")
        keyboard(browser, path, expect)
        for width in (280, 420):
            browser.resize(width, 600)
            expect(browser.run("return document.documentElement.scrollWidth") <= width, "fits %d pixels" % width)
        browser.shoot(folder + "/narrow.png")
        browser.emulate(forced_colors="active")
        browser.shoot(folder + "/forced.png")
        quiet(browser, expect)
    finally:
        browser.close()


def keyboard(browser, path, expect):
    browser.open(path)
    browser.keys("/")
    expect(browser.run("return document.activeElement.id") == "search", "/ goes to the search")
    browser.run("document.querySelector('.f[tabindex=\"0\"]').focus()")
    expect(browser.run("return document.querySelectorAll('.f[tabindex=\"0\"]').length") == 1, "one stop for Tab")
    first = browser.run(FOCUS)
    browser.keys(DOWN + DOWN)
    second = browser.run(FOCUS)
    expect(first.startswith("all") and second != first, "down: %s, %s" % (first, second))
    expect(browser.text("#detail").startswith(second.rsplit(",", 1)[0]), "the detail follows: " + browser.text("#detail"))
    browser.keys(ENTER)
    expect(browser.run(FOCUS) == second, "Enter zooms and keeps the focus: " + browser.run(FOCUS))
    expect("zoom=" in browser.run("return location.hash"), "Enter zooms")
    browser.keys(UP)
    expect(browser.run(FOCUS) != second, "up")
    expect(browser.run("return document.querySelectorAll('.f[tabindex=\"0\"]').length") == 1, "still one stop for Tab")


# ---- Profiles of other shapes, in the page of a real one.

def with_data(path, to, data):
    with open(path) as file:
        text = file.read()
    head, rest = text.split('id="data">', 1)
    tail = rest.split("</script>", 1)[1]
    with open(to, "w") as file:
        file.write(head + 'id="data">' + json.dumps(data).replace("<", "\\u003c") + "</script>" + tail)


def data(frames, nodes, threads=()):
    """frames: (name, kind); nodes: (parent, frame, self)."""
    strings = ["", "m", "a.c"] + [name for name, _ in frames]
    return {"title": "<b>shape</b>", "clock": "wall", "interval_ns": 1000000, "lost": 0, "ms": 1000, "start": 0,
            "samples": sum(node[2] for node in nodes), "strings": strings,
            "frames": [[i + 3, i + 3, 1, 2, i + 1, kind] for i, (_, kind) in enumerate(frames)],
            "nodes": [value for node in nodes for value in node], "threads": list(threads)}


def check_shapes(path, folder, expect):
    browser = Browser()
    shape = folder + "/shape.html"
    try:
        with_data(path, shape, data([("main", 0)] + [("leaf%d" % i, 0) for i in range(20000)],
                                    [(-1, 0, 20)] + [(0, i + 1, 1) for i in range(20000)]))
        browser.open(shape)
        expect(browser.text("#title") == "<b>shape</b>", "a title is text")
        rest = browser.text(".f.rest")
        expect("20,000 smaller" in rest and "99.90 %" in rest, "a box for what is too narrow: " + rest)
        browser.shoot(folder + "/wide.png")
        browser.click(".f.rest")
        expect("20,000" in browser.text("#hot-title"), "a list of it: " + browser.text("#hot-title"))
        browser.click("#rows tr:nth-child(3) .fn")
        expect("leaf" in browser.text("#detail") and "zoom=" in browser.run("return location.hash"), "zoomed by the list")
        browser.click("#reset")
        browser.type("#search", "leaf777$")
        expect(browser.run("return document.querySelectorAll('.f.rest.hit').length") == 1, "found among them")

        nodes = [(-1, 0, 5)] + [(i, 1, 1) for i in range(250)] + [(250, 2, 50), (0, 3, 100)]
        threads = [["main"] + [value for i in range(252) for value in (i, nodes[i][2])], ["wasi thread 1", 252, 100]]
        with_data(path, shape, data([("main", 0), ("deep", 0), ("leaf", 1), ("env.wait", 2)], nodes, threads))
        browser.open(shape)
        boxes = browser.run(BOXES)
        expect(len(boxes) == 5 and any(box.startswith("deep \u00d7250") for box in boxes), "recursion is folded: %r" % boxes)
        browser.click("#fold")
        expect(len(browser.run(BOXES)) == 254, "and unfolded")
        browser.shoot(folder + "/deep.png")
        browser.click("#fold")
        browser.run(SET, "#thread", "1", "change")
        boxes = browser.run(BOXES)
        expect(len(boxes) == 3 and boxes[2].startswith("env.wait [host], 100 %"), "one thread: %r" % boxes)
        browser.run(SET, "#view", "callers", "change")
        boxes = browser.run(BOXES)
        expect(boxes[1].startswith("env.wait") and boxes[2].startswith("main"), "its callers: %r" % boxes)

        long = "shop::Basket<" + "std::vector<int>, " * 30 + "int>::add"
        with_data(path, shape, data([("main", 0), (long, 0), ("x", 0)], [(-1, 0, 0), (0, 1, 8), (0, 2, 92)]))
        browser.open(shape)
        texts = browser.run("return [...document.querySelectorAll('.f')].map(f => f.textContent)")
        expect("add" in texts, "a narrow box shows the last component: %r" % texts)
        height = browser.run("return document.querySelector('#rows .fn').offsetHeight")
        expect(height < 45, "a long name takes two lines of the table: %d" % height)

        with_data(path, shape, data([], []))
        browser.open(shape)
        expect(not browser.run("return document.querySelector('#none').hidden"), "no samples: it says so")
        # No address leads astray.
        with_data(path, shape, data([("main", 0)], [(-1, 0, 3)]))
        for address in ("#zoom=9.9.9", "#view=callers&of=none", "#view=x&thread=77&list=1", "#search=(", "#zoom=-1", "#%"):
            browser.open(shape, address)
            expect(browser.run("return document.querySelectorAll('.f').length") >= 1, "address " + address)
        quiet(browser, expect)
    finally:
        browser.close()
