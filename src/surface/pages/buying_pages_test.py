#!/usr/bin/env python3
"""Opens the pages of the verbs about buying, and of `berth warm`, in headless Chromium: each says what the table says, is drawn in
light, dark and narrow without texts that overlap, and can be printed.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FOLDER keeps the pictures and the prints.
"""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from page_browser import DEADLINE_SECONDS, browse, check_layout, check_picture, find_chromium

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/buying"
# A verb's arguments, and the least number of figures on its page.
PAGES = {
    "spot": (["--windows", EXAMPLE / "windows.jsonl", "--restart-hours", "0.05,0.1"], 2),
    "commit": (["--demand", EXAMPLE / "demand.csv", "--demand-format", "csv", "--plans", EXAMPLE / "plans.csv"], 4),
    "scale": (["--trace", EXAMPLE / "requests.txt", "--trace-format", "rps-text", "--from-second", "21600", "--replica-rps", "8",
               "--wait-seconds", "2", "--start-seconds", "60", "--micro-usd-per-replica-hour", "3673000"], 2),
    "advise": (["--pods", EXAMPLE / "pods.csv", "--at", "2026-08-01"], 1),
    "case": ([EXAMPLE / "scenario.yaml", "--attainment", "0.99", "--committed-micro-usd-per-gpu-hour", "2314000"], 5),
    "warm": (["--trace", ROOT / "examples/warm/apps.csv", "--trace-format", "csv", "--micro-usd-per-idle-hour", "367300"], 3),
}
PRINTED_PAGES_MAX = 8


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    for verb, (words, figure_count) in PAGES.items():
        with tempfile.TemporaryDirectory() as name:
            check_page(chromium, Path(name), verb, words, figure_count)
    return 0


def check_page(chromium, folder, verb, words, figure_count):
    run = subprocess.run([PROGRAM, verb, *words, "--report", folder / "out"], check=True, capture_output=True, text=True,
                         timeout=DEADLINE_SECONDS)
    file = folder / "out/index.html"
    page = file.as_uri()
    check_words(file.read_text(encoding="utf-8"), " ".join(run.stdout.split()), figure_count)
    pictures = {mode: check_picture(chromium, folder, page, mode) for mode in ("light", "dark")}
    check_layout(chromium, folder, file)
    printed = folder / "print.pdf"
    browse(chromium, folder, page, "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    count = len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
    assert 1 <= count <= PRINTED_PAGES_MAX, f"{verb}: {count} printed pages"
    if "BERTH_SCREENSHOT" in os.environ:
        for mode, picture in [*pictures.items(), ("print", printed)]:
            shutil.copy(picture, Path(os.environ["BERTH_SCREENSHOT"]) / f"{verb}_{mode}{picture.suffix}")


def check_words(text, table, figure_count):
    """The headline and the assumption are those of the table."""
    for pattern in (r'<h1 id="headline">([^<]*)</h1>', r'<p class="assumed">([^<]*)</p>'):
        words = html.unescape(re.search(pattern, text)[1])
        assert words and words in table, f"{words!r} is not in the table"
    figures = text.count("<figure")
    assert figures >= figure_count, f"{figures} figures"
    assert "{{" not in text and "<script" not in text


if __name__ == "__main__":
    sys.exit(main())
