# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A flame graph in a real browser, through chromedriver's own protocol (W3C WebDriver): looks at it, searches, zooms."""
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


def check(path, name, folder, expect):
    browser = Browser()
    try:
        browser.do("/url", {"url": "file://" + os.path.abspath(path)})
        expect(browser.run("return document.querySelectorAll('.f').length") > 2, "frames are there")
        browser.shoot(folder + "/page.png")
        widths = "return [...document.querySelectorAll('.f')].find(f => f.textContent == arguments[0]).offsetWidth"
        before = browser.run(widths, name)
        browser.type("#search", name)
        expect("matched: " in browser.run("return document.querySelector('#found').textContent"), "search finds")
        expect(browser.run("return document.querySelectorAll('.hit').length") >= 1, "search marks")
        browser.shoot(folder + "/search.png")
        browser.run("[...document.querySelectorAll('.f')].find(f => f.textContent == arguments[0]).id = 'wanted'", name)
        browser.click("#wanted")
        after = browser.run(widths, name)
        whole = browser.run("return document.querySelector('#graph').clientWidth")
        expect(after > before or before >= whole - 2, "zoom widens: %d to %d" % (before, after))
        expect(after >= whole - 2, "what is zoomed fills the page: %d of %d" % (after, whole))
        browser.shoot(folder + "/zoom.png")
        browser.click("#reset")
        expect(abs(browser.run(widths, name) - before) <= 1, "reset")
        browser.run("const s = document.querySelector('#search'); s.value = ''; s.dispatchEvent(new Event('input'))")
        browser.run("const b = document.querySelector('#by'); b.value = '1'; b.dispatchEvent(new Event('change'))")
        lines = browser.run("return [...document.querySelectorAll('.f')].map(f => f.textContent).join('\\n')")
        expect("hot.c:" in lines, "by line: " + lines)
        browser.shoot(folder + "/lines.png")
        log = browser.do("/se/log", {"type": "browser"})
        expect(not [e for e in log if e["level"] == "SEVERE"], "no errors in the page: %r" % log)
    finally:
        browser.close()
