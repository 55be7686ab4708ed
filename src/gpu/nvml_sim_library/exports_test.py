#!/usr/bin/env python3
"""The library exports every function of NVML and nothing else, and each can be called with nothing but zeros: a client that
looks its functions up late finds them, and none of them ends it."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(ROOT / "src/gpu/nvml_abi"))
from function_lists import exported, not_simulated, simulated  # noqa: E402

PROGRAM = Path(os.environ.get("BERTH_PROGRAM", ROOT / "build/release/berth")).with_name("berth-nvml-sim")
LIBRARY = PROGRAM.with_name("libberth-nvml-sim.so")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
DEADLINE_SECONDS = 60

SUCCESS, UNINITIALIZED, INVALID_ARGUMENT, NOT_SUPPORTED = range(4)
INITS = {"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags"}
WITHOUT_ARGUMENTS = {*INITS, "nvmlShutdown"}
TEXT = "nvmlErrorString"  # the one that returns no code

# Calls each function that the input names, in the order of the input, with nothing but zeros, and prints the results.
# Prints the name first, so that the output of a crash ends with it.
CLIENT = """
#include <dlfcn.h>
#include <stdio.h>

typedef int (*Function)(void*, void*, void*, void*, void*, void*);

int main(void) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_LAZY);
  if (library == NULL) return fprintf(stderr, "%s\\n", dlerror()), 1;
  char name[256];
  while (scanf("%255s", name) == 1) {
    printf("%s ", name);
    fflush(stdout);
    Function function = (Function)dlsym(library, name);
    if (function == NULL) return fprintf(stderr, "%s\\n", dlerror()), 1;
    printf("%d\\n", function(0, 0, 0, 0, 0, 0));
  }
  return 0;
}
"""


class Names(unittest.TestCase):
    def test_those_of_the_two_lists(self):
        if shutil.which("nm") is None:
            self.skipTest("wanted nm (binutils)")
        run = subprocess.run(["nm", "-D", "--defined-only", "-P", LIBRARY], capture_output=True, text=True, check=True)
        names = {line.split()[0] for line in run.stdout.splitlines()}
        self.assertEqual((sorted(exported() - names), sorted(names - exported())), ([], []))


class Calls(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if COMPILER is None:
            raise unittest.SkipTest("wanted a C compiler")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.client = Path(folder.name) / "client"
        subprocess.run([COMPILER, "-x", "c", "-", "-o", cls.client, "-ldl"], input=CLIENT, text=True, check=True)
        cls.fleet = Path(folder.name) / "fleet.yaml"
        cls.fleet.write_text("fleet: [{gpu: A100-80GB}]\n")

    def codes(self, names):
        """What the functions return to a client that calls them in this order."""
        run = subprocess.run([PROGRAM, "run", "--fleet", self.fleet, "--", self.client], input="\n".join(names),
                             capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout[-80:])
        lines = [line.split() for line in run.stdout.splitlines()]
        self.assertEqual([name for name, _ in lines], names)
        return {name: int(code) for name, code in lines}

    def test_before_an_init(self):
        names = sorted(exported() - INITS - {TEXT})
        self.assertEqual(self.codes(names), dict.fromkeys(names, UNINITIALIZED))

    def test_after_an_init(self):
        wanted = dict.fromkeys(simulated(), INVALID_ARGUMENT)
        wanted |= dict.fromkeys(not_simulated("BERTH_NVML_STUB"), NOT_SUPPORTED)
        wanted |= dict.fromkeys(not_simulated("BERTH_NVML_CHANGE"), INVALID_ARGUMENT)  # of no device
        wanted |= dict.fromkeys(not_simulated("BERTH_NVML_CHANGE_OTHER"), NOT_SUPPORTED)
        wanted |= dict.fromkeys(WITHOUT_ARGUMENTS, SUCCESS)
        del wanted[TEXT]
        self.assertEqual(set(wanted), exported() - {TEXT})
        # The inits first: they outnumber the one shutdown.
        self.assertEqual(self.codes(sorted(wanted, key=lambda name: (name not in INITS, name))), wanted)

    def test_after_the_last_shutdown(self):
        names = ["nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2", "nvmlDeviceSetFanSpeed_v2", "nvmlDeviceSetMigMode"]
        self.assertEqual(list(self.codes(names).values()), [SUCCESS] * 2 + [UNINITIALIZED] * 3)


def main():
    for path in (PROGRAM, LIBRARY):
        if not path.exists():
            print(f"skipped: {path} is not built")
            return 77
    unittest.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
