#!/usr/bin/env python3
"""`berth-nvml-sim run` end to end: the program's environment, status, signals and terminal; states; bad files."""

import os
import pty
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from simulated import DEADLINE_SECONDS, PROGRAM, ROOT, TWO_A100, Case, require_program  # noqa: E402

# Says when it is ready, then writes the name of each signal, and ends after `wanted` of them and a moment.
LISTENER = """
import signal, sys, time
path, wanted = sys.argv[1], int(sys.argv[2])
got = []
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
    signal.signal(each, lambda number, frame: got.append(signal.Signals(number).name))
open(path, "w").write("ready")
deadline = time.monotonic() + 30
while len(got) < wanted and time.monotonic() < deadline:
    time.sleep(0.01)
time.sleep(0.1)
open(path, "w").write(" ".join(got))
sys.exit(5)
"""


class Run(Case):
    def start(self, *command, **options):
        return subprocess.Popen([PROGRAM, "run", "--fleet", self.fleet(), "--", *map(str, command)], env=self.environment,
                                **options)

    def wait_for(self, path, text):
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (path.exists() and path.read_text() == text):
            self.assertLess(time.monotonic(), deadline, f"{path} never said {text}")
            time.sleep(0.01)

    def leftovers(self):
        return [path.name for path in self.temporary.iterdir()]

    def test_status_is_that_of_the_program(self):
        for command, status in [(["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -KILL $$"], 137),
                                (["sh", "-c", "kill -TERM $$"], 143), (["no-such-program"], 127),
                                (["/no/such/program"], 127), (["/etc/passwd"], 126), (["/"], 126)]:
            run = self.program("run", "--fleet", self.fleet(), "--", *command)
            self.assertEqual(run.returncode, status, command)
            self.assertEqual("berth-nvml-sim: " in run.stderr, status in (126, 127), run.stderr)
            self.assertEqual(self.leftovers(), [])

    def test_the_program_gets_its_own_words(self):
        run = self.program("run", "--fleet", self.fleet(), "--", "printf", "%s|", "--fleet", "x y", "--", "")
        self.assertEqual(run.stdout, "--fleet|x y|--||")

    def test_the_environment_of_the_program(self):
        self.environment.update(LD_LIBRARY_PATH="/before", PATH="/usr/bin:/bin")
        script = """
import ctypes, os, stat
path, library_path = (os.environ[name].split(":") for name in ("PATH", "LD_LIBRARY_PATH"))
assert path[0] == library_path[0] and path[1:] == ["/usr/bin", "/bin"] and library_path[1:] == ["/before"], os.environ
state = os.environ["BERTH_NVML_SIM_STATE"]
assert os.environ["BERTH_BOOT_ID"] == state + ".boot_id" and len(open(state + ".boot_id").read()) == 37
assert os.environ["BERTH_GPU_LOCKS"] == state + ".locks"
assert stat.S_IMODE(os.stat(state + ".locks").st_mode) == 0o1777
assert os.stat(os.path.dirname(state)).st_mode & 0o555 == 0o555
for name in ("libnvidia-ml.so.1", "libnvidia-ml.so"):
    assert ctypes.CDLL(name).nvmlInit_v2() == 0
"""
        for interpreter in (sys.executable, "/usr/bin/python3"):
            if not Path(interpreter).exists():
                continue
            run = self.program("run", "--fleet", self.fleet(), "--", interpreter, "-c", script)
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_nvidia_smi_lists_the_gpus(self):
        run = self.program("run", "--fleet", self.fleet(), "--", "nvidia-smi", "-L")
        self.assertEqual((run.returncode, run.stdout.count("NVIDIA A100-SXM4-80GB (UUID: GPU-"), run.stderr), (0, 2, ""))
        run = self.program("run", "--fleet", self.fleet(), "--", "nvidia-smi", "--query-gpu=name")
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertIn('wanted -L, or -r [-i LIST], which are all that is simulated, found "--query-gpu=name"', run.stderr)

    def test_the_gpus_of_the_example_have_the_uuids_that_it_names(self):
        example = ROOT / "examples/local/fleet.yaml"
        run = self.program("run", "--fleet", example, "--", "nvidia-smi", "-L")
        shown = [line.split("UUID: ")[1].rstrip(")") for line in run.stdout.splitlines()]
        self.assertEqual(shown, [line.split()[-1] for line in example.read_text().splitlines() if line.startswith("#   GPU")])

    def test_a_bad_file_starts_nothing(self):
        marker = self.folder / "marker"
        for text, part in [("fleet: [{gpu: A100-80GB, cuont: 2}]", "fleet.yaml:1:26: fleet[0]: unknown key \"cuont\"; did you mean count?"),
                           ("fleet: [{gpu: A99}]", "fleet[0].gpu: wanted a GPU, found \"A99\""),
                           ("fleet: [{gpu: A30, count: 0}]", "fleet[0].count: wanted a whole number from 1 to 64, found \"0\""),
                           ("fleet: [", "fleet.yaml:")]:
            run = self.program("run", "--fleet", self.fleet(text), "--", "touch", marker)
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(part, run.stderr)
            self.assertTrue(run.stderr.startswith("berth-nvml-sim: "), run.stderr)
            self.assertFalse(marker.exists())
            self.assertEqual(self.leftovers(), [])

    def test_bad_words_start_nothing(self):
        fleet = self.fleet()
        for words, part in [(["--fleet", self.folder / "none", "--", "true"], "none: cannot be read: No such file"),
                            (["--fleet", self.folder, "--", "true"], "cannot be read: Is a directory"),
                            (["--fleet", fleet], "wanted -- COMMAND"), (["--fleet", fleet, "--"], "wanted -- COMMAND"),
                            (["--", "true"], "--fleet is required"), (["--fleet", fleet, "true"], "berth-nvml-sim: "),
                            (["--fleet", fleet, "--state", self.folder / "none/state", "--", "true"],
                             "wanted an existing folder for the state, found none"),
                            (["--fleet", fleet, "--state", self.folder, "--", "true"], "wanted a file for the state, found a folder"),
                            (["--fleet", fleet, "--state", "", "--", "true"], "--state: wanted a path, found an empty one")]:
            run = self.program("run", *words)
            self.assertEqual((run.returncode, run.stdout), (2, ""), run.stderr)
            self.assertIn(part, run.stderr)
        self.assertEqual(self.program("resett").stderr.splitlines()[0],
                         'berth-nvml-sim: wanted a verb, found "resett"; did you mean reset?')

    def test_a_state_of_the_file_that_cannot_be_is_refused_where_it_is_named(self):
        fleet = self.fleet("state: none/state\nfleet: [{gpu: A30}]\n")
        run = self.program("run", "--fleet", fleet, "--", "true")
        self.assertEqual((run.returncode, run.stderr),
                         (2, f"berth-nvml-sim: {fleet}:1:8: state: {self.folder}/none/state: wanted an existing folder for the "
                             f"state, found none: {self.folder}/none\n"))

    def test_a_named_state_stays_and_is_joined(self):
        state = self.state()
        self.assertEqual(self.leftovers(), [])
        first = self.show(state)
        self.assertEqual(Path(f"{state}.boot_id").read_text(), first["boot_id"] + "\n")
        self.assertEqual(state.stat().st_mode & 0o777, 0o666)
        self.program("fault", "--state", state, "--gpu", 1, "--lost")
        run = self.program("run", "--fleet", self.fleet("{fleet: [{gpu: A100-80GB, count: 2}], latency_ms: {read: 5}}"),
                           "--state", "state", "--", "sh", "-c", "echo $BERTH_NVML_SIM_STATE", cwd=self.folder)
        self.assertEqual((run.returncode, run.stdout), (0, f"{state}\n"))
        second = self.show(state)
        self.assertEqual((second["boot_id"], second["devices"][1]["lost"]), (first["boot_id"], True))

    def test_another_fleet_does_not_join(self):
        state = self.state()
        before = self.show(state)
        for text, found in [("fleet: [{gpu: A100-80GB}]", "1 A100-80GB, driver 580.95.05"),
                            ("fleet: [{gpu: A100-40GB, count: 2}]", "2 A100-40GB, driver 580.95.05"),
                            (TWO_A100 + "driver: 570.1", "2 A100-80GB, driver 570.1")]:
            run = self.program("run", "--fleet", self.fleet(text), "--state", state, "--", "touch", self.folder / "marker")
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"wanted the state of {found}, found that of 2 A100-80GB, driver 580.95.05", run.stderr)
        other = self.folder / "other"
        other.write_text("no state")
        run = self.program("run", "--fleet", self.fleet(), "--state", other, "--", "touch", self.folder / "marker")
        self.assertEqual((run.returncode, other.read_text()), (2, "no state"))
        self.assertFalse((self.folder / "marker").exists())
        self.assertEqual(self.show(state), before)

    def test_the_file_names_a_state_and_the_option_goes_first(self):
        fleet = self.fleet(TWO_A100 + "state: of_file")
        for words, name in [([], "of_file"), (["--state", self.folder / "of_option"], "of_option")]:
            self.assertEqual(self.program("run", "--fleet", fleet, *words, "--", "true").returncode, 0)
            self.assertEqual(len(self.show(self.folder / name)["devices"]), 2)

    def test_those_who_come_at_once_share_one_state(self):
        state = self.folder / "shared"
        command = [PROGRAM, "run", "--fleet", self.fleet(), "--state", state, "--", PROGRAM, "show", "--format", "json"]
        runs = [subprocess.Popen(command, stdout=subprocess.PIPE, env=self.environment) for _ in range(6)]
        shown = {run.communicate(timeout=DEADLINE_SECONDS)[0] for run in runs}
        self.assertEqual({run.returncode for run in runs}, {0})
        self.assertEqual(len(shown), 1)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.name.startswith("shared")),
                         ["shared", "shared.boot_id", "shared.locks"])

    def test_signals_are_passed_on_once(self):
        heard = self.folder / "heard"
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
            process = self.start(sys.executable, "-c", LISTENER, heard, 1)
            self.wait_for(heard, "ready")
            process.send_signal(each)
            self.assertEqual(process.wait(DEADLINE_SECONDS), 5)
            self.assertEqual(heard.read_text(), each.name)
            self.assertEqual(self.leftovers(), [])

    def test_a_program_that_a_signal_ends(self):
        ready = self.folder / "ready"
        process = self.start("sh", "-c", f"printf ready > {ready}; exec sleep 60")
        self.wait_for(ready, "ready")
        process.terminate()
        self.assertEqual(process.wait(DEADLINE_SECONDS), 128 + signal.SIGTERM)
        self.assertEqual(self.leftovers(), [])

    def test_a_signal_that_is_ignored_stays_ignored(self):
        heard = self.folder / "heard"
        process = self.start("sh", "-c", f"printf ready > {heard}; sleep 0.5; printf survived > {heard}",
                             preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.wait_for(heard, "ready")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(DEADLINE_SECONDS), 0)
        self.assertEqual(heard.read_text(), "survived")

    def test_the_program_ends_with_us(self):
        heard = self.folder / "heard"
        process = self.start(sys.executable, "-c", LISTENER, heard, 1)
        self.wait_for(heard, "ready")
        process.kill()
        process.wait(DEADLINE_SECONDS)
        self.wait_for(heard, "SIGTERM")

    def test_the_terminal_belongs_to_the_program(self):
        heard = self.folder / "heard"
        fleet = self.fleet()
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(PROGRAM, [str(PROGRAM), "run", "--fleet", str(fleet), "--", sys.executable, "-c",
                                "import sys; assert sys.stdin.isatty()\n" + LISTENER, str(heard), "1"], self.environment)
        try:
            self.wait_for(heard, "ready")
            os.write(terminal, b"\x03")  # ^C goes to both of us, and the program gets it once
            _, status = os.waitpid(pid, 0)
        finally:
            os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(status), 5)
        self.assertEqual(heard.read_text(), "SIGINT")


if __name__ == "__main__":
    require_program()
    unittest.main()
