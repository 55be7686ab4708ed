#!/usr/bin/env python3
"""Programs that use NVIDIA's modules for Go on simulated machines: go-nvml (go_client/) through the life of MIG, and what device
plugins do with go-nvlib (go_nvlib_client/). Skipped where Go is missing or older than a module needs, and where the modules
cannot be had."""

import functools
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from simulated import PROGRAM, ROOT, Case, as_root, require_program  # noqa: E402

sys.path.insert(0, str(ROOT / "src/gpu/nvml_abi"))
from third_party import GO_NVML, Absent, fetch_go_module, go_environment, run  # noqa: E402

HERE = Path(__file__).resolve().parent
BUILD_SECONDS_MAX = 240  # with an empty cache, on a busy machine


def version_of(text):
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])


def modules_of(folder):
    module = (HERE / folder / "go.mod").read_text()
    return [f"{path}@{version}" for path, version in re.findall(r"(\S+/\S+) (v\S+)", module)]


@functools.cache
def missing(folder):
    """Why the program of a folder cannot be built, or nothing."""
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        return "there is no C compiler"
    wanted = re.search(r"^go (\S+)$", (HERE / folder / "go.mod").read_text(), re.MULTILINE)[1]
    try:
        found = run(["go", "env", "GOVERSION"], env=go_environment()).stdout.strip()
        if version_of(found) < version_of(wanted):
            return f"wanted Go {wanted}, found {found}"
        for module in modules_of(folder):
            fetch_go_module(module)
    except Absent as reason:
        return str(reason)
    return None


class GoClient(Case):
    def check(self, folder, fleet):
        self.assertIn(GO_NVML, modules_of(folder))
        if missing(folder):
            self.skipTest(missing(folder))
        program = self.folder / folder
        build = subprocess.run(["go", "build", "-mod=readonly", "-o", program, "."], cwd=HERE / folder, env=go_environment(),
                               capture_output=True, text=True, timeout=BUILD_SECONDS_MAX, check=False)
        self.assertEqual(build.returncode, 0, build.stderr)
        client = self.program("run", "--fleet", self.fleet(fleet), *as_root(), "--", program, PROGRAM)
        if client.returncode == 2 and as_root():
            self.skipTest(client.stderr)
        self.assertEqual((client.returncode, client.stdout, client.stderr), (0, "ok\n", ""))

    def test_go_nvml(self):
        self.check("go_client", "fleet: [{gpu: A100-80GB, mig: false}, {gpu: H100-80GB, mig: false}, {gpu: T4}]\n")

    def test_go_nvlib(self):
        self.check("go_nvlib_client", "fleet: [{gpu: A100-80GB, mig: true}, {gpu: T4}]\n")


def main():
    require_program()
    reasons = {folder: missing(folder) for folder in ("go_client", "go_nvlib_client")}
    for folder, reason in reasons.items():
        if reason:
            print(f"skipped: {folder}: {reason}")
    if all(reasons.values()):
        return 77
    unittest.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
