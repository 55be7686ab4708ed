#!/usr/bin/env python3
"""The page of a running `berth up` in headless Chromium: the login address, the last hour, one service in detail, one row per
action, long names.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FOLDER keeps pictures.
"""

import contextlib
import html
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
sys.path.insert(0, str(ROOT / "src/surface/pages"))
from page_browser import browse, find_chromium  # noqa: E402: found by the line above

DEADLINE_SECONDS = 60
BUDGET = "--virtual-time-budget=6000"  # milliseconds of the page
LONG_MODEL = "NVIDIA RTX PRO 6000 Blackwell Server Edition of a long name"
CHROMIUM = find_chromium()

# Reports what is on the page after some seconds, as an attribute of its root.
REPORT = """<script>
setTimeout(function () {
  function texts(query) { return [].map.call(document.querySelectorAll(query), function (node) { return node.textContent; }); }
  function cut(query) { return [].filter.call(document.querySelectorAll(query), function (b) { return b.scrollWidth > b.clientWidth; }).length; }
  document.documentElement.setAttribute("data-report", JSON.stringify({
    charts: texts("#charts figcaption b"), lines: document.querySelectorAll("#charts path.own").length,
    drawn: [].every.call(document.querySelectorAll("#charts path"), function (p) { return !/NaN/.test(p.getAttribute("d") || ""); }),
    cutLabels: [].filter.call(document.querySelectorAll("#charts svg text"), function (text) {
      var box = text.getBoundingClientRect(), frame = text.ownerSVGElement.getBoundingClientRect();
      return box.left < frame.left || box.right > frame.right;
    }).length, targets: texts("#charts line.target"), chosen: texts("#scope option:checked")[0],
    slices: texts("#focus .slices tbody th"), links: [].map.call(document.querySelectorAll("#focus .slices a"), function (a) { return a.hash; }),
    focus: texts("#focus h3"), focusPlan: texts("#focus tbody tr th").length, events: texts("#events tbody tr"),
    plan: texts("#plan tbody tr").length, names: texts("#fleet figcaption b"), cutNames: cut("#fleet figcaption b"),
    beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth, focused: document.activeElement.getAttribute("aria-label"),
    calibration: texts("#calibration tbody tr"), calibrationLead: texts("#calibration-lead"),
    lead: texts("#hour-lead"), problem: texts("#problem")
  }));
}, 4000);
</script>
"""


# A page as wide as a phone: a window of headless Chromium is not that narrow. It repeats the report of what it shows.
FRAME = b"""<body style='margin:0'><iframe width=400 height=2400 style='border:0'></iframe><script>
var frame = document.querySelector("iframe");
frame.src = "/?narrow" + location.hash;
setTimeout(function () {
  document.documentElement.setAttribute("data-report", frame.contentDocument.documentElement.getAttribute("data-report"));
}, 5000);
</script>"""


def action_event(sequence, second, kind, message):
    """An event about an action of plan-7."""
    return {"sequence": sequence, "time": f"2026-11-29T08:00:{second:02}.000000Z", "kind": kind,
            "object": {"kind": "Plan", "namespace": None, "name": "plan-7"}, "generation": 3, "message": message}


def slice_event(sequence, second, kind):
    return {"sequence": sequence, "time": f"2026-11-29T08:00:{second:02}.000000Z", "kind": kind,
            "object": {"kind": "GpuSlice", "namespace": "vision", "name": "gpu-2-3g.40gb-0-3"}, "generation": 3,
            "message": "vision/captioner"}


EVENTS = [action_event(1, 1, "ActionIntended", "action 1: create gpu-2-3g.40gb-0-3"),
          action_event(2, 1, "ActionIntended", "action 2: assign gpu-2-3g.40gb-0-3"),
          action_event(3, 1, "ActionIntended", "action 3: destroy gpu-4-1g.10gb-6-1"),
          slice_event(4, 5, "SliceCreated"), action_event(5, 5, "ActionDone", "action 1: create gpu-2-3g.40gb-0-3"),
          action_event(6, 6, "ActionFailed", "action 3: destroy gpu-4-1g.10gb-6-1: the device is in use"),
          slice_event(7, 9, "SliceServing"), action_event(8, 9, "ActionDone", "action 2: assign gpu-2-3g.40gb-0-3")]


