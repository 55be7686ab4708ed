#!/usr/bin/env python3
"""`berth up --world local --device-metrics` on simulated GPUs: the figures of each GPU and MIG instance in the names of
dcgm-exporter, as Prometheus and a board made for it read them."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

import local_up
from local_up import DEADLINE_SECONDS, ROOT, wait_until

local_up.require_simulator()
sys.path.insert(0, str(ROOT / "scripts/detail"))
from observe_tools import find_tool, why_missing  # noqa: E402: found by the line above

FOUR_H100 = "[{gpu: H100-80GB-SXM5, count: 2, mig: false}, {gpu: H100-80GB-SXM5, count: 2, mig: true}]"
WHOLE_COMPUTE_INSTANCE = 2  # the id of the profile with all slices of a 3g instance
GPU_LABELS = ["DCGM_FI_DRIVER_VERSION", "UUID", "device", "gpu", "hostname", "modelName", "pci_bus_id"]
# What the panels of Grafana's board 12239 ask for, with all values of its variables, and which of four GPUs answer.
BOARD_QUERIES = {
    'DCGM_FI_DEV_GPU_TEMP{instance=~".*", gpu=~".*"}': "0123",
    'avg(DCGM_FI_DEV_GPU_TEMP{instance=~".*", gpu=~".*"})': None,
    'DCGM_FI_DEV_POWER_USAGE{instance=~".*", gpu=~".*"}': "0123",
    'sum(DCGM_FI_DEV_POWER_USAGE{instance=~".*", gpu=~".*"})': None,
    'DCGM_FI_DEV_SM_CLOCK{instance=~".*", gpu=~".*"} * 1000000': "0123",
    'DCGM_FI_DEV_GPU_UTIL{instance=~".*", gpu=~".*"}': "01",
    'DCGM_FI_DEV_FB_USED{instance=~".*", gpu=~".*"}': "0123",
    'DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{instance=~".*", gpu=~".*"}': "0123",
}


def fetch(url):
    """Status, content type and text."""
    try:
        with urllib.request.urlopen(url, timeout=DEADLINE_SECONDS) as reply:
            return reply.status, reply.headers["Content-Type"], reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read().decode()


def samples_of(text):
    """(name, labels, value) of each line."""
    samples = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        samples.append((name, dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels or "")), float(value)))
    return samples


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class DeviceMetrics(local_up.Case):
    def monitored(self, machine, *words):
        """A `berth up` that serves the figures, once they are complete."""
        up = self.local(machine, "--device-metrics", "127.0.0.1:0", *words)
        self.url = up.lines("device_metrics")[0]["url"]
        return up

    def samples(self, name, **labels):
        status, _, text = fetch(self.url)
        self.assertEqual(status, 200)
        return [(found, value) for each, found, value in samples_of(text)
                if each == name and all(found.get(label) == wanted for label, wanted in labels.items())]

    def value(self, name, **labels):
        """Of the only sample; None: there is none."""
        found = self.samples(name, **labels)
        self.assertLessEqual(len(found), 1, found)
        return found[0][1] if found else None

    def divide(self, machine, gpu):
        """Makes two 3g instances with their MIG devices; their UUIDs."""
        nvml = self.client_of(machine)
        for start in (0, 4):
            code, _ = nvml.create_compute_instance(self.create(nvml, gpu, start), WHOLE_COMPUTE_INSTANCE)
            self.assertEqual(code, 0)
        return [each["uuid"] for instance in machine.show()[gpu]["gpu_instances"] for each in instance["compute_instances"]]

    def four_gpus(self):
        """Two GPUs without MIG, two with it, the last of which is divided; load on each."""
        machine = self.machine(FOUR_H100)
        devices = self.divide(machine, 3)
        uuids = machine.uuids()
        machine.do("load", "--uuid", uuids[0], "--graphics", 80, "--tensor", 40, "--dram", 20, "--temperature", 66,
                   "--power", 500)
        machine.do("load", "--uuid", devices[0], "--graphics", 70, "--tensor", 35, "--dram", 7)
        machine.do("process", "add", "--uuid", devices[0], "--pid", 4711, "--memory-mib", 1000)
        return machine, uuids, devices

    def test_every_gpu_and_instance_has_its_figures(self):
        machine, uuids, devices = self.four_gpus()
        up = self.monitored(machine)
        wait_until(lambda: len(self.samples("DCGM_FI_PROF_GR_ENGINE_ACTIVE")) == 6, "activity of 4 GPUs and 2 instances")
        status, kind, text = fetch(self.url)
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4; charset=utf-8"))
        temperatures = self.samples("DCGM_FI_DEV_GPU_TEMP")
        self.assertEqual([sorted(labels) for labels, _ in temperatures], [GPU_LABELS] * 4)
        self.assertEqual([labels["gpu"] for labels, _ in temperatures], list("0123"))
        self.assertEqual([labels["UUID"] for labels, _ in temperatures], uuids)
        first = temperatures[0][0]
        self.assertEqual((first["device"], first["modelName"], first["DCGM_FI_DRIVER_VERSION"], first["hostname"]),
                         ("nvidia0", "NVIDIA H100 80GB HBM3", "580.95.05", socket.gethostname()))
        self.assertEqual(temperatures[0][1], 66)
        self.assertEqual(self.value("DCGM_FI_DEV_POWER_USAGE", gpu="0"), 500)
        self.assertEqual(self.value("DCGM_FI_DEV_GPU_UTIL", gpu="0"), 80)
        self.assertEqual(len(self.samples("DCGM_FI_DEV_GPU_UTIL")), 2, "NVML has none for GPUs in MIG mode")
        self.assertEqual(self.value("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", gpu="0"), 0.4)
        self.assertEqual(self.value("DCGM_FI_PROF_DRAM_ACTIVE", gpu="0"), 0.2)
        mib = 1 << 20
        self.assertEqual(self.value("DCGM_FI_PROF_PCIE_TX_BYTES", gpu="0"), 80 * 40 * mib)
        self.assertEqual(self.value("DCGM_FI_PROF_PCIE_RX_BYTES", gpu="3"), 30 * 80 * mib, "of the whole GPU only")
        wait_until(lambda: len(self.samples("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL")) == 2, "those without MIG")
        self.assertEqual(self.value("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", gpu="0"), 0)
        self.assertEqual([value for _, value in self.samples("DCGM_FI_DEV_VGPU_LICENSE_STATUS")], [0] * 4)
        used = [(labels["GPU_I_ID"], labels["GPU_I_PROFILE"], value)
                for labels, value in self.samples("DCGM_FI_DEV_FB_USED", gpu="3") if "GPU_I_ID" in labels]
        self.assertEqual(used, [("1", "3g.40gb", 1000), ("2", "3g.40gb", 0)])
        self.assertEqual(self.value("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu="3", GPU_I_ID="1"), 0.7)
        whole = [value for labels, value in self.samples("DCGM_FI_PROF_GR_ENGINE_ACTIVE", gpu="3")
                 if "GPU_I_ID" not in labels]
        self.assertEqual(whole, [0.3], "70 % of three of seven compute slices")
        before = self.value("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", gpu="0")
        wait_until(lambda: self.value("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", gpu="0") >= before + 400_000,
                   "more energy: 500 W for a second are 500,000 mJ")
        self.assertIn("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter", text)
        self.assertEqual(up.gpu(0)["measured"]["temperature_celsius"], 66, "as before")
        self.assertEqual(up.end(), 0)
        self.assertEqual(machine.changing_calls(), [0, 0, 0, 4], "those of the test")

    def test_promtool_and_board_12239(self):
        prometheus, promtool = find_tool("prometheus"), find_tool("promtool")
        if not prometheus or not promtool:
            self.skipTest(why_missing("prometheus"))
        machine, _, _ = self.four_gpus()
        up = self.monitored(machine)
        machine.do("fault", "--gpu", 2, "--xid", 31)
        wait_until(lambda: len(self.samples("DCGM_FI_PROF_GR_ENGINE_ACTIVE")) == 6, "activity")
        wait_until(lambda: self.samples("berth_xid_total"), "an XID")
        text = fetch(self.url)[2]
        checked = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True,
                                 timeout=DEADLINE_SECONDS)
        remarks = checked.stdout + checked.stderr
        self.assertIn(checked.returncode, (0, 3), remarks)  # 3: readable, with remarks on names
        for remark in remarks.splitlines():
            self.assertRegex(remark, r"^DCGM_\w+ ", "the names are dcgm-exporter's")
        self.prometheus = f"http://127.0.0.1:{free_port()}"
        config = self.folder / "prometheus.yml"
        target = urllib.parse.urlsplit(self.url).netloc
        config.write_text("global: {scrape_interval: 1s}\n"
                          f"scrape_configs: [{{job_name: gpus, static_configs: [{{targets: ['{target}']}}]}}]\n")
        server = subprocess.Popen([prometheus, "--config.file", config, "--storage.tsdb.path", self.folder / "tsdb",
                                   "--web.listen-address", self.prometheus.removeprefix("http://")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (server.kill(), server.wait()))
        wait_until(lambda: self.is_up(), "a scrape")
        for query, gpus in BOARD_QUERIES.items():
            found = self.query(query)
            self.assertTrue(found, query)
            if gpus is not None:
                self.assertEqual({each["metric"]["gpu"] for each in found}, set(gpus), query)
        power = sum(value for _, value in self.samples("DCGM_FI_DEV_POWER_USAGE"))
        total = self.query('sum(DCGM_FI_DEV_POWER_USAGE{instance=~".*", gpu=~".*"})')
        self.assertEqual(float(total[0]["value"][1]), power, "each GPU once")
        self.assertEqual(up.end(), 0)

    def query(self, text):
        url = f"{self.prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": text})
        with urllib.request.urlopen(url, timeout=DEADLINE_SECONDS) as reply:
            return json.loads(reply.read())["data"]["result"]

    def is_up(self):
        try:
            return any(each["value"][1] == "1" for each in self.query("up"))
        except OSError:
            return False

    def test_a_gpu_that_hangs_holds_up_no_other(self):
        machine = self.machine(FOUR_H100)
        uuids = machine.uuids()
        up = self.monitored(machine)
        wait_until(lambda: len(self.samples("DCGM_FI_DEV_GPU_TEMP")) == 4, "figures")
        machine.do("fault", "--gpu", 1, "--call", "nvmlDeviceGetTotalEnergyConsumption", "--ms", 600_000)
        wait_until(lambda: not self.samples("DCGM_FI_DEV_GPU_TEMP", gpu="1"), "old figures are gone")
        for degrees in (70, 71):
            machine.do("load", "--uuid", uuids[0], "--temperature", degrees)
            began = time.monotonic()
            wait_until(lambda: self.value("DCGM_FI_DEV_GPU_TEMP", gpu="0") == degrees, "the newest")
            took = time.monotonic() - began
        print(f"while another GPU hangs, a figure is new after {took:.2f} s")
        self.assertLess(took, 10, "wanted 1 s; more only where much else runs")
        self.assertEqual(len(self.samples("DCGM_FI_DEV_GPU_TEMP")), 3)
        machine.do("fault", "--gpu", 1, "--clear")
        wait_until(lambda: self.samples("DCGM_FI_DEV_GPU_TEMP", gpu="1"), "it answers again")
        self.assertEqual(up.end(), 0)

    def test_what_the_driver_does_not_say_has_no_sample(self):
        machine = self.machine("[{gpu: A100-80GB, mig: false}, {gpu: T4}]")
        up = self.monitored(machine)
        wait_until(lambda: len(self.samples("DCGM_FI_DEV_POWER_USAGE")) == 2, "figures")
        for call in ("nvmlDeviceGetPowerUsage", "nvmlDeviceGetMemoryInfo"):
            machine.do("fault", "--gpu", 0, "--call", call, "--error", "NOT_SUPPORTED", "--times", 1_000_000)
        for name in ("DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_FB_USED"):
            wait_until(lambda: [labels["gpu"] for labels, _ in self.samples(name)] == ["1"], f"without {name}")
        self.assertEqual(len(self.samples("DCGM_FI_DEV_GPU_TEMP")), 2)
        self.assertEqual(set(re.findall(r"DCGM_FI_PROF_\w+", fetch(self.url)[2])),
                         {"DCGM_FI_PROF_PCIE_TX_BYTES", "DCGM_FI_PROF_PCIE_RX_BYTES"}, "neither model has GPM")
        self.assertEqual(up.end(), 0)

    def test_xids_are_counted_and_a_lost_gpu_has_no_figures(self):
        machine = self.machine("[{gpu: H100-80GB-SXM5, count: 2, mig: false}]")
        up = self.monitored(machine)
        wait_until(lambda: len(self.samples("DCGM_FI_DEV_XID_ERRORS")) == 2, "GPUs")
        self.assertEqual(self.value("DCGM_FI_DEV_XID_ERRORS", gpu="0"), 0)
        machine.do("fault", "--gpu", 0, "--xid", 31, "--times", 3)
        uuid = machine.uuids()[0]
        wait_until(lambda: self.samples("berth_xid_total") == [({"UUID": uuid, "xid": "31"}, 3)], "three")
        self.assertEqual(self.value("DCGM_FI_DEV_XID_ERRORS", gpu="0"), 31)
        machine.do("fault", "--gpu", 0, "--xid", 79)
        wait_until(lambda: not self.samples("DCGM_FI_DEV_GPU_TEMP", gpu="0"), "nothing of a lost GPU")
        self.assertEqual(self.value("berth_xid_total", xid="79"), 1)
        self.assertEqual(len(self.samples("DCGM_FI_DEV_GPU_TEMP", gpu="1")), 1)
        self.assertEqual(up.end(), 0)

    def test_the_label_of_the_machine_can_have_its_old_name(self):
        config = self.folder / "berth.yaml"
        config.write_text("device_metrics: {listen: '127.0.0.1:0', hostname_label: Hostname}\n")
        up = self.local(self.machine(), "--config", config)
        self.url = up.lines("device_metrics")[0]["url"]
        labels, _ = wait_until(lambda: self.samples("DCGM_FI_DEV_GPU_TEMP"), "figures")[0]
        self.assertIn("Hostname", labels)
        self.assertNotIn("hostname", labels)
        self.assertEqual(fetch(self.url.removesuffix("metrics"))[0], 404)
        self.assertEqual(fetch(urllib.request.Request(self.url, data=b"{}"))[0], 405)
        self.assertEqual(up.end(), 0)

    def test_without_gpus_there_is_nothing_to_show(self):
        up = self.start("--world", "local", "--nvml", "/nowhere/libnvidia-ml.so.1", "--device-metrics", "127.0.0.1:0").ready()
        self.assertEqual(fetch(up.lines("device_metrics")[0]["url"])[::2], (200, ""))
        self.assertEqual(up.end(), 0)

    def test_a_wrong_world_or_address_is_refused(self):
        for words in ((), ("--world", "simulated")):
            self.assertEqual(self.refused(*words, "--device-metrics", "127.0.0.1:9400"), "berth: --device-metrics: wanted "
                             "the GPUs of this machine (--world local), found a simulated world")
        self.assertIn("--device-metrics: wanted a loopback address",
                      self.refused("--world", "local", "--device-metrics", "0.0.0.0:9400"))
        self.assertIn("--device-metrics: wanted HOST:PORT such as 127.0.0.1:9400",
                      self.refused("--world", "local", "--device-metrics", "9400"))
        self.assertFalse(os.path.exists(self.data))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            up = self.start("--world", "local", "--nvml", local_up.LIBRARY, "--device-metrics", address,
                            machine=self.machine())
            self.assertEqual(up.process.wait(DEADLINE_SECONDS), 1)
            up.process.stdout.close()
            self.assertIn(address, up.stderr())


if __name__ == "__main__":
    unittest.main()
