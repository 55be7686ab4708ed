#!/usr/bin/env python3
"""berth-nvml-sim as it is shipped: what it needs at run time, and what is installed."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from simulated import LIBRARY, PROGRAM, Case, require_program  # noqa: E402

ALLOWED = {"libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libm.so.6"}
LOADER = re.compile(r"ld-linux.*\.so\.\d+")


class Products(Case):
    def dynamic(self, path):
        if shutil.which("readelf") is None:
            self.skipTest("wanted readelf (binutils)")
        return subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout

    def test_nothing_but_libc_and_libstdcxx_is_needed(self):
        for path in (PROGRAM, LIBRARY):
            needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", self.dynamic(path)))
            self.assertIn("libc.so.6", needed)
            others = {name for name in needed - ALLOWED if not LOADER.fullmatch(name)}
            self.assertEqual(others, set(), path)
            self.assertNotRegex(self.dynamic(path), "RPATH|RUNPATH")

    def test_the_library_has_the_name_that_clients_load(self):
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", self.dynamic(LIBRARY)), ["libnvidia-ml.so.1"])

    def test_the_component_is_complete_and_has_no_headers(self):
        if shutil.which("cmake") is None:
            self.skipTest("wanted cmake")
        prefix = self.folder / "prefix"
        subprocess.run(["cmake", "--install", PROGRAM.parent, "--component", "nvml-sim", "--prefix", prefix],
                       capture_output=True, check=True)
        files = sorted(str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file())
        self.assertEqual(files, ["bin/berth-nvml-sim", "lib/libberth-nvml-sim.so", "share/doc/berth-nvml-sim/LICENSE",
                                 "share/doc/berth-nvml-sim/NOTICE", "share/doc/berth-nvml-sim/README.md"])
        run = subprocess.run([prefix / "bin/berth-nvml-sim", "run", "--fleet", self.fleet(), "--", "nvidia-smi", "-L"],
                             capture_output=True, text=True, env=self.environment, check=False)
        self.assertEqual((run.returncode, run.stdout.count("GPU "), run.stderr), (0, 2, ""))

    def test_a_program_without_its_library_says_where_it_looked(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(PROGRAM, Path(folder) / "berth-nvml-sim")
            run = subprocess.run([alone, "run", "--fleet", self.fleet(), "--", "true"], capture_output=True, text=True,
                                 env=self.environment, check=False)
            self.assertEqual(run.returncode, 1)
            self.assertIn(f"wanted the library at {folder}/libberth-nvml-sim.so or ", run.stderr)


if __name__ == "__main__":
    require_program()
    unittest.main()
