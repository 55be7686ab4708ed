#!/usr/bin/env python3
"""Opens the pages of `berth schedule` in headless Chromium, of the bundled example, of one job, of jobs that come at once, of
names that are not usual, of a long list: light, dark and printed, wide and on a phone, each policy chosen, without texts that
overlap. Their figures are those of the JSON; a run that fails or is interrupted leaves no folder.

Skipped (exit status 77) if there is no Chromium. BERTH_SCREENSHOT=FOLDER keeps the pictures and the prints.
"""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from page_browser import DEADLINE_SECONDS, MEASURE, browse, check_layout, check_picture, find_chromium

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXAMPLE = ROOT / "examples/scheduling"
POLICIES = ["fifo", "skip", "sjf", "easy", "las", "srpt", "fair", "berth"]
PHONE_WIDTH = 400
PRINTED_PAGES_MAX = 6
PAGE_BYTES_MAX = 8 << 20
NAMES = ["<script>alert(1)</script>", "שלום עולם", "\U0001f600 team", "\u202egnp.exe", "a" * 128, "W" * 60, "&amp;", "{{headline}}"]


def main():
    check_failures()
    chromium = find_chromium()
    if chromium is None:
        print("skipped: no chromium, chromium-browser or google-chrome on the path")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_example(chromium, folder)
        for title, (rows, gpus, policies) in lists().items():
            check_list(chromium, folder, title, rows, gpus, policies)
    return 0


def run(*words):
    return subprocess.run([PROGRAM, "schedule", *words], check=True, capture_output=True, text=True, timeout=DEADLINE_SECONDS).stdout


def check_example(chromium, folder):
    words = ["--trace", EXAMPLE / "jobs.csv", "--tenants", EXAMPLE / "tenants.csv", "--gpus", "32", "--report", folder / "example"]
    answer = json.loads(run(*words, "--format", "json"))
    file = folder / "example/index.html"
    text = file.read_text(encoding="utf-8")
    table = " ".join(run(*words).split())
    assert file.read_text(encoding="utf-8") == text, "another page at the second time"
    headline = html.unescape(re.search(r'<h1 id="headline">([^<]*)</h1>', text)[1])
    assert headline and headline in table, headline
    assert [policy["policy"] for policy in answer["policies"]] == POLICIES
    for policy in answer["policies"]:
        check_row(text, policy)
    check_self_contained(text)
    check_choices(chromium, folder, text)
    check_drawn(chromium, folder, file, "schedule")


def check_row(text, policy):
    star = " *" if policy["hindsight"] else ""
    row = re.search(rf'<th scope="row">{re.escape(policy["policy"] + star)}</th>.*', text)[0]
    for label, value in [("p99 completion, s", policy["completion_seconds"]["p99"]), ("Makespan, s", policy["makespan_seconds"]),
                         ("p99 wait, s", policy["wait_seconds"]["p99"]), ("Preemptions", policy["preemptions"]),
                         ("Deadlines missed", policy["deadlines_missed"])]:
        assert f'<td data-label="{label}">{value:,}</td>' in row, (policy["policy"], label, value)


def check_self_contained(text):
    assert "default-src 'none'" in text and "<script" not in text and "<img" not in text and "{{" not in text
    for target in re.findall(r'(?:href|src)="([^"]*)"', text) + re.findall(r"url\(([^)]*)\)", text):
        assert target.startswith("#") or target == "data:,", target


def check_choices(chromium, folder, text):
    """When a policy is chosen, its pictures are shown, and no others."""
    reader = """<script>
var root = document.documentElement;
root.setAttribute("data-shown", [].map.call(document.querySelectorAll("#inside .of"), function (part) {
  return part.getBoundingClientRect().height > 0 ? part.className.split(" ")[1] : "";
}).join(" "));
</script>"""
    for place in range(len(POLICIES)):
        measured = folder / "chosen.html"
        measured.write_text(unlocked(chosen(text, place)).replace("</body>", MEASURE + reader + "</body>"), encoding="utf-8")
        root = re.search(r"<html[^>]*>", browse(chromium, folder, measured.as_uri(), "--dump-dom")[0])[0]
        shown = re.search(r'data-shown="([^"]*)"', root)[1].split()
        assert shown == [f"of{place}"] * 3, (place, shown)
        assert all(finding in root for finding in ('data-overlaps=""', 'data-cuts=""', 'data-beyond="0"')), root


def chosen(text, place):
    text = text.replace(" checked>", ">")
    return re.sub(rf'(id="choice{place}" autocomplete="off")>', r"\1 checked>", text)


def unlocked(text):
    """Without its policy, so that a script can measure it."""
    return text.replace(re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0], "")


