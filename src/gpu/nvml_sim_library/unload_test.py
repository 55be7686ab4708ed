#!/usr/bin/env python3
"""Clients load NVML and unload it again and again, as go-nvml does at each shutdown: that must not use up memory."""

import _ctypes
import ctypes
import os
import sys
import unittest
from pathlib import Path

LIBRARY = Path(os.environ.get("BERTH_PROGRAM", "build/release/berth")).parent / "libberth-nvml-sim.so"
DRIVER_NOT_LOADED = 9
LOADS = 30


def use_library():
    library = ctypes.CDLL(str(LIBRARY))
    code = library.nvmlInit_v2()
    _ctypes.dlclose(library._handle)
    return code


def mappings():
    return len(Path("/proc/self/maps").read_text().splitlines())


class Unload(unittest.TestCase):
    def test_loading_it_again_maps_nothing_more(self):
        os.environ.pop("BERTH_NVML_SIM_STATE", None)
        self.assertEqual(use_library(), DRIVER_NOT_LOADED)
        before = mappings()
        for _ in range(LOADS):
            self.assertEqual(use_library(), DRIVER_NOT_LOADED)
        self.assertLess(mappings(), before + LOADS)


if __name__ == "__main__":
    if not LIBRARY.exists():
        print(f"skipped: there is no {LIBRARY}: builds with sanitizers make none")
        sys.exit(77)
    unittest.main()
