"""Runs a program whose standard error is a terminal; for the tests of verbs."""

import os
import pty
import subprocess


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