@contextlib.contextmanager
def page_of(up, *, model=None, events=None, key=None):
    """Serves the page of a `berth up` with REPORT in it, logged in, and passes its other requests on; gives its address. /frame
    is the page of /, as wide as a phone. `model`, `events`, `key`: instead of those of the GPUs, of the engine, and of the
    login that the page kept."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer()

        def answer(self):
            given = {"Authorization": self.headers["Authorization"]} if "Authorization" in self.headers else {}
            request = urllib.request.Request(up.url.rstrip("/") + self.path, headers=given)
            try:
                with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
                    status, kind, body = reply.status, reply.headers["Content-Type"], reply.read()
            except urllib.error.HTTPError as error:
                status, kind, body = error.code, error.headers["Content-Type"], error.read()
            if self.path.startswith("/?"):
                kept = f"<script>sessionStorage.setItem('berth-login', '{key or up.key}');</script>".encode()
                body = body.replace(b"<head>", b"<head>" + kept).replace(b"</body>", REPORT.encode() + b"</body>")
            if self.path.startswith("/frame"):
                status, kind, body = 200, "text/html", FRAME
            if status == 200 and self.path.startswith("/v1/overview"):
                page = json.loads(body)
                if events is not None:
                    page["events"], page["last_event"] = events if "events=0" in self.path else [], events[-1]["sequence"]
                for gpu in page["gpus"]:
                    gpu["model"] = model or gpu["model"]
                body = json.dumps(page).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Up:
    """The demo in a folder of its own."""

    def __init__(self, state):
        with open(f"{state}.log", "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([PROGRAM, "up", "--data", state, "--listen", "127.0.0.1:0"],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        self.line = self.process.stdout.readline()
        self.url = self.line.split()[1]
        self.login = re.search(r" login: (\S+) \(once, within 10 minutes\)\n$", self.line)[1]
        self.key = (state / "admin.key").read_text().strip()

    def get(self, path):
        request = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.key})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE_SECONDS)
        self.process.stdout.close()


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.up = Up(cls.folder / "state")
        cls.addClassCleanup(cls.up.stop)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while cls.up.get("v1/overview")["last_event"] < 300 and time.monotonic() < deadline:  # several plans have acted
            time.sleep(0.2)

    def dom(self, address, *options):
        text, console = browse(CHROMIUM, self.folder, address, BUDGET, *options, "--dump-dom")
        root = re.search(r"<html[^>]*>", text)[0]
        self.assertNotIn("data-error", root)
        return text, root, console

    def report(self, place, path="?", **changes):
        """What REPORT says of the page at this place."""
        with page_of(self.up, **changes) as address:
            _, root, console = self.dom(address + path + place)
            picture = os.environ.get("BERTH_SCREENSHOT")
            if picture:
                name = re.sub(r"\W+", "_", place + str(len(changes)))
                browse(CHROMIUM, self.folder, address + path + place, BUDGET, f"--screenshot={picture}/{name}.png")
        self.assertEqual(console, [])
        found = re.search(r'data-report="([^"]*)"', root)
        self.assertIsNotNone(found, root)
        return json.loads(html.unescape(found[1]))

    def test_the_login_address_opens_the_page_once(self):
        text, root, console = self.dom(self.up.login)
        self.assertIn('data-state="drawn"', root)
        self.assertEqual(console, [])
        self.assertEqual(len(re.findall(r'<figure tabindex="0"[^>]*aria-label="gpu-', text)), len(self.up.get("v1/overview")["gpus"]))
        self.assertNotIn(self.up.key, text)
        again, root, _ = self.dom(self.up.login)
        self.assertNotIn("data-state", root)
        self.assertIn("This login address was used before, or is older than 10 minutes.", again)
        self.assertNotRegex(again, r'<form id="ask"[^>]*hidden')
        token = self.up.login.split("=")[1]
        for path in self.folder.rglob("*"):
            if path.is_file() and "profile" not in path.relative_to(self.folder).parts[0]:  # not the browser's own
                self.assertNotIn(token.encode(), path.read_bytes(), path)

    def test_the_key_behind_the_address_still_opens_it(self):
        self.assertIn('data-state="drawn"', self.dom(f"{self.up.url}#{self.up.key}")[1])

    def test_a_login_that_ended_with_its_process_is_said(self):
        found = self.report("ended", key="of an earlier process")
        self.assertRegex(found["problem"][0], "^This login has ended with the process that gave it.")

    def test_the_last_hour_of_the_fleet(self):
        found = self.report("fleet")
        self.assertEqual((found["chosen"], found["charts"]), ("the whole fleet", ["Answers in time", "Requests", "SM-time"]))
        self.assertEqual((found["lines"], found["drawn"], found["cutLabels"]), (2, True, 0), "two lines and three areas")
        self.assertEqual(found["targets"], ["targets 95.0\u202f%"])
        self.assertIn("so far", found["lead"][0], "the world is younger than an hour")
        self.assertEqual(len(found["calibration"]), 6)
        self.assertTrue(any("as its table by" in row and "batches: A100-80GB 1g.10gb" in row for row in found["calibration"]),
                        found["calibration"])
        self.assertRegex(found["calibrationLead"][0], "^Time of batches, compared with the profile tables")

    def test_one_service_in_detail(self):
        found = self.report("service#/services/vision/captioner")
        self.assertEqual((found["chosen"], found["charts"]), ("vision/captioner", ["Answers in time", "p99 latency", "Requests"]))
        self.assertEqual((found["lines"], found["drawn"], found["cutLabels"]), (3, True, 0))
        self.assertEqual(found["targets"][:2], ["target 95.0\u202f%", "target 400\u202fms"])
        self.assertTrue(found["slices"])
        self.assertEqual(found["links"], ["#/gpus/" + gpu for gpu in found["slices"]])
        self.assertRegex(" ".join(found["focus"]), r"^Its slices \(\d+\) The last plan that gives it slices Its events$")
        self.assertGreater(found["focusPlan"], len(found["slices"]), "slices, actions and events have rows")

    def test_a_service_that_is_not_there(self):
        found = self.report("nobody#/services/vision/nobody")
        self.assertEqual((found["charts"], found["lead"]), ([], ["There is no service vision/nobody."]))
        self.assertEqual(found["problem"], [""])

    def test_an_action_has_one_row(self):
        found = self.report("rows", events=EVENTS)
        self.assertEqual(found["events"], [
            "08:00:09ActionDonegpu-2-3g.40gb-0-3plan-7, action 2: assign for vision/captioner; intended 08:00:01, done 08:00:09",
            "08:00:06ActionFailedgpu-4-1g.10gb-6-1plan-7, action 3: destroy; intended 08:00:01, failed 08:00:06 (the device is in use)",
            "08:00:05ActionDonegpu-2-3g.40gb-0-3plan-7, action 1: create for vision/captioner; intended 08:00:01, done 08:00:05"])
        self.assertGreater(found["plan"], 0)

    def test_a_gpu_is_gone_to(self):
        self.assertRegex(self.report("gpu#/gpus/gpu-5")["focused"], "^gpu-5, ")

    def test_a_long_model_does_not_hide_the_name(self):
        found = self.report("long", model=LONG_MODEL)
        self.assertEqual(found["names"][:2], ["gpu-0", "gpu-1"])
        self.assertEqual((found["cutNames"], found["beyond"]), (0, 0))

    def test_nothing_is_wider_than_a_phone(self):
        for place in ("#/", "#/services/vision/captioner"):
            found = self.report(place, path="frame", model=LONG_MODEL)
            self.assertEqual((found["beyond"], found["cutNames"], len(found["charts"])), (0, 0, 3), place)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        sys.exit(77)
    unittest.main()
