"""Pages in headless Chromium, for the tests of this folder: how the browser renders a page, and how that looks."""

import re
import shutil
import struct
import subprocess
import zlib

WIDTH, HEIGHT = 1280, 2400
PHONE_WIDTH = 500  # narrower windows are not possible
COLOUR_COUNT_MIN = 40
DEADLINE_SECONDS = 90

# Finds by how much the page is too wide, texts of pictures that overlap, and texts cut off at the edge of a picture.
MEASURE = """<script>
(function () {
  var root = document.documentElement, overlaps = [], cuts = [];
  document.querySelectorAll("svg[viewBox]").forEach(function (svg) {
    var texts = [].map.call(svg.querySelectorAll("text"), function (text) { return [text.textContent, text.getBoundingClientRect()]; });
    var frame = svg.getBoundingClientRect();
    texts.forEach(function (a, i) {
      if (a[1].left < frame.left - 1 || a[1].right > frame.right + 1) cuts.push(a[0]);
      texts.slice(i + 1).forEach(function (b) {
        var wide = Math.min(a[1].right, b[1].right) - Math.max(a[1].left, b[1].left);
        var high = Math.min(a[1].bottom, b[1].bottom) - Math.max(a[1].top, b[1].top);
        if (wide > 1 && high > 1) overlaps.push(a[0] + " / " + b[0]);
      });
    });
  });
  root.setAttribute("data-overlaps", overlaps.join("; "));
  root.setAttribute("data-cuts", cuts.join("; "));
  root.setAttribute("data-beyond", root.scrollWidth - root.clientWidth);
})();
</script>
"""


def find_chromium():
    """The path of the browser, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def browse(chromium, folder, page, *options, width=WIDTH):
    """Runs the browser once; returns its output and the lines of the page's console."""
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--disable-dev-shm-usage", "--enable-logging=stderr", f"--user-data-dir={folder / 'profile'}",
               f"--window-size={width},{HEIGHT}", *options, page]
    run = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True)
    return run.stdout, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


def check_picture(chromium, folder, page, mode):
    """Draws the page in light or dark: it is not blank, its background has that mode, and its console is silent. Returns the
    picture's file."""
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
    return file


def check_layout(chromium, folder, file):
    """Draws the page wide and narrow: nothing extends beyond it, no texts of a picture overlap or are cut off. It
    has no script of its own."""
    text = file.read_text(encoding="utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0]
    measured = folder / "measured.html"
    measured.write_text(text.replace(policy, "").replace("</body>", MEASURE + "</body>"), encoding="utf-8")
    for width in (WIDTH, PHONE_WIDTH):
        dom = browse(chromium, folder, measured.as_uri(), "--dump-dom", width=width)[0]
        root = re.search(r"<html[^>]*>", dom)[0]
        for finding in ('data-overlaps=""', 'data-cuts=""', 'data-beyond="0"'):
            assert finding in root, f"width {width}: {root}"


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
