"""What the tests with NVIDIA's binding for Python (nvidia-ml-py) share: the binding on a simulated machine, as
its users have it."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from simulated import PROGRAM, ROOT, TWO_A100, Case, as_root, require_program

sys.path.insert(0, str(ROOT / "src/gpu/nvml_abi"))
from third_party import BINDING, Absent, fetch_package  # noqa: E402

BELOW_RUN = "BERTH_TEST_BELOW_RUN"


def binding():
    """The module pynvml. It loads the library by its usual name, which only `berth-nvml-sim run` provides, so the script is run
    again below that, and the first process ends here. Skips the script (77) where the binding cannot be had."""
    if BELOW_RUN not in os.environ:
        sys.exit(run_again())
    import pynvml  # pylint: disable=import-outside-toplevel
    return pynvml


def run_again():
    require_program()
    try:
        wheel = fetch_package(BINDING)
    except Absent as reason:
        print(f"skipped: {BINDING}: {reason}")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        fleet = Path(folder) / "fleet.yaml"
        fleet.write_text(TWO_A100)
        command = [PROGRAM, "run", "--fleet", fleet, *as_root(), "--", sys.executable, *sys.argv]
        environment = dict(os.environ, PYTHONPATH=wheel, **{BELOW_RUN: "1"})
        status = subprocess.run(command, env=environment, check=False).returncode
        if status == 2 and as_root():
            print("skipped: wanted root, or a machine that lets others be root of their own")
            return 77
        return status


class ClientCase(Case):
    """A test with machines of its own. Programs that it starts are on the newest of them."""

    def setUp(self):
        super().setUp()
        self.nvml = binding()

    def machine(self, fleet):
        """A new machine, on which this process has initialised the library."""
        state = self.state(fleet)
        os.environ["BERTH_NVML_SIM_STATE"] = self.environment["BERTH_NVML_SIM_STATE"] = str(state)
        self.nvml.nvmlInit()
        self.addCleanup(self.nvml.nvmlShutdown)
        return state

    def verb(self, *words):
        """A verb of berth-nvml-sim, on the machine."""
        run = self.program(*words)
        self.assertEqual((run.returncode, run.stderr), (0, ""), words)

    def assert_refused(self, code, function, *arguments):
        with self.assertRaises(self.nvml.NVMLError) as caught:
            function(*arguments)
        self.assertEqual(caught.exception.value, code, str(caught.exception))
