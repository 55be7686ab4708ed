"""The loop of the crash test: load, kill, start, audit."""

import http.client
import json
import random
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path

from auditor import Auditor, EventWatcher, Sight, Watcher
from rivals import RIVAL_COUNT, Contested, Rival
from server import Server, Violations
from writers import Belongings, Writer

READY_SECONDS = 5  # how long a start may take
STOP_SECONDS = 2  # how long a clean stop may take
DOWN_SECONDS = 2  # between the clean stop and the next start: the world must not go on meanwhile
KILL_AFTER_MS = (1, 400)
QUIET_SHARE = 0.4  # of the kills: for so long before them nothing is written, so that nothing makes the server record
QUIET_MS = (1, 300)
AUDITED_SHARE = 0.7  # of the starts; after the others the load begins at once
KILLED_START_SHARE = 0.15  # of the starts: another kill before it is ready
WRITER_COUNT = 8
SHOWN_MAX = 40


class Crash:
    """Kills, starts and audits. `folder` is not there yet, or empty."""

    def __init__(self, folder, seed, speed, goes_on=False):
        self.folder = folder
        self.seed = seed
        self.goes_on = goes_on
        self.rng = random.Random(seed)
        self.violations = Violations()
        self.server = Server(folder, speed, 1)
        self.belongings = [Belongings(index) for index in range(WRITER_COUNT)]
        self.contested = Contested(self.violations)
        self.sight = Sight()
        self.auditor = Auditor(self.server, self.belongings, self.sight, self.violations, speed)
        self.acknowledged = 0
        self.counted = 0
        self.audit_count = 0

    def may_go_on(self):
        """Whether there is no violation, or it does not matter."""
        return self.goes_on or not self.violations.found

    def run(self, kills):
        """So many kills that count, then a clean stop and one more start."""
        try:
            self.start(is_audited=True)
            while self.counted < kills and self.may_go_on():
                acknowledged = self.load_and_kill()
                self.acknowledged += acknowledged
                self.counted += acknowledged > 0
                is_last = self.counted == kills
                if not is_last and self.rng.random() < KILLED_START_SHARE:
                    self.kill_a_start()
                self.start(is_audited=is_last or self.rng.random() < AUDITED_SHARE)
            if self.may_go_on():
                self.stop_and_start()
        finally:
            if self.server.process:
                self.server.end(signal.SIGKILL)

    def start(self, is_audited):
        """Until it is ready; then perhaps an audit."""
        self.server.spawn()
        if not self.server.wait_until_ready():
            self.violations.add("start", "it did not become ready")
            raise RuntimeError("no server")
        if self.server.start_ms[-1] > 1000 * READY_SECONDS:
            self.violations.add("start", f"it was ready after {self.server.start_ms[-1]:.0f} ms")
        if not is_audited:
            return
        self.auditor.run(self.rng)
        self.audit_count += 1
        if self.may_go_on() and not self.violations.found:
            self.server.forget_kills()

    def load_and_kill(self):
        """Writes, and kills at a random time; how many writes were acknowledged."""
        self.violations.round = self.server.kill_count + 1
        ending = threading.Event()
        writers = [Writer(self.server, owned, random.Random(f"{self.seed}/{self.server.kill_count}/{index}"),
                          self.violations, ending) for index, owned in enumerate(self.belongings)]
        rivals = [Rival(index, self.server, self.contested,
                        random.Random(f"{self.seed}/{self.server.kill_count}/rival {index}"), ending)
                  for index in range(RIVAL_COUNT)]
        watchers = [watcher(self.server, self.sight, self.violations) for watcher in (Watcher, EventWatcher)]
        for thread in (*watchers, *writers, *rivals):
            thread.start()
        time.sleep(self.rng.uniform(*KILL_AFTER_MS) / 1000)
        if self.rng.random() < QUIET_SHARE:
            ending.set()
            time.sleep(self.rng.uniform(*QUIET_MS) / 1000)
        self.server.kill()
        for thread in (*watchers, *writers, *rivals):
            thread.join()
        return sum(writer.acknowledged for writer in writers)

    def kill_a_start(self):
        """A start that is killed before or about when it is ready."""
        self.server.spawn()
        time.sleep(self.rng.uniform(0, max(self.server.start_ms[1:], default=100)) / 1000)
        self.server.kill()

    def stop_and_start(self):
        """A clean stop, a pause in which the world must stand still, and a start after it."""
        began = time.monotonic()
        status = self.server.end(signal.SIGTERM)
        seconds = time.monotonic() - began
        if status != 0 or seconds > STOP_SECONDS:
            self.violations.add("stop", f"SIGTERM: status {status} after {seconds:.3f} s")
        time.sleep(DOWN_SECONDS)
        self.start(is_audited=True)

    def summary(self):
        """One line that programs can read."""
        restarts = sorted(self.server.start_ms[1:])
        known = {kind: self.violations.count(kind) for kind in ("lost", "duplicated")}
        figures = {"kills": self.counted, "kills_all": self.server.kill_count, "audits": self.audit_count,
                   "acknowledged": self.acknowledged, **known,
                   "other_violations": len(self.violations.found) - sum(known.values()),
                   "restart_ms_p50": round(restarts[len(restarts) // 2]) if restarts else None,
                   "restart_ms_max": round(restarts[-1]) if restarts else None, "seed": self.seed}
        return "kill_test " + json.dumps(figures)


def run_crash(kills, seed, speed, goes_on=False):
    """Runs it and prints the summary; the violations, with the folder that was kept, or an empty text."""
    folder = Path(tempfile.mkdtemp(prefix="berth-kill-"))
    crash = Crash(folder, seed, speed, goes_on)
    error = ""
    try:
        crash.run(kills)
    except (OSError, http.client.HTTPException, RuntimeError, LookupError, ValueError) as found:
        error = f"the test ended early: {found!r}"
    print(crash.summary(), flush=True)
    found = [text for _, text in crash.violations.found] + ([error] if error else [])
    if not found:
        shutil.rmtree(folder)
        return ""
    (folder / "violations").write_text("\n".join(found) + "\n")
    more = [f"and {len(found) - SHOWN_MAX} more"] if len(found) > SHOWN_MAX else []
    return "\n".join([*found[:SHOWN_MAX], *more, f"seed {seed}; kept: {folder}"])
