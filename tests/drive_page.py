#!/usr/bin/env python3
"""Drive the page of `bdml report` in headless Chromium: hover, slider, click, key, sorting; dark, phone, no script.

    drive_page.py PAGE PATH.json [SHOTS]     the page, the path it was made of, a folder to leave screenshots in

Speaks the WebDriver protocol to chromedriver by itself, so that Python's own library is enough. Ends with
"cases: N passed, M failed" and exit 1 when one failed."""
import base64
import json
import os
import re
import subprocess
import sys
import urllib.request

PAGE, PATH = os.path.abspath(sys.argv[1]), json.load(open(sys.argv[2]))
SHOTS = sys.argv[3] if len(sys.argv) > 3 else None
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the protocol's name for a reference to an element


class Browser:
    def __init__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            found = re.search(r"on port (\d+)", line)
            if found and found.group(1) != "0":
                break
        self.base = "http://127.0.0.1:" + found.group(1)
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                            "--window-size=1400,1000"]}
        made = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.base += "/session/" + made["sessionId"]

    def call(self, verb, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=verb)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:400])

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def point_at(self, selector, press=False):
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        steps = [{"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {ELEMENT: self.find(selector)}}]
        if press:
            steps += [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]})

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self):
        self.call("POST", "/url", {"url": "file://" + PAGE})

    def shot(self, name):
        if not SHOTS:
            return
        size = self.devtools("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        data = self.devtools("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        with open(os.path.join(SHOTS, name + ".png"), "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        try:
            self.call("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait()


passed = failed = 0


def check(name, ok, seen=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print("FAILED:", name, seen)


WALK = "figure[data-figure=walk] "
AFTER = WALK + "[data-panel=after] "


def words_at(b, selector):
    b.point_at(selector)
    return b.run("var t = document.getElementById('tip'); return t.hidden ? null : t.innerText")


def alone(b):
    """The point of the cloud that lies furthest from all others: no other one covers it."""
    return b.run("""
        var all = Array.from(document.querySelectorAll(arguments[0] + '.inside circle[data-i]')).map(function (c) {
          return [+c.getAttribute('cx'), +c.getAttribute('cy'), +c.getAttribute('data-i')];
        });
        function room(p) {
          return Math.min.apply(null, all.map(q => p === q ? Infinity : Math.hypot(p[0] - q[0], p[1] - q[1])));
        }
        return all.reduce((a, p) => room(p) > room(a) ? p : a)[2];""", AFTER)


def hover(b):
    walk, i = PATH["walk"], alone(b)
    said = words_at(b, AFTER + f"circle[data-i='{i}']")
    name = walk["classes"][walk["class"][i]]
    check("hover: row, class and features", said is not None and
          said.split("\n")[0] == f"row {walk['row'][i]}, class {name}" and walk["feature"][0] in said, said)
    said = words_at(b, "figure[data-figure=errors] circle")
    check("hover: method and error", said is not None and "euclidean" in said, said)
    said = words_at(b, "figure[data-figure=features] rect.column")
    check("hover: a feature and its weight", bool(said and re.search(r"^\w+ [\d.]+$", said)), said)
    check("hover: nothing where there is nothing", words_at(b, "h1") is None)


def places(b):
    """Where the points of the cloud are, by the axes that the panel states; and where the data have them."""
    return b.run("""
        var panel = document.querySelector(arguments[0]), out = [];
        function axis(name) { return panel.getAttribute('data-' + name).split(' ').map(Number); }
        var x = axis('x'), y = axis('y');
        panel.querySelectorAll('.inside circle[data-i]').forEach(function (c) {
          if (c.classList.contains('out')) return;
          out.push([+c.getAttribute('data-i'),
            x[0] + (c.getAttribute('cx') - x[2]) / (x[3] - x[2]) * (x[1] - x[0]),
            y[0] + (c.getAttribute('cy') - y[2]) / (y[3] - y[2]) * (y[1] - y[0])]);
        });
        return out;""", AFTER.strip())


def agrees(b, step):
    seen = places(b)
    # pictures are written to a tenth of a pixel, some 1/4000 of the width of a cloud
    return len(seen) > 10 and all(abs(step["points"][i][0] - x) < 0.01 and abs(step["points"][i][1] - y) < 0.01
                                  for i, x, y in seen)


def slider(b):
    steps = PATH["walk"]["step"]
    chosen = [s["distortion"] for s in steps].index(PATH["chosen"]["distortion"])
    check("the picture stands at the K chosen", agrees(b, steps[chosen]))
    field = b.find(WALK + "input[type=range]")
    for _ in range(len(steps)):
        b.call("POST", f"/element/{field}/value", {"text": "\ue014"})  # arrow to the right, to the end
    told = b.run(f"return document.querySelector('{WALK}output').textContent")
    row = PATH["path"][-1]
    check("slider: error", told.startswith(f"K = {row['distortion']:g}: test error {row['test_error']:.2f} %"), told)
    check("slider: the mark moves", b.run(f"return document.querySelector('{WALK}.mark text').textContent")
          == f"K = {row['distortion']:g}")
    check("slider: the points move", agrees(b, steps[-1]))
    last = len(steps[-1]["eigenvalue"])
    said = words_at(b, WALK + f"[data-panel=spectrum] circle[data-i='{last - 1}']")
    ratio = float(re.search(r": ([\d.e-]+) of", said or ": nan of").group(1))
    check("slider: the spectrum reaches down to 1/K", abs(ratio * row["distortion"] - 1) < 0.01, said)
    for _ in range(len(steps)):
        b.call("POST", f"/element/{field}/value", {"text": "\ue012"})  # back to K = 1
    check("slider: back to the first K", agrees(b, steps[0]))


def click(b):
    walk, i = PATH["walk"], alone(b)
    b.point_at(AFTER + f"circle[data-i='{i}']", press=True)
    said = b.run(f"return document.querySelector('{WALK}.picked').innerText")
    expect = {"Before": walk["before"]["neighbors"][i], "After": walk["step"][0]["neighbors"][i]}
    for side, rows in expect.items():
        names = ", ".join(f"row {walk['row'][j]} ({walk['classes'][walk['class'][j]]})" for j in rows)
        check(f"click: neighbours, {side}", f"{side}: {names}." in said, said)
    lines = b.run(f"return document.querySelectorAll('{AFTER}.near path').length")
    check("click: a line to each", lines == len(expect["After"]) + 1, lines)
    b.shot("picked")
    b.point_at(AFTER + f"circle[data-i='{i}']", press=True)
    check("click again: let go", b.run(f"return document.querySelector('{WALK}.picked').hidden"))


def key_and_table(b):
    name = PATH["walk"]["classes"][0]
    visible = f"""return Array.from(document.querySelectorAll('{WALK}.inside .series[data-s="{name}"]'))
        .filter(function (g) {{ return getComputedStyle(g).display !== 'none' }}).length"""
    check("key: the class is in both clouds", b.run(visible) == 2)
    b.point_at(WALK + f".key li[data-s='{name}']", press=True)
    check("key: and hidden in both", b.run(visible) == 0)
    b.point_at(WALK + f".key li[data-s='{name}']", press=True)
    check("key: and back", b.run(visible) == 2)
    column = "return Array.from(document.querySelectorAll('table.sort tbody tr')).map(r => +r.cells[1].textContent)"
    head = "table.sort thead th:nth-child(2)"
    b.point_at(head, press=True)
    up = b.run(column)
    b.point_at(head, press=True)
    down = b.run(column)
    check("table: sorted up, then down", up == sorted(up) and down == up[::-1] and len(up) > 1, (up, down))


def looks(b):
    b.open()
    b.shot("light")
    paper = b.run("return getComputedStyle(document.body).backgroundColor")
    b.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    ink = b.run("return getComputedStyle(document.querySelector('.panel text')).fill")
    night = b.run("return getComputedStyle(document.body).backgroundColor")
    check("dark: ground and letters change", night != paper and ink not in (night, "rgb(51, 56, 62)"), (night, ink))
    b.shot("dark")
    b.devtools("Emulation.setEmulatedMedia", features=[])
    b.devtools("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=2, mobile=True)
    b.open()
    wide = b.run("return [document.documentElement.scrollWidth, window.innerWidth]")
    check("phone: nothing is wider than the screen", wide[0] <= wide[1] and wide[1] == 390, wide)
    cut = b.run("""return Array.from(document.querySelectorAll('figure .panel')).filter(function (p) {
        var r = p.getBoundingClientRect(); return r.right > innerWidth + 1 || r.width < 300 }).length""")
    check("phone: pictures are whole, and not tiny", cut == 0, cut)
    b.shot("phone")
    b.devtools("Emulation.setDeviceMetricsOverride", width=2200, height=1200, deviceScaleFactor=1, mobile=False)
    right = b.run("return Math.max.apply(null, Array.from(document.querySelectorAll('section figure, section table'))"
                  ".map(e => e.getBoundingClientRect().right))")
    check("wide screens are used", right > 1600, right)
    b.shot("wide")
    b.devtools("Emulation.clearDeviceMetricsOverride")
    if SHOTS:
        with open(os.path.join(SHOTS, "print.pdf"), "wb") as f:
            f.write(base64.b64decode(b.devtools("Page.printToPDF", printBackground=True)["data"]))
    b.devtools("Emulation.setScriptExecutionDisabled", value=True)
    b.open()
    b.shot("no-script")
    b.devtools("Emulation.setScriptExecutionDisabled", value=False)
    text = b.run("return document.body.innerText")
    slider = b.run("return document.querySelectorAll('input').length")
    check("no script: the page is whole, and has no dead slider", slider == 0 and "Which features matter" in text
          and "The certificate" in text, slider)


browser = Browser()
try:
    browser.open()
    hover(browser)
    slider(browser)
    click(browser)
    key_and_table(browser)
    noise = [line for line in browser.call("POST", "/se/log", {"type": "browser"}) if line["level"] == "SEVERE"]
    check("no error on the console", not noise, noise)
    looks(browser)
finally:
    browser.close()
print(f"cases: {passed} passed, {failed} failed")
sys.exit(failed > 0)
