#!/usr/bin/env python3
"""Opens the report of the bundled example in headless Chromium: it is drawn, it is not blank, and its script reports no error.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FILE keeps the picture.
"""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/quickstart/scenario.yaml"
POLICIES = ["fixed", "shared", "whole", "static-even", "paris", "berth"]
RAN = [policy for policy in POLICIES if policy != "whole"]  # four services do not fit on two whole GPUs
GPU_COUNT = 2
SERVICE_COUNT = 4
WIDTH, HEIGHT = 1280, 2400
COLOUR_COUNT_MIN = 40
DEADLINE_SECONDS = 90


def main():
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
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
            check_picture(chromium, folder, page, mode)
    return 0


def browse(chromium, folder, page, *options):
    """Runs the browser once; returns its output and the lines of the page's console."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--disable-dev-shm-usage", "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}",
               f"--window-size={WIDTH},{HEIGHT}", *options, page]
    run = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True)
    return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


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
    assert set(reported["gpus"].split(",")) == {reported["gpu"]}, reported
    assert reported["lead-redraws"] == "true", reported
    body = dom[:dom.index('id="figures"')]
    assert re.findall(r'<figure[^>]*data-forecast="(\d+)"', body) == [str(i) for i in range(SERVICE_COUNT)]
    for name in ("band", "median", "arrived"):
        paths = re.findall(rf'<path class="{name}" d="([^"]*)"', body)
        assert len(paths) == SERVICE_COUNT and all(len(path) > 100 and "NaN" not in path for path in paths), name
    reached = re.findall(r'data-reach="([^"]*)"', body)
    assert reached == RAN, reached
    assert len(re.findall(r"below the bound(?: without sharing)?: [0-9.]+ % of it", body)) == len(RAN), "not every distance is shown"


def check_picture(chromium, folder, page, mode):
    file = folder / f"{mode}.png"
    scheme = {"light": 1, "dark": 0}[mode]
    console = browse(chromium, folder, page, f"--screenshot={file}", f"--blink-settings=preferredColorScheme={scheme}")[1]
    assert not console, "\n".join(console)
    width, height, pixels = read_png(file.read_bytes())
    assert (width, height) == (WIDTH, HEIGHT), (width, height)
    colours = {pixels[i:i + 3] for i in range(0, len(pixels) - 3, 3 * 97)}
    assert len(colours) >= COLOUR_COUNT_MIN, f"{len(colours)} colours: the page is blank or nearly so"
    brightness = sum(pixels[::101]) / len(pixels[::101])
    assert (brightness > 128) == (mode == "light"), f"{mode}: mean brightness {brightness:.0f}"
    if mode == "light" and "BERTH_SCREENSHOT" in os.environ:
        shutil.copy(file, os.environ["BERTH_SCREENSHOT"])


def read_png(data):
    """Width, height and RGB bytes of a PNG as browsers write it: 8 bits, RGB or RGBA, not interlaced."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG"
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    assert depth == 8 and kind in (2, 6) and not interlaced, (depth, kind, interlaced)
    packed, at = b"", 8
    while at < len(data):
        length = int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    step = 3 if kind == 2 else 4
    rows, before, stride, raw = bytearray(), bytearray(width * step), width * step, zlib.decompress(packed)
    for y in range(height):
        start = y * (stride + 1)
        before = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + stride]), before, step)
        if kind == 2:
            rows += before
        else:
            kept = bytearray(width * 3)
            for channel in range(3):
                kept[channel::3] = before[channel::4]
            rows += kept
    return width, height, bytes(rows)


def unfiltered(filter_type, row, above, step):
    """Undoes one of PNG's five row filters (PNG specification, section 9)."""
    if filter_type == 2:
        return bytearray((a + b) & 255 for a, b in zip(row, above))
    if filter_type == 0:
        return row
    for i in range(len(row)):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        if filter_type == 1:
            guess = left
        elif filter_type == 3:
            guess = (left + above[i]) // 2
        else:
            guess = min((left, above[i], corner), key=lambda v: abs(left + above[i] - corner - v))
        row[i] = (row[i] + guess) & 255
    return row


if __name__ == "__main__":
    sys.exit(main())
