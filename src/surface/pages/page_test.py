#!/usr/bin/env python3
"""Opens the report of the bundled example in headless Chromium: it is drawn, it is not blank, and its script reports no error.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FILE keeps the picture.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from page_browser import DEADLINE_SECONDS, browse, check_picture, find_chromium

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/quickstart/scenario.yaml"
POLICIES = ["fixed", "shared", "whole", "static-even", "paris", "berth"]
RAN = [policy for policy in POLICIES if policy != "whole"]  # four services do not fit on two whole GPUs
GPU_COUNT = 2
SERVICE_COUNT = 4


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([PROGRAM, "replay", EXAMPLE, "--policies", ",".join(POLICIES), "--report", folder],
                       check=True, stdout=subprocess.DEVNULL, timeout=DEADLINE_SECONDS)
        page = (folder / "index.html").as_uri()
        check_dom(browse(chromium, folder, page, "--dump-dom")[0])
        check_keyboard(chromium, folder)
        for mode in ("light", "dark"):
            file = check_picture(chromium, folder, page, mode)
            if mode == "light" and "BERTH_SCREENSHOT" in os.environ:
                shutil.copy(file, os.environ["BERTH_SCREENSHOT"])
    return 0


def check_dom(dom):
    root = re.search(r"<html[^>]*>", dom)[0]
    assert 'data-state="drawn"' in root and "data-error" not in root, root
    body = dom[:dom.index('id="figures"')]
    for policy in POLICIES:
        assert f'<tr data-policy="{policy}"' in body, f"no row for {policy}"
    strips = re.findall(r'<svg[^>]*data-gpu="(\d+)"', body)
    assert strips == [str(i) for i in range(GPU_COUNT)], strips
    slices = len(re.findall(r'class="slice ', body))
    assert slices >= GPU_COUNT, f"{slices} slices drawn"


# Chooses berth, steps through the decisions of the first strip that has some, and shows the last one in the list.
READER = """<script>
(function () {
  var root = document.documentElement;
  function put(name, value) { root.setAttribute("data-" + name, value); }
  function key(node, name) { node.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true })); }
  var choice = document.getElementById("choice"), names = [].map.call(choice.options, function (o) { return o.text; });
  choice.value = names.indexOf("berth");
  choice.dispatchEvent(new Event("change"));
  var strip = document.querySelector("#strips svg[tabindex]"), tip = document.getElementById("tip");
  strip.focus();
  key(strip, "ArrowRight");
  put("first", tip.textContent);
  key(strip, "End");
  put("last", tip.textContent);
  put("live", tip.getAttribute("aria-live"));
  key(strip, "Enter");
  put("row", document.activeElement.textContent);
  put("tip-gone", tip.hasAttribute("hidden"));
  document.getElementById("decisions-gpu").value = strip.getAttribute("data-gpu");
  document.getElementById("decisions-gpu").dispatchEvent(new Event("change"));
  put("gpus", [].map.call(document.querySelectorAll("#decisions td:nth-child(2)"), function (td) { return td.textContent; }).join());
  put("gpu", strip.getAttribute("data-gpu"));
  var before = document.querySelector("#forecast .median").getAttribute("d"), lead = document.getElementById("lead");
  lead.value = "1";
  lead.dispatchEvent(new Event("change"));
  put("lead-redraws", document.querySelector("#forecast .median").getAttribute("d") !== before);
})();
</script>
"""


def check_keyboard(chromium, folder):
    file = folder / "read.html"
    text = (folder / "index.html").read_text(encoding="utf-8")
    file.write_text(text.replace("</body>", READER + "</body>"), encoding="utf-8")
    dom = browse(chromium, folder, file.as_uri(), "--dump-dom")[0]
    root = re.search(r"<html[^>]*>", dom)[0]
    reported = dict(re.findall(r'data-([a-z-]+)="([^"]*)"', root))
    assert "error" not in reported and reported["state"] == "drawn", root
    assert "decision" in reported["first"] and "first layout" in reported["first"], reported
    assert "gain seconds" in reported["last"] and reported["last"] != reported["first"] and reported["live"] == "polite", reported
    assert "gain seconds" in reported["row"] and reported["tip-gone"] == "true", reported
    assert set(reported["gpus"].split(",")) == {"gpu-" + reported["gpu"]}, reported
    assert reported["lead-redraws"] == "true", reported
    body = dom[:dom.index('id="figures"')]
    assert re.findall(r'<figure[^>]*data-forecast="(\d+)"', body) == [str(i) for i in range(SERVICE_COUNT)]
    for name in ("band", "median", "arrived"):
        paths = re.findall(rf'<path class="{name}" d="([^"]*)"', body)
        assert len(paths) == SERVICE_COUNT and all(len(path) > 100 and "NaN" not in path for path in paths), name
    reached = re.findall(r'data-reach="([^"]*)"', body)
    assert reached == RAN, reached
    assert len(re.findall(r"below the bound(?: without sharing)?: [0-9.]+ % of it", body)) == len(RAN), "not every distance is shown"


if __name__ == "__main__":
    sys.exit(main())
