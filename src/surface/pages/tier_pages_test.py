#!/usr/bin/env python3
"""Opens the page of `berth tier predict` in headless Chromium, with a forest and with rules alone: it says what the table says, is
drawn in light, dark and narrow without texts that overlap, and can be printed.

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
EXAMPLE = ROOT / "examples/tier"
PRINTED_PAGES_MAX = 5
# The options of a run, and the number of figures on its page.
RUNS = {
    "forest": (["--model", "forest", "--rules", "rules.yaml", "--workload", "checked.csv"], 3),
    "unsure": (["--model", "forest", "--sure", "1", "--workload", "detector.csv"], 3),
    "rules": (["--rules", "rules.yaml", "--prices", "--workload", "detector.csv"], 2),
}


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for name, (words, figure_count) in RUNS.items():
            check_page(chromium, folder, name, words, figure_count)
    return 0


def tier(folder, *words):
    run = subprocess.run([PROGRAM, "tier", *words], capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False, cwd=folder)
    assert run.returncode == 0, f"status {run.returncode}: {run.stdout}{run.stderr}"
    return run.stdout


def prepare(folder):
    """The example, trained; also a workload that was measured on two tiers, with a name that is no markup."""
    for name in ("measurements.csv", "detector.csv", "rules.yaml"):
        shutil.copy(EXAMPLE / name, folder)
    tiers = (EXAMPLE / "tiers.yaml").read_text().replace("gpu: A30,", "gpu: L40S,").replace("L40S, profile", "A30, profile")
    (folder / "priced.yaml").write_text(tiers)  # whole A30s are not in the catalogue
    (folder / "priced.yaml").write_text(re.sub(r"(?m)^.*profile: 1g.6gb.*$", "  - {name: a30-1g, gpu: A100-40GB, profile: 1g.5gb}",
                                               (folder / "priced.yaml").read_text()))
    shutil.copy(EXAMPLE / "tiers.yaml", folder)
    tier(folder, "train", "--data", "measurements.csv", "--tiers", "tiers.yaml", "--out", "forest")
    detector = (folder / "detector.csv").read_text()
    faster = [line.replace(",a30-1g,", ",t4,") for line in detector.splitlines()[1:]]
    (folder / "checked.csv").write_text((detector + "\n".join(faster) + "\n").replace("detector,640", "<detector>,<b>640"))


def check_page(chromium, folder, name, words, figure_count):
    tiers = "priced.yaml" if name == "rules" else "tiers.yaml"
    table = tier(folder, "predict", *words, "--tiers", tiers, "--target", "requests_per_second=900 latency_ms=25", "--report", "page")
    file = folder / "page/index.html"
    check_words(file.read_text(encoding="utf-8"), table, figure_count)
    pictures = {mode: check_picture(chromium, folder, file.as_uri(), mode) for mode in ("light", "dark")}
    check_layout(chromium, folder, file)
    printed = folder / "print.pdf"
    browse(chromium, folder, file.as_uri(), "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    count = len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
    assert 1 <= count <= PRINTED_PAGES_MAX, f"{name}: {count} printed pages"
    if "BERTH_SCREENSHOT" in os.environ:
        for mode, picture in [*pictures.items(), ("print", printed)]:
            shutil.copy(picture, Path(os.environ["BERTH_SCREENSHOT"]) / f"tier_{name}_{mode}{picture.suffix}")


def check_words(text, table, figure_count):
    headline = html.unescape(re.search(r'<h1 id="headline">([^<]*)</h1>', text)[1])
    assert headline == table.splitlines()[-1], f"{headline!r} is not the last line of the table"
    figures = text.count("<figure")
    assert figures == figure_count, f"{figures} figures"
    assert "{{" not in text and "<script" not in text and "<b>640" not in text


if __name__ == "__main__":
    sys.exit(main())