def check_phone(chromium, folder, text):
    """In a frame, because browser windows are not that narrow."""
    inside = html.escape(unlocked(text).replace("</body>", MEASURE + "</body>"))
    file = folder / "phone.html"
    file.write_text(f"""<body><iframe width="{PHONE_WIDTH}" height="2000" srcdoc="{inside}"></iframe><script>
document.querySelector("iframe").onload = function () {{
  var from = this.contentDocument.documentElement;
  ["data-overlaps", "data-cuts", "data-beyond"].forEach(function (name) {{
    document.documentElement.setAttribute(name, from.getAttribute(name));
  }});
}};
</script></body>""", encoding="utf-8")
    root = re.search(r"<html[^>]*>", browse(chromium, folder, file.as_uri(), "--dump-dom")[0])[0]
    assert all(finding in root for finding in ('data-overlaps=""', 'data-cuts=""', 'data-beyond="0"')), root


def check_drawn(chromium, folder, file, name):
    pictures = {mode: check_picture(chromium, folder, file.as_uri(), mode) for mode in ("light", "dark")}
    check_layout(chromium, folder, file)
    check_phone(chromium, folder, file.read_text(encoding="utf-8"))
    printed = folder / "print.pdf"
    browse(chromium, folder, file.as_uri(), "--no-pdf-header-footer", f"--print-to-pdf={printed}")
    count = len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes()))
    assert 1 <= count <= PRINTED_PAGES_MAX, f"{name}: {count} printed pages"
    if "BERTH_SCREENSHOT" in os.environ:
        for mode, picture in [*pictures.items(), ("print", printed)]:
            shutil.copy(picture, Path(os.environ["BERTH_SCREENSHOT"]) / f"{name}_{mode}{picture.suffix}")


HEAD = "job,submit_s,gpus,duration_s,tenant"


def lists():
    """Rows, GPUs and policies of lists at the limits of what pages show."""
    at_once = [f"job-with-a-long-name-{i},5,{i % 4 + 1},{i * 37 + 1},t{i % 11}" for i in range(60)]
    names = [f'"{name.replace(chr(34), chr(34) * 2)}",{i * 50},1,{900 + i},"{name}"' for i, name in enumerate(NAMES)]
    thrashing = [f"{i},{i},{i % 8 + 1},{i * 7919 % 3000 + 1},t{i % 40}" for i in range(2000)]
    long = [f"{i},{i * 9},{i % 8 + 1},{i * 7919 % 3000 + 1},t{i % 3}" for i in range(2001)]
    return {"one": (["only,0,2,100,x"], 2, "berth"), "at_once": (at_once, 8, "las,fifo"), "names": (names, 2, "all"),
            "thrashing": (thrashing, 24, "las,berth"), "long": (long, 40, "srpt,skip,berth")}


def check_list(chromium, folder, title, rows, gpus, policies):
    jobs = folder / f"{title}.csv"
    jobs.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    run("--trace", jobs, "--gpus", str(gpus), "--policies", policies, "--report", folder / title)
    file = folder / title / "index.html"
    assert file.stat().st_size <= PAGE_BYTES_MAX, (title, file.stat().st_size)
    text = file.read_text(encoding="utf-8")
    assert "<script" not in text and "\u202e" not in text
    assert ("in lists of at most 2,000" in text) == (title == "long")
    check_layout(chromium, folder, file)
    check_phone(chromium, folder, text)


# Refusals


def check_failures():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        refuse(folder, 2, "--report: wanted a folder, found an empty path", "--trace", EXAMPLE / "jobs.csv", "--gpus", "32", "--report", "")
        refuse(folder, 2, "gpus: wanted at most the 1", "--trace", EXAMPLE / "jobs.csv", "--gpus", "1", "--report", folder / "a/b")
        (folder / "file").write_text("")
        refuse(folder, 1, "--report", "--trace", EXAMPLE / "jobs.csv", "--gpus", "32", "--report", folder / "file/b")
        # Checkpoints longer than rounds: jobs that make no progress.
        (folder / "stuck.csv").write_text("job,submit_s,gpus,duration_s,checkpoint_s\na,0,1,1000,5000\nb,0,1,1000,5000\n")
        refuse(folder, 2, "that get nowhere", "--trace", folder / "stuck.csv", "--gpus", "1", "--policies", "las",
               "--report", folder / "a/b", "--log", folder / "log")
        check_interrupt(folder)


def refuse(folder, status, message, *words):
    before = sorted(folder.rglob("*"))
    done = subprocess.run([PROGRAM, "schedule", *words], capture_output=True, text=True, timeout=DEADLINE_SECONDS)
    assert done.returncode == status and message in done.stderr and not done.stdout, (done.returncode, done.stderr)
    assert sorted(folder.rglob("*")) == before, "something was written"


def check_interrupt(folder):
    rows = [f"{i},{i % 1000},{i % 8 + 1},{i * 7919 % 900000 + 1}" for i in range(30_000)]
    (folder / "long.csv").write_text("\n".join(["job,submit_s,gpus,duration_s", *rows]) + "\n")
    before = sorted(folder.rglob("*"))
    running = subprocess.Popen([PROGRAM, "schedule", "--trace", folder / "long.csv", "--gpus", "8", "--policies", "las", "--report",
                                folder / "c/d"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (folder / "c/d").exists():
        assert running.poll() is None and time.monotonic() < deadline, "no folder appeared"
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=DEADLINE_SECONDS) == 130
    assert sorted(folder.rglob("*")) == before, "something was left"


if __name__ == "__main__":
    sys.exit(main())
