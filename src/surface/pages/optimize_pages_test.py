#!/usr/bin/env python3
"""Opens the page of `berth optimize` in headless Chromium, of a run in which a variant is kept and of one in which none is: it
says what the table says, is drawn in light, dark and narrow without texts that overlap, and can be printed.

Skipped (exit status 77) if there is no Chromium, or no engine to run models. BERTH_SCREENSHOT=FOLDER keeps the pictures and the
prints.
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
sys.path[:0] = [str(ROOT / "tests/optimize"), str(ROOT / "tests/serving")]

import onnx_bytes  # noqa: E402
from local_serve import require_engine  # noqa: E402
from rows import Draws, write_npz  # noqa: E402

COLUMNS = 16
# The options of a run, its exit status, and the least number of figures on its page.
RUNS = {
    "kept": (["--methods", "int8,fp16", "--goal", "file", "--max-loss", "100%"], 0, 3),
    "refused": (["--methods", "fp16", "--goal", "file", "--metric", "error", "--max-loss", "0%"], 3, 2),
}
PRINTED_PAGES_MAX = 6


def main():
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    require_engine()
    for name, (words, status, figure_count) in RUNS.items():
        with tempfile.TemporaryDirectory() as folder:
            check_page(chromium, Path(folder), name, optimize(Path(folder), words, status), figure_count)
    return 0


def optimize(folder, words, status):
    """Runs the verb on a small perceptron, with a page in the folder `page`; returns the table in one line."""
    (folder / "<net>.onnx").write_bytes(onnx_bytes.layers([COLUMNS, 64, 64, 8]))
    for name, count, seed in (("calibration", 48, 1), ("test", 96, 2)):
        write_npz(folder / f"{name}.npz", x=(Draws(seed).normals(count * COLUMNS), (count, COLUMNS)))
    run = subprocess.run([PROGRAM, "optimize", "<net>.onnx", "--calibration", "calibration.npz", "--evaluation", "test.npz",
                          "--batches", "1,8", "--budget-seconds", "30", "--out", "out", "--report", "page", *words],
                         capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False, cwd=folder)
    assert run.returncode == status, f"status {run.returncode}: {run.stdout}{run.stderr}"
    return " ".join(run.stdout.split())


def check_page(chromium, folder, name, table, figure_count):
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
            shutil.copy(picture, Path(os.environ["BERTH_SCREENSHOT"]) / f"optimize_{name}_{mode}{picture.suffix}")


def check_words(text, table, figure_count):
    """The headline is that of the table, where a variant is named by its path; so are the reasons of refusals."""
    headline = html.unescape(re.search(r'<h1 id="headline">([^<]*)</h1>', text)[1])
    advice = headline.split(": ", 1)[1]
    assert advice and table.endswith(advice), f"{advice!r} is not the end of the table"
    reasons = re.findall(r"<b>refused</b>: ([^<]*)<", text)
    for reason in reasons:
        assert html.unescape(reason) in table, f"{reason!r} is not in the table"
    assert reasons or not headline.startswith("Keep"), "no reason for a refusal"
    figures = text.count("<figure")
    assert figures >= figure_count, f"{figures} figures"
    assert "{{" not in text and "<script" not in text and "<net>" not in text


if __name__ == "__main__":
    sys.exit(main())
