#!/usr/bin/env python3
"""Opens the page of `berth place` in headless Chromium, for seeds, departures, slices and many nodes: drawn in light, dark and
narrow without texts that overlap, no wider than a small phone, and printed. Its figures are those of the JSON.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FOLDER keeps the pictures and the prints.
"""

import html
import json
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
LISTS = ["--nodes", ROOT / "examples/scheduling/nodes.csv", "--pods", ROOT / "examples/scheduling/pods.csv"]
# A call's arguments, the number of figures on its page, and whether it is drawn in each mode and printed.
PAGES = {
    "seeded": (["--seeds", "42-44"], 6, True),
    "churn": (["--seeds", "42", "--churn"], 6, True),
    "slices": (["--seeds", "42", "--as", "A100-80GB", "--moves", "1"], 6, True),
    "many": (["--order", "given", "--copies", "2000", "--policies", "packing,fgd"], 4, False),
    "alone": (["--order", "given", "--policies", "best-fit"], 5, False),
}
PRINTED_PAGES_MAX = 4
SMALL_PHONE_WIDTH = 400  # narrower than windows can be, so in a frame
WIDTHS = """<iframe id="f" style="border:0;width:{width}px;height:3000px" srcdoc="{page}"></iframe>
<script>document.getElementById("f").addEventListener("load", function () {{
  var root = this.contentDocument.documentElement;
  document.documentElement.setAttribute("data-widths", root.scrollWidth + " " + root.clientWidth);
}});</script>"""


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    for name, (words, figure_count, is_drawn) in PAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            file = page_of(Path(folder), words, figure_count)
            check_layout(chromium, Path(folder), file)
            check_small_phone(chromium, Path(folder), file)
            if is_drawn:
                check_drawn(chromium, Path(folder), file, name)
    return 0


def page_of(folder, words, figure_count):
    run = subprocess.run([PROGRAM, "place", *LISTS, *words, "--format", "json", "--report", folder / "out"], check=True,
                         capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    file = folder / "out/index.html"
    check_figures(file.read_text(encoding="utf-8"), json.loads(run.stdout), figure_count)
    return file


def check_drawn(chromium, folder, file, name):
    pictures = {mode: check_picture(chromium, folder, file.as_uri(), mode) for mode in ("light", "dark")}
    printed = folder / "print.pdf"
    browse(chromium, folder, file.as_uri(), "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    count = len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
    assert 1 <= count <= PRINTED_PAGES_MAX, f"{name}: {count} printed pages"
    if "BERTH_SCREENSHOT" in os.environ:
        for mode, picture in [*pictures.items(), ("print", printed)]:
            shutil.copy(picture, Path(os.environ["BERTH_SCREENSHOT"]) / f"place_{name}_{mode}{picture.suffix}")


def check_figures(text, answer, figure_count):
    """Each policy's row has the means of the answer."""
    rows = dict(re.findall(r'<tr[^>]*><th scope="row">([^<]+)</th>(<td data-label="(?:at|allocated|fragmented).*?)</tr>', text))
    assert list(rows) == [policy["policy"] for policy in answer["policies"]], list(rows)
    for policy in answer["policies"]:
        for key, digits in (("allocated_percent_at_100", 2), ("allocated_percent_at_130", 2), ("allocated_percent_churn", 2),
                            ("fragmented_percent", 2), ("failed", 1)):
            if policy[key] is None:
                continue
            wanted = f"{policy[key]['mean']:,.{digits}f}"
            assert f">{wanted}" in rows[policy["policy"]], (policy["policy"], key, wanted)
    assert text.count("<figure") == figure_count, text.count("<figure")
    for forbidden in ("{{", "<script", "http://", "https://"):
        assert forbidden not in text, forbidden


def check_small_phone(chromium, folder, file):
    """The page is no wider than its frame."""
    text = file.read_text(encoding="utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0]
    wrapper = folder / "phone.html"
    wrapper.write_text(WIDTHS.format(width=SMALL_PHONE_WIDTH, page=html.escape(text.replace(policy, ""))), encoding="utf-8")
    dom = browse(chromium, folder, wrapper.as_uri(), "--dump-dom")[0]
    widths = re.search(r'data-widths="(\d+) (\d+)"', dom)
    assert widths and widths[1] == widths[2] == str(SMALL_PHONE_WIDTH), widths and widths[0]


if __name__ == "__main__":
    sys.exit(main())
