"""What the program prints on standard error: on a terminal, and as progress elsewhere; for the tests of verbs."""

import os
import pty
import re
import subprocess

PROGRESS = re.compile(rb"^berth: .*; \d+:\d\d so far(, about \d+:\d\d left)?$")


def without_progress(stderr):
    """The lines of a run on a busy machine that would be there on an idle one: a run above ten seconds shows progress."""
    if isinstance(stderr, str):
        return without_progress(stderr.encode()).decode()
    lines = stderr.splitlines(keepends=True)
    if not any(PROGRESS.match(line.rstrip(b"\n")) for line in lines):
        return stderr
    return b"".join(line for line in lines if not line.startswith(b"berth: "))


def run_on_terminal(command, deadline_seconds):
    """The finished process, its standard output, and its output on the terminal."""
    terminal, child_end = pty.openpty()
    environment = dict(os.environ, TERM="xterm")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=child_end, env=environment)
    os.close(child_end)
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    out, _ = process.communicate(timeout=deadline_seconds)
    return process, out, shown
