#!/usr/bin/env python3
"""`berth up --world local` on simulated machines: what it finds, what it shows, what it says where there is nothing; and
that no GPU gets a call that could change it."""

import getpass
import shutil
import signal
import subprocess
import time
import unittest

import local_up
from local_up import DEADLINE_SECONDS, LIBRARY, PROGRAM, SCENARIO, wait_until

local_up.require_simulator()

from simulated import SUCCESS  # noqa: E402: found by local_up


class Local(local_up.Case):
    # ---- nothing there

    def check_empty(self, up, reason):
        self.assertEqual(up.send("GET", "healthz")[0], 200)
        self.assertEqual((up.items("gpus"), up.items("services")), ([], []))
        devices = up.get("v1/status")["devices"]
        self.assertEqual(devices["gpus"], 0)
        self.assertIn(reason, devices["reason"])
        self.assertIn(reason, up.lines("devices")[0]["reason"])
        self.assertEqual(up.client("get", "gpus"), (0, "berth: there are no gpus\n"))
        self.assertEqual(up.end(), 0)

    def test_no_library(self):
        up = self.start("--world", "local", "--nvml", "/nowhere/libnvidia-ml.so.1").ready()
        self.check_empty(up, "/nowhere/libnvidia-ml.so.1: ")

    def test_a_file_that_is_no_library(self):
        path = self.write_scenario()
        self.check_empty(self.start("--world", "local", "--nvml", path).ready(), str(path))

    def test_no_driver(self):
        up = self.start("--world", "local", "--nvml", LIBRARY).ready()
        self.check_empty(up, "nvmlInit_v2 answered NVML_ERROR_DRIVER_NOT_LOADED")

    def test_no_gpu_that_can_be_read(self):
        machine = self.machine()
        for gpu in (0, 1):
            machine.do("fault", "--gpu", gpu, "--lost")
        up = self.local(machine)
        self.assertIn("NVML_ERROR_GPU_IS_LOST", up.lines("warning")[0]["message"])
        self.check_empty(up, "the library lists no GPU that can be read")

    def test_a_library_without_a_function(self):
        library = PROGRAM.parent / "tests/libberth-nvml-two-missing.so"
        if not library.exists():
            self.skipTest(f"{library} is not built")
        message = self.refused("--world", "local", "--nvml", library, machine=self.machine())
        self.assertIn("found a library without nvmlDeviceGetGpuInstances, nvmlDeviceGetMigMode", message)
        self.assertFalse((self.data / "journal.db").exists())

    def test_auto(self):
        machine = self.machine()
        up = self.start("--world", "auto", "--nvml", LIBRARY, machine=machine).ready()
        self.assertEqual((up.get("v1/status")["world"], up.lines("world")[0]["world"]), ("local", "local"))
        self.assertEqual(up.end(), 0)
        up = self.start("--world", "auto", "--nvml", LIBRARY, data=self.folder / "other").ready()
        self.assertEqual((up.get("v1/status")["world"], up.lines("world")[0]["world"]), ("simulated", "simulated"))
        self.assertIn("NVML_ERROR_DRIVER_NOT_LOADED", up.lines("devices")[0]["reason"])
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])

    # ---- what is there

    def test_every_kind_of_machine(self):
        for number, fleet in enumerate([
                "[{gpu: A100-80GB, count: 2}]", "[{gpu: H200}]", "[{gpu: A30}]", "[{gpu: RTX}]", "[{gpu: T4}]",
                "[{gpu: A100-40GB, mig: false}, {gpu: T4, count: 2}, {gpu: H100-80GB-SXM5}]"]):
            with self.subTest(fleet):
                self.folder = self.folder / str(number)
                self.folder.mkdir()
                machine = self.machine(fleet)
                up = self.local(machine, data=self.folder / "data")
                shown = machine.show()
                gpus = [gpu["status"] for gpu in up.items("gpus")]
                self.assertEqual([gpu["model"] for gpu in gpus], [gpu["model"] for gpu in shown])
                for gpu, device in zip(gpus, shown):
                    self.assertEqual((gpu["uuid"], gpu["differences"], gpu["health"]), (device["uuid"], [], "ok"))
                    self.assertEqual((gpu["managed"], gpu["scheduling"]), (False, "cordoned"))
                    self.assertEqual(gpu["scheduling_reason"], "observed: " + gpu["managed_reason"])
                    mode = {True: "enabled", False: "disabled"}[device["mig"]["current"]] if gpu["units"] > 1 else None
                    self.assertEqual(gpu["mig"] and gpu["mig"]["current"], mode)
                self.assertEqual([name for name, _ in up.events("GpuSeen")],
                                 [f"gpu-{index}" for index in range(len(shown))])
                self.assertIn(f"{gpus[0]['uuid']}, ", up.events("GpuSeen")[0][1])
                self.assertIn(f", model {shown[0]['model']}", up.events("GpuSeen")[0][1])
                status, text = up.client("get", "gpus", "-o", "wide")
                self.assertEqual(status, 0)
                self.assertIn(gpus[0]["uuid"], text)
                self.assertEqual(up.client("describe", "gpu", "gpu-0")[0], 0)
                self.assertEqual(up.end(), 0)
                self.assertEqual(set(machine.changing_calls()), {0})

    def test_what_others_make_comes_and_goes(self):
        machine = self.machine()
        nvml = self.client_of(machine)
        up = self.local(machine)
        self.assertEqual(up.slices(), [])
        began = time.monotonic()
        instance = self.create(nvml, 1, start=4)
        wait_until(lambda: up.slices() == [("gpu-1", "3g.40gb", 4, "foreign")], "shown as foreign")
        appeared = time.monotonic() - began
        wait_until(lambda: len(up.events("SliceForeign")) == 1, "an event")
        self.assertIn("foreign", up.client("describe", "gpu", "gpu-1")[1])
        began = time.monotonic()
        self.assertEqual(nvml.library.nvmlGpuInstanceDestroy(instance), SUCCESS)
        wait_until(lambda: up.slices() == [], "gone again")
        went = time.monotonic() - began
        print(f"what others make is shown after {appeared:.3f} s, and gone after {went:.3f} s")
        self.assertLess(max(appeared, went), 10, "wanted 2 s; more only where much else runs")
        wait_until(lambda: len(up.events("SliceGone")) == 1, "an event")
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 2], "ours")

    def test_a_process_on_a_whole_gpu_is_a_foreign_slice(self):
        machine = self.machine("[{gpu: A100-80GB, mig: false}, {gpu: T4}]")
        up = self.local(machine)
        for uuid in machine.uuids():
            machine.do("process", "add", "--uuid", uuid, "--pid", 4711, "--memory-mib", 100)
        wait_until(lambda: up.slices() == [("gpu-0", "full", 0, "foreign"), ("gpu-1", "full", 0, "foreign")], "shown")
        for uuid in machine.uuids():
            machine.do("process", "remove", "--uuid", uuid, "--pid", 4711)
        wait_until(lambda: up.slices() == [], "gone")
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])

    def test_a_gpu_that_others_use_does_not_look_empty(self):
        machine = self.machine("[{gpu: A100-80GB, mig: false}, {gpu: T4}, {gpu: A100-80GB}]")
        whole, _, divided = machine.uuids()
        up = self.local(machine)
        pid = self.process().pid
        machine.do("process", "add", "--uuid", whole, "--pid", pid, "--memory-mib", 61_000)
        machine.do("process", "add", "--uuid", whole, "--pid", 4_190_000, "--memory-mib", 400)  # no such process
        self.create(self.client_of(machine), 2, start=4)
        wait_until(lambda: [up.gpu(gpu)["allocated_units"] for gpu in range(3)] == [8, 0, 4], "used")
        wait_until(lambda: up.gpu(0)["measured"]["memory_used_mib"] == 61_400, "measured")
        measured = up.gpu(0)["measured"]
        self.assertEqual((measured["memory_total_mib"], measured["power_limit_watts"]), (81_920, 400))
        self.assertEqual(measured["sm_clock_mhz"], 1_410)
        for figure in ("utilization_percent", "temperature_celsius", "power_watts"):
            self.assertGreater(measured[figure], up.gpu(1)["measured"][figure], figure)
        self.assertIsNone(up.gpu(2)["measured"]["utilization_percent"], "as NVML says in MIG mode, not 0")
        first, second = up.gpu(0)["processes"]
        self.assertEqual((first["pid"], first["memory_mib"], first["user"]), (pid, 61_000, getpass.getuser()))
        self.assertEqual((second["pid"], second["user"], second["name"]), (4_190_000, None, None), "unknown")
        self.assertEqual(up.gpu(1)["processes"], [])
        self.assertEqual(up.gpu(1)["unprofiled_reason"], "no service has a profile for T4-16GB: none can run here")
        wait_until(lambda: (up.get("v1/status")["funnel"]["allocated"] or 0) > 0.1, "in the funnel")
        top = up.client("top", "--once")[1]
        self.assertRegex(top, r"gpu-0 +61,400 of 81,920 MiB +48 % +50 C +\d+ of 400 W +1,410 MHz +"
                              rf"{pid} \({getpass.getuser()}\), 4190000\n")
        self.assertRegex(top, r"gpu-0 +A100-80GB .* 100\.00%\n")
        self.assertRegex(top, r"Use +allocated [1-9]")
        self.assertIn("No service has a profile for A100-80GB, T4-16GB: none can run there.\n", top)
        described = up.client("describe", "gpu", "gpu-0")[1]
        self.assertRegex(described, r"Memory used mib: +61400\n")
        self.assertRegex(described, rf"{pid} +{getpass.getuser()} ")
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls()[:2], [0, 0])

    def process(self):
        """One of this user, that does nothing."""
        process = subprocess.Popen(["sleep", "600"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_a_lost_gpu_comes_back_after_a_reset(self):
        machine = self.machine()
        up = self.local(machine)
        machine.do("fault", "--gpu", 1, "--lost")
        wait_until(lambda: up.gpu(1)["health"] == "lost", "lost")
        self.assertIn("NVML_ERROR_GPU_IS_LOST", up.gpu(1)["health_reason"])
        self.assertEqual((up.gpu(0)["health"], up.gpu(1)["mig"]), ("ok", None))
        machine.do("reset", "--gpu", 1)
        wait_until(lambda: up.gpu(1)["health"] == "ok", "back")
        wait_until(lambda: (len(up.events("GpuLost")), len(up.events("GpuReturned"))) == (1, 1), "events")
        self.assertEqual((up.gpu(1)["scheduling"], up.gpu(1)["mig"]["current"]), ("cordoned", "enabled"))
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])

    def test_xids_and_recovery_actions_are_events_also_after_a_restart(self):
        machine = self.machine()
        up = self.local(machine)
        machine.do("fault", "--gpu", 0, "--xid", 63)
        wait_until(lambda: up.events("GpuXid") == [("gpu-0", "XID 63")], "an event")
        machine.do("fault", "--gpu", 1, "--xid", 95)
        wait_until(lambda: up.events("GpuRecoveryAction"), "an event")
        action = up.gpu(1)["recovery_action"]
        self.assertEqual(up.events("GpuRecoveryAction"), [("gpu-1", action)])
        self.assertNotEqual(action, "none")
        before = up.events()
        wait_until(lambda: up.get("v1/overview")["last_event"] >= before[-1]["sequence"], "recorded")
        self.assertEqual(up.end(signal.SIGKILL), -signal.SIGKILL)
        up = self.local(machine)
        self.assertEqual(up.events()[:len(before)], before)
        self.assertEqual(len(up.events("GpuRecoveryAction")), 1, "known already")
        self.assertEqual(up.end(), 0)

    def test_a_gpu_whose_driver_hangs_holds_up_nobody(self):
        machine = self.machine()
        up = self.local(machine)
        machine.do("fault", "--gpu", 0, "--call", "nvmlDeviceGetMigMode", "--ms", 600_000, "--times", 1000)
        machine.do("fault", "--gpu", 1, "--lost")
        wait_until(lambda: up.gpu(1)["health"] == "lost", "lost, while the other hangs")
        self.assertEqual(up.send("GET", "healthz")[0], 200)
        wait_until(lambda: "has not answered" in "".join(up.gpu(0)["differences"]), "said")
        machine.do("fault", "--gpu", 0, "--clear")
        wait_until(lambda: up.gpu(0)["differences"] == [], "as before")
        machine.do("fault", "--gpu", 0, "--call", "nvmlDeviceGetMigMode", "--ms", 600_000, "--times", 1000)
        time.sleep(1.2)  # it is read once a second
        self.assertEqual(up.end(), 0, "also while it hangs")
        self.assertEqual(machine.changing_calls(), [0, 0])

    # ---- scenarios and services

    def test_the_fleet_of_a_scenario_must_be_the_machines(self):
        scenario = self.write_scenario()
        words = ("--world", "local", "--nvml", LIBRARY, "--scenario", scenario)
        one = local_up.Machine(self.folder, "[{gpu: A100-80GB}]")
        self.assertIn("fleet: wanted the 1 GPUs of this machine, found 2", self.refused(*words, machine=one))
        (self.folder / "other").mkdir()
        other = local_up.Machine(self.folder / "other", "[{gpu: A100-80GB}, {gpu: T4}]")
        self.assertIn(f"fleet: gpu-1: wanted T4-16GB, which this machine has there ({other.uuids()[1]}), found A100-80GB",
                      self.refused(*words, machine=other))
        self.assertFalse((self.data / "journal.db").exists())

    def test_without_load_nothing_is_known_of_services(self):
        machine = self.machine()
        up = self.local(machine, "--scenario", self.write_scenario())
        wait_until(lambda: up.get("v1/overview")["status"]["steps"]["count"] > 1, "some seconds")
        service = up.items("services")[0]["status"]
        self.assertEqual((service["phase"], service["load"], service["last_minute"]), ("Waiting", None, None))
        self.assertEqual(service["conditions"][0]["reason"], "NoOpenGpu")
        status = up.get("v1/status")
        self.assertEqual((status["load"], status["goodput"], status["speed"]), (None, None, 1))
        self.assertEqual((status["funnel"]["busy"], status["funnel"]["effective"]), (None, None))
        for point in up.get("v1/series")["items"]:
            self.assertEqual((point["requests"], point["busy"]), (None, None))
        text = up.client("get", "services")[1]
        self.assertRegex(text, r"LOAD +REQUESTS/MIN")
        self.assertRegex(text, r"unknown +- ")
        self.assertIn("Load     unknown", up.client("top", "--once")[1])
        self.assertEqual(up.slices(), [])
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])
        status, text = up.client("journal", "scenario", self.data, "-o", self.folder / "past")
        self.assertEqual(status, 2)
        self.assertIn("services on real GPUs have requests only while their load is simulated", text)

    def test_simulated_load_is_said_to_be_simulated(self):
        machine = self.machine()
        up = self.local(machine, "--scenario", self.write_scenario(), "--load", "simulated", "--speed", "10")
        wait_until(lambda: up.items("services")[0]["status"]["last_minute"], "figures")
        service = up.items("services")[0]["status"]
        self.assertEqual((service["load"], service["phase"]), ("simulated", "Waiting"))
        self.assertGreater(service["last_minute"]["requests"], 0)
        self.assertRegex(up.client("get", "services")[1], r"simulated +[0-9]")
        self.assertIn("Load     simulated", up.client("top", "--once")[1])
        self.assertEqual(up.slices(), [], "no plan counts on GPUs that are only observed")
        self.assertEqual(up.end(), 0)
        up = self.local(machine)
        self.assertIsNone(up.items("services")[0]["status"]["last_minute"], "what was simulated is over")
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])

    def test_a_fixed_layout_waits_for_gpus_that_may_be_changed(self):
        layout = "layout: [{gpu: 0, slices: [{profile: 3g.40gb, start: 4, service: detector}]}]\n"
        machine = self.machine()
        scenario = self.write_scenario(SCENARIO.replace("services:", layout + "services:"))
        up = self.local(machine, "--scenario", scenario, "--policy", "fixed")
        wait_until(lambda: up.get("v1/status")["steps"]["count"] > 1, "some seconds")
        self.assertEqual(up.slices(), [])
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])

    def test_words_that_do_not_fit(self):
        machine = self.machine()
        for words, part in [(("--speed", "max"), "--speed: wanted a number"), (("--speed", "2"), "--speed: wanted 1"),
                            (("--load", "real"), "--load: wanted simulated")]:
            self.assertIn(part, self.refused("--world", "local", "--nvml", LIBRARY, *words, machine=machine))
        self.assertIn("--nvml: wanted --world local or auto", self.refused("--nvml", LIBRARY))
        self.assertIn("--world: wanted simulated, local or auto", self.refused("--world", "lokal"))

    def test_the_page_says_what_is_real(self):
        chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        if chromium is None:
            self.skipTest("no chromium, chromium-browser or google-chrome on the path")
        machine = self.machine()
        for words, load in (((), "load unknown"), (("--load", "simulated"), "simulated load")):
            up = self.local(machine, *words)
            page = subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                 "--disable-background-networking", f"--user-data-dir={self.folder / 'profile'}",
                 "--virtual-time-budget=5000", "--dump-dom", f"{up.url}#{up.key}"],
                capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True).stdout
            self.assertIn('data-state="drawn"', page)
            self.assertNotIn("data-error", page.split(">", 2)[1])
            self.assertIn(f"<span>local GPUs, only observed</span><span>{load}</span>", page)
            self.assertIn(">observed \u00b7 </span>", page)
            self.assertEqual(up.end(), 0)

    # ---- what is refused

    def test_observed_gpus_are_left_alone(self):
        machine = self.machine()
        up = self.local(machine)
        reason = {"reason": "why not"}
        for path, body in (("v1/gpus/gpu-0/uncordon", {}), ("v1/gpus/gpu-0/drain", reason), ("v1/nodes/node-0/drain", reason),
                           ("v1/nodes/node-0/uncordon", {})):
            status, answer = up.send("POST", path, body)
            self.assertEqual((status, answer["error"]["code"]), (409, "not_managed"), path)
        status, answer = up.send("POST", "v1/sim/faults", {"kind": "lose", "gpu": "gpu-0"})
        self.assertEqual((status, answer["error"]["code"]), (409, "not_simulated"))
        self.assertEqual(up.client("uncordon", "gpu-0")[0], 5)
        self.assertEqual(up.client("sim", "fault", "lose", "gpu-0")[0], 5)
        # People may cordon for reasons of their own, which stay.
        self.assertEqual(up.send("POST", "v1/gpus/gpu-0/cordon", {"reason": "a noisy fan"})[0], 200)
        self.assertEqual(up.end(), 0)
        up = self.local(machine)
        self.assertEqual((up.gpu(0)["scheduling_reason"], up.gpu(0)["managed"]), ("a noisy fan", False))
        self.assertEqual(up.send("POST", "v1/gpus/gpu-0/uncordon", {})[0], 409)
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0])

    # ---- starts again

    def test_a_folder_keeps_its_kind_of_world(self):
        machine = self.machine()
        self.assertEqual(self.local(machine).end(), 0)
        self.assertIn("--world: wanted local, with which the world of", self.refused("--world", "simulated"))
        other = self.folder / "other"
        self.assertEqual(self.start(data=other).ready().end(), 0)
        self.assertIn("--world: wanted simulated, with which the world of",
                      self.refused("--world", "local", "--nvml", LIBRARY, machine=machine, data=other))
        up = self.start("--world", "auto", "--nvml", LIBRARY, machine=machine, data=other).ready()
        self.assertEqual(up.get("v1/status")["world"], "simulated")
        self.assertEqual(up.end(), 0)

    def test_it_goes_on_after_a_kill(self):
        machine = self.machine()
        nvml = self.client_of(machine)
        self.create(nvml, 0)
        up = self.local(machine)
        self.assertEqual(up.slices(), [("gpu-0", "3g.40gb", 0, "foreign")])
        time.sleep(0.5)  # so that it is recorded
        before = up.events()
        self.assertEqual(up.end(signal.SIGKILL), -signal.SIGKILL)
        up = self.local(machine)
        self.assertEqual(up.slices(), [("gpu-0", "3g.40gb", 0, "foreign")])
        self.assertEqual(up.events()[:len(before)], before)
        self.assertEqual(len(up.events("GpuSeen")), 2, "each once")
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [1, 0], "ours")

    def test_a_reboot_takes_all_instances(self):
        machine = self.machine()
        nvml = self.client_of(machine)
        self.create(nvml, 0)
        up = self.local(machine)
        self.assertEqual(len(up.slices()), 1)
        machine.do("reset", "--reboot")
        wait_until(lambda: up.slices() == [], "gone")
        self.assertEqual(up.gpu(0)["health"], "ok")
        self.assertEqual(up.end(), 0)
        self.create(self.client_of(machine), 1, start=4)
        self.assertEqual(self.local(machine, data=self.data).slices(), [("gpu-1", "3g.40gb", 4, "foreign")])

    def test_a_start_without_the_gpus_of_the_folder(self):
        machine = self.machine()
        self.assertEqual(self.local(machine).end(), 0)
        up = self.start("--world", "local", "--nvml", LIBRARY).ready()  # no driver
        self.assertEqual([gpu["status"]["health"] for gpu in up.items("gpus")], ["lost", "lost"])
        self.assertIn("is not in this machine: ", up.gpu(0)["health_reason"])
        self.assertIn("NVML_ERROR_DRIVER_NOT_LOADED", up.gpu(0)["health_reason"])
        self.assertEqual(up.send("GET", "healthz")[0], 200)
        self.assertEqual(up.end(), 0)
        (self.folder / "one").mkdir()
        up = self.local(local_up.Machine(self.folder / "one", "[{gpu: A100-80GB}, {gpu: T4}]"))
        self.assertEqual([gpu["status"]["health"] for gpu in up.items("gpus")], ["ok", "lost"])
        self.assertIn("is in this machine and not in the world of this folder", up.stderr())
        self.assertEqual(up.end(), 0)
        up = self.local(machine)
        self.assertEqual([gpu["status"]["health"] for gpu in up.items("gpus")], ["ok", "ok"])
        self.assertEqual(up.end(), 0)


if __name__ == "__main__":
    unittest.main()
