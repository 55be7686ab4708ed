#!/usr/bin/env python3
"""`berth up` as a process: signals, an output that cannot be written, and a solver that takes long."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[2]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DEADLINE_SECONDS = 120
STOP_SECONDS = 2
GPUS_EACH = 20

PROFILE = """model,gpu,profile,batch,processes,requests_per_second,latency_ms
m,A100-80GB,1g.10gb,4,1,100,40
m,A100-80GB,2g.20gb,8,1,220,36
m,A100-80GB,3g.40gb,8,1,330,24
m,A100-80GB,7g.80gb,8,1,700,12
"""


def write_scenario(folder, services):
    """Services that differ, with GPUS_EACH GPUs each: a first layout for 500 takes many seconds, one for 100 a part of
    one."""
    (folder / "profile.csv").write_text(PROFILE)
    lines = ["berth: 1", f"fleet: [{{gpu: A100-80GB, count: {services * GPUS_EACH}, usd_per_gpu_hour: 1}}]",
             "window_seconds: 200", "fidelity: rates", "services:"]
    for index in range(services):
        rate = 10_000 + 100 * index
        lines.append(f"  - {{name: s{index}, tenant: t, slo: {{latency_ms: {100 + index}}}, "
                     "profile: {format: csv, path: profile.csv, model: m}, "
                     f"arrivals: {{format: poisson, requests_per_second: {rate}, seconds: 600, repeat: true}}, "
                     f"expects: {{requests_per_second: {rate}}}}}")
    path = folder / "scenario.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


class Up(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)
        self.state = self.folder / "state"
        self.process = None

    def tearDown(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
        self.temporary.cleanup()

    def start(self, *words):
        self.process = subprocess.Popen(
            [PROGRAM, "up", *words, "--data", self.state, "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_until_ready(self):
        line = self.process.stdout.readline()
        self.assertTrue(line.startswith("ready http://127.0.0.1:"), line)
        self.address = line.split()[1]

    def status(self):
        key = (self.state / "admin.key").read_text().strip()
        request = urllib.request.Request(self.address + "v1/status", headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())

    def stop(self, number):
        """Its exit status; it must end soon."""
        began = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(DEADLINE_SECONDS)
        self.assertLess(time.monotonic() - began, STOP_SECONDS)
        return status

    def test_a_signal_ends_it(self):
        for number, status in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
            self.start()
            self.wait_until_ready()
            self.assertEqual(self.stop(number), status)
            self.process.stdout.close()
            self.process.stderr.close()

    def test_a_signal_ends_it_while_the_first_layout_is_searched_for(self):
        journal = self.folder / "journal"
        self.start("--scenario", write_scenario(self.folder, 500), "--journal", journal)
        while not (self.folder / "state/admin.key").exists():
            time.sleep(0.01)
        time.sleep(0.5)
        self.assertEqual(self.stop(signal.SIGTERM), 0)
        self.assertEqual(self.process.stdout.read(), "")
        self.assertEqual([path.name for path in self.folder.glob("journal*")], ["journal"])

    def test_it_answers_while_it_solves_and_ends_then_at_once(self):
        self.start("--scenario", write_scenario(self.folder, 100), "--speed", "max")
        self.wait_until_ready()
        slowest = 0
        while True:
            began = time.monotonic()
            is_solving = self.status()["solver"]["running"]
            slowest = max(slowest, time.monotonic() - began)
            if is_solving:
                break
        for _ in range(50):
            began = time.monotonic()
            self.status()
            slowest = max(slowest, time.monotonic() - began)
        self.assertLess(slowest, STOP_SECONDS)
        self.assertEqual(self.stop(signal.SIGTERM), 0)

    def test_until_keeps_the_plan_of_its_last_second(self):
        journals = []
        for until in ("95", "110"):
            journals.append(self.folder / until)
            self.state = self.folder / f"state-{until}"
            self.start("--speed", "max", "--until", until, "--seed", "3", "--journal", journals[-1])
            self.assertEqual(self.process.wait(DEADLINE_SECONDS), 0)
            self.process.stdout.close()
            self.process.stderr.close()
        short, long = (journal.read_text() for journal in journals)
        self.assertTrue(long.startswith(short))
        later = long[len(short):].splitlines()
        self.assertFalse([line for line in later if '"t_us":95000000,' in line and '"draining"' in line])

    def test_a_world_that_is_over_ends_well_and_stays_over(self):
        scenario = ROOT / "examples" / "quickstart" / "scenario.yaml"
        for _ in range(2):
            self.start("--scenario", scenario, "--speed", "max", "--until", "end")
            self.assertEqual(self.process.wait(DEADLINE_SECONDS), 0)
            self.process.stdout.close()
            self.process.stderr.close()

    def test_a_journal_that_cannot_be_opened_is_a_wrong_word(self):
        self.start("--journal", self.folder / "none" / "j")
        self.assertEqual(self.process.wait(DEADLINE_SECONDS), 2)
        self.assertIn("none/j", self.process.stderr.read())

    def test_a_journal_that_cannot_be_written_ends_it(self):
        self.start("--speed", "1000", "--journal", "/dev/full")
        self.assertEqual(self.process.wait(DEADLINE_SECONDS), 1)
        self.assertIn("/dev/full", self.process.stderr.read())


    def end(self):
        self.assertEqual(self.process.wait(DEADLINE_SECONDS), 0)
        self.process.stdout.close()
        self.process.stderr.close()

    def rows(self):
        run = subprocess.run([PROGRAM, "journal", "export", self.state], capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def refusal(self, *words):
        run = subprocess.run([PROGRAM, "up", *words, "--data", self.state, "--listen", "127.0.0.1:0"],
                             capture_output=True, text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 2, run.stderr)
        return run.stderr

    def test_a_folder_keeps_its_world(self):
        self.start("--speed", "max", "--until", "60")
        self.end()
        before = self.rows()
        scenario = write_scenario(self.folder, 1)
        for words, found in ((["--scenario", scenario], "scenario.yaml"), (["--seed", "2"], "--seed: wanted 1"),
                             (["--policy", "fixed"], "--policy: wanted berth"),
                             (["--approval", "always"], "--approval: wanted never")):
            message = self.refusal(*words)
            self.assertIn(found, message)
            self.assertIn("berth up --data OTHER", message)
        self.start("--seed", "1", "--speed", "max")
        self.wait_until_ready()
        self.assertFalse(self.status()["memory_only"])
        self.assertEqual(self.stop(signal.SIGTERM), 0)
        after = self.rows()
        self.assertGreater(len(after), len(before))
        self.assertEqual(after[:len(before)], before)
        checked = subprocess.run([PROGRAM, "journal", "verify", self.state], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stderr)

    def test_a_scenario_goes_on_without_its_files(self):
        scenario = write_scenario(self.folder, 1)
        self.start("--scenario", scenario, "--speed", "max", "--until", "40")
        self.end()
        self.start("--scenario", scenario, "--speed", "max", "--until", "50")
        self.end()
        scenario.write_text(scenario.read_text().replace("window_seconds: 200", "window_seconds: 100"))
        self.assertIn("with other content", self.refusal("--scenario", scenario))
        scenario.unlink()
        (self.folder / "profile.csv").unlink()
        self.start("--speed", "max", "--until", "60")
        self.end()

    def test_the_files_of_a_scenario_are_bounded(self):
        scenario = write_scenario(self.folder, 1)
        with open(self.folder / "profile.csv", "a") as profile:
            profile.truncate((256 << 20) + 1)
        message = self.refusal("--scenario", scenario)
        self.assertIn("profile.csv: wanted files of at most 268435456 bytes together", message)
        self.assertFalse((self.state / "journal.db").exists())

    def test_a_first_start_that_was_killed_is_none(self):
        self.state.mkdir(mode=0o700)
        (self.state / "journal.db").touch()  # as a kill leaves it before the tables are there
        self.start("--speed", "max", "--until", "20")
        self.end()
        self.assertGreater(len(self.rows()), 0)

    def test_a_damaged_journal_is_refused(self):
        self.start("--speed", "max", "--until", "30")
        self.end()
        path = self.state / "journal.db"
        content = bytearray(path.read_bytes())
        at = content.rfind(b'"arrivals"')
        content[at + 13] ^= 1
        path.write_bytes(content)
        run = subprocess.run([PROGRAM, "up", "--data", self.state, "--listen", "127.0.0.1:0"], capture_output=True,
                             text=True, timeout=DEADLINE_SECONDS)
        self.assertEqual(run.returncode, 1)
        self.assertIn("row ", run.stderr)
        self.assertEqual(path.read_bytes(), content)

    # ---- the configuration file

    def start_with(self, text, *words):
        """With a configuration file of that text, which names the folder."""
        self.config = self.folder / "berth.yaml"
        self.write_config(text)
        self.process = subprocess.Popen([PROGRAM, "up", "--config", self.config, *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)

    def write_config(self, text):
        self.config.write_text(f"data: {self.state}\nlisten: 127.0.0.1:0\n{text}\n")

    def next_line(self, event):
        """The next line of stderr about that event."""
        while True:
            line = self.process.stderr.readline()
            self.assertTrue(line, f"no line {event}")
            if json.loads(line)["event"] == event:
                return json.loads(line)

    def reload(self, event):
        self.process.send_signal(signal.SIGHUP)
        return self.next_line(event)

    def why_unplaced(self, tenant, name):
        """The reason of the condition Placed."""
        key = (self.state / "admin.key").read_text().strip()
        request = urllib.request.Request(f"{self.address}v1/tenants/{tenant}/services/{name}",
                                         headers={"Authorization": "Bearer " + key})
        with urllib.request.urlopen(request, timeout=DEADLINE_SECONDS) as reply:
            conditions = json.loads(reply.read())["status"]["conditions"]
        return next(each["reason"] for each in conditions if each["type"] == "Placed")

    def test_a_file_holds_the_flags_and_windows_without_changes(self):
        now = time.time()
        day, begin, end = (time.strftime(form, time.gmtime(now + hours * 3600)).lower()
                           for form, hours in (("%a", -2), ("%H:%M", -2), ("%H:%M", 20)))
        window = f'no_changes: [{{days: [{day}], from: "{begin}", to: "{end}"}}]'
        self.start_with("speed: 5\nseed: 4\n" + window, "--speed", "20")
        self.wait_until_ready()
        first = self.next_line("config")
        self.assertTrue(first["no_changes"].startswith(f"{day} {begin} to "), first)
        self.assertEqual(self.next_line("ready")["speed"], 20)
        apply = subprocess.run([PROGRAM, "apply", "-f", ROOT / "examples/live/service.yaml", "--data", self.state],
                               capture_output=True, text=True)
        self.assertEqual(apply.returncode, 0, apply.stderr)
        time.sleep(1)
        self.assertEqual(self.why_unplaced("photos", "tagger"), "Frozen")

        self.write_config("seed: 5\nspeed: 7\nretention: {events_days: 3}\nno_changes: [{days: [mon]}]")
        wrong = self.reload("config_not_read")
        self.assertIn("berth.yaml:6:14: no_changes[0].from: wanted a time of the day", wrong["message"])
        self.assertEqual(self.why_unplaced("photos", "tagger"), "Frozen")

        self.write_config("seed: 5\nspeed: 7\nretention: {events_days: 3}")
        other = self.reload("config_key_not_applied")
        self.assertEqual([other["key"], other["in_force"], other["found"]], ["seed", "4", "5"])
        applied = self.next_line("config")  # the speed is that of the flag
        self.assertEqual(applied["retention"], {"events_days": 3, "series_days": 7, "usage_days": 400})
        self.assertEqual(applied["no_changes"], "none")
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.why_unplaced("photos", "tagger") == "Frozen":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertEqual(self.stop(signal.SIGTERM), 0)
        rows = [row for row in self.rows() if row["kind"] == "NoChangesSet"]
        self.assertEqual([len(row["body"]["spans"]) > 0 for row in rows], [True, False])

    def test_windows_without_changes_stay_without_a_file(self):
        self.start_with('speed: max\nuntil: 30\nno_changes: [{days: [sat], from: "08:00", to: "24:00"}]')
        self.end()
        self.start("--speed", "max", "--until", "40")
        self.wait_until_ready()
        self.assertIn("(sat 08:00 to sun 00:00)", self.next_line("warning")["message"])
        self.end()
        self.assertEqual([row["kind"] for row in self.rows()].count("NoChangesSet"), 1)

    def test_without_a_file_a_reload_is_only_told(self):
        self.start()
        self.wait_until_ready()
        self.assertIn("--config", self.reload("config_not_read")["message"])
        self.assertEqual(self.stop(signal.SIGTERM), 0)

    def test_a_wrong_file_is_refused(self):
        self.start_with("polcy: fixed")
        self.assertEqual(self.process.wait(DEADLINE_SECONDS), 2)
        self.assertIn('berth.yaml:3:1: unknown key "polcy"; did you mean policy?', self.process.stderr.read())
        self.assertFalse(self.state.exists())


if __name__ == "__main__":
    unittest.main()
