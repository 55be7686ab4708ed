#!/usr/bin/env python3
"""`berth export opencost` as a program reads it that was written for OpenCost: opencost-parquet-exporter.

The exporter itself runs where BERTH_OPENCOST_EXPORTER names the folder `src` of a checkout of
github.com/opencost/opencost-parquet-exporter and this Python has what its requirements.txt lists; that part is skipped elsewhere.
"""

import contextlib
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
EXPORTER = os.environ.get("BERTH_OPENCOST_EXPORTER", "")
EVENTS = ROOT / "examples/ledger/week.jsonl"
MONTH = "2026-11"
DEADLINE_SECONDS = 60
HOURS_OF_MONTH = 30 * 24

# What the exporter converts to float, and fails without: src/data_types.json at its revision 13fcda6, with the names that the
# fields have before src/rename_cols.json is applied.
NUMBERS = """
    cpuCoreHours cpuCoreRequestAverage cpuCoreUsageAverage cpuCores cpuCost cpuCostAdjustment cpuEfficiency externalCost gpuCost
    gpuCostAdjustment gpuCount gpuHours loadBalancerCost loadBalancerCostAdjustment networkCost networkCostAdjustment
    networkCrossRegionCost networkCrossZoneCost networkInternetCost networkReceiveBytes networkTransferBytes pvByteHours pvBytes
    pvCost pvCostAdjustment ramByteHours ramByteRequestAverage ramByteUsageAverage ramBytes ramCost ramCostAdjustment
    ramEfficiency minutes sharedCost totalCost totalEfficiency
""".split()
# The number fields of AllocationJSON in core/pkg/opencost/allocation_json.go of github.com/opencost/opencost that no list above
# has. It has gpuEfficiency, too, which the ledger does not know.
MORE_NUMBERS = ["cpuCoreLimitAverage", "cpuCostIdle", "gpuCostIdle", "ramByteLimitAverage", "ramCostIdle"]
NOT_ZERO = {"gpuCount", "gpuHours", "gpuCost", "totalCost", "minutes"}
ADDENDS = ["cpuCost", "gpuCost", "ramCost", "pvCost", "networkCost", "loadBalancerCost", "sharedCost", "externalCost",
           "cpuCostAdjustment", "gpuCostAdjustment", "ramCostAdjustment", "pvCostAdjustment", "networkCostAdjustment",
           "loadBalancerCostAdjustment"]


def missing_parts():
    """Why the exporter cannot run here; empty if it can."""
    if not EXPORTER:
        return "BERTH_OPENCOST_EXPORTER names no checkout of opencost-parquet-exporter"
    run = subprocess.run([sys.executable, "-c", "import opencost_parquet_exporter, pyarrow"], cwd=EXPORTER, capture_output=True,
                         text=True, timeout=DEADLINE_SECONDS, check=False)
    return "" if run.returncode == 0 else f"the exporter cannot be imported: {run.stderr.splitlines()[-1]}"


WHY_SKIPPED = missing_parts()


@contextlib.contextmanager
def serving(answer):
    """Answers every GET with these bytes, as OpenCost answers /allocation/compute; gives the port."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class OpencostReader(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def exported(self, *more):
        out = self.folder / "allocation.json"
        run = subprocess.run([PROGRAM, "export", "opencost", "--events", EVENTS, "--month", MONTH, "--out", out, *more],
                             capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return out.read_bytes()

    def test_every_allocation_has_every_number(self):
        for level in ("tenant", "service", "role"):
            for name, allocation in json.loads(self.exported("--by", level))["data"][0].items():
                for field in NUMBERS + MORE_NUMBERS:
                    self.assertIn(type(allocation.get(field)), (int, float), f"{name}: {field}")
                self.assertEqual([field for field in NUMBERS + MORE_NUMBERS if field not in NOT_ZERO and allocation[field] != 0], [])
                self.assertNotIn("gpuEfficiency", allocation, "it is not known")

    def test_the_numbers_agree_as_those_of_opencost_do(self):
        for allocation in json.loads(self.exported())["data"][0].values():
            self.assertAlmostEqual(sum(allocation[field] for field in ADDENDS), allocation["totalCost"], 6)
            self.assertEqual(allocation["minutes"], HOURS_OF_MONTH * 60)
            self.assertAlmostEqual(allocation["gpuCount"] * HOURS_OF_MONTH, allocation["gpuHours"], 5)

    @unittest.skipIf(WHY_SKIPPED, WHY_SKIPPED)
    def test_the_exporter_writes_a_parquet_file_of_it(self):
        import pandas  # pylint: disable=import-outside-toplevel
        for level in ("tenant", "service", "role"):
            answer = self.exported("--by", level)
            with serving(answer) as port:
                run = subprocess.run(
                    [sys.executable, Path(EXPORTER) / "opencost_parquet_exporter.py"], capture_output=True, text=True,
                    timeout=DEADLINE_SECONDS, check=False,
                    env={**os.environ, "no_proxy": "127.0.0.1", "OPENCOST_PARQUET_SVC_HOSTNAME": "127.0.0.1",
                         "OPENCOST_PARQUET_SVC_PORT": str(port), "OPENCOST_PARQUET_WINDOW_START": f"{MONTH}-01T00:00:00Z",
                         "OPENCOST_PARQUET_WINDOW_END": "2026-12-01T00:00:00Z",
                         "OPENCOST_PARQUET_FILE_KEY_PREFIX": f"{self.folder}/{level}",
                         "OPENCOST_PARQUET_S3_BUCKET": ""})  # an empty bucket: files on disk
            self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
            files = list((self.folder / level).rglob("*.parquet"))
            self.assertEqual(len(files), 1, run.stdout)
            table = pandas.read_parquet(files[0])
            wanted = json.loads(answer)["data"][0]
            self.assertEqual(list(table["name"]), list(wanted))
            for field in ("gpuCount", "gpuHours", "gpuCost", "totalCost", "cpuCoreHours"):
                self.assertEqual(str(table[field].dtype), "float64", field)
                self.assertEqual(list(table[field]), [each[field] for each in wanted.values()], field)


if __name__ == "__main__":
    unittest.main()
