#!/usr/bin/env python3
"""`berth-nvml-sim run --fake-root`: what the program sees of the machine outside the library, as root and as another user.

Skipped with the reason where this machine allows nobody a mount namespace of their own.
"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from simulated import NOBODY, PROGRAM, Case, require_program, runs_for_others  # noqa: E402

PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # which others can execute, too
BOOT_ID = "/proc/sys/kernel/random/boot_id"


def outside(path):
    return Path(path).read_text() if Path(path).exists() else None


class FakeRoot(Case):
    user = None  # that of the test

    def fake(self, *command, state=None):
        words = ["run", "--fleet", self.fleet(), "--fake-root", *(["--state", state] if state else []), "--", *command]
        run = self.program(*words, user=self.user)
        if run.returncode == 2 and "--fake-root: " in run.stderr:
            self.skipTest(run.stderr.strip())
        return run

    def checked(self, *command, **options):
        run = self.fake(*command, **options)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_the_module_is_loaded(self):
        before = outside("/proc/modules")
        for command in (["cat", "/proc/modules"], [PYTHON, "-c", "print(open('/proc/modules').read(), end='')"],
                        ["sh", "-c", "while read -r line; do echo \"$line\"; done < /proc/modules"]):
            lines = self.checked(*command).splitlines()
            self.assertEqual(lines[0].split()[0], "nvidia")
            self.assertEqual("".join(f"{line}\n" for line in lines[1:]), before or "")
        self.assertEqual(outside("/proc/modules"), before)

    def test_other_files_are_as_they_were(self):
        text = self.checked("sh", "-c", "cat /proc/self/comm; cat /proc/sys/kernel/ostype; cat /no/such 2>&1; echo $?")
        self.assertEqual(text.splitlines(), ["cat", "Linux", "cat: /no/such: No such file or directory", "1"])

    def test_the_gpus_are_on_the_pci(self):
        script = """
cd /sys/bus/pci/devices
for gpu in *; do
  echo $gpu $(cat $gpu/vendor $gpu/device $gpu/class $gpu/numa_node) $(basename $(readlink -f $gpu/driver)) $(wc -w < $gpu/resource)
  test -d $gpu/driver/ && test ! -e $gpu/physfn && test $(wc -c < $gpu/config) = 64
done"""
        self.assertEqual(self.checked("sh", "-ec", script).splitlines(),
                         [f"0000:{bus}:00.0 0x10de 0x20b2 0x030200 -1 nvidia 3" for bus in ("07", "0f")])
        self.assertFalse(Path("/sys/bus/pci/devices/0000:07:00.0/driver/../../drivers/nvidia").exists())

    def test_the_boot_id_is_the_machines_and_changes_with_a_reboot(self):
        script = f"""
cat {BOOT_ID} $BERTH_BOOT_ID
{PROGRAM} reset --reboot
cat {BOOT_ID} $BERTH_BOOT_ID"""
        ids = self.checked("sh", "-ec", script).splitlines()
        self.assertEqual((ids[0], ids[2]), (ids[1], ids[3]))
        self.assertEqual(len({ids[0], ids[2], outside(BOOT_ID).strip()}), 3)

    def test_a_reboot_from_outside_is_seen_inside(self):
        state = self.folder / "state"
        script = f"""
echo $(cat {BOOT_ID}) > {self.folder}/seen
while test -e {self.folder}/waiting; do sleep 0.02; done
cat {BOOT_ID}"""
        (self.folder / "waiting").touch()
        self.fake("true", state=state)  # may skip
        process = subprocess.Popen([PROGRAM, "run", "--fleet", self.fleet(), "--fake-root", "--state", state, "--", "sh", "-c",
                                    script], stdout=subprocess.PIPE, text=True, env=self.environment, user=self.user)
        while not (self.folder / "seen").exists() or not (self.folder / "seen").read_text():
            self.assertIsNone(process.poll())
        self.assertEqual(self.program("reset", "--state", state, "--reboot", user=self.user).returncode, 0)
        (self.folder / "waiting").unlink()
        seen_last, _ = process.communicate(timeout=30)
        self.assertNotEqual((self.folder / "seen").read_text(), seen_last)
        self.assertEqual(seen_last, Path(f"{state}.boot_id").read_text())

    def test_a_reset_by_nvidia_smi(self):
        script = f"""
nvidia-smi -r -i 0000:07:00.0,GPU-x || echo refused
nvidia-smi -r -i 0000:0f:00.0
{PROGRAM} fault --gpu 0 --lost
nvidia-smi --gpu-reset
{PROGRAM} show"""
        run = self.fake("sh", "-ec", script)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[:4],
                         ["refused", "GPU 00000000:0F:00.0 was successfully reset.",
                          "GPU 00000000:07:00.0 was successfully reset.", "GPU 00000000:0F:00.0 was successfully reset."])
        self.assertNotIn("LOST", run.stdout)

    def test_the_program_is_root_and_its_status_comes_back(self):
        self.assertEqual(self.checked("id", "-u"), "0\n")
        self.assertEqual(self.fake("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.fake("sh", "-c", "kill -TERM $$").returncode, 143)
        self.assertEqual(self.fake("no-such-program").returncode, 127)
        self.assertEqual(list(self.temporary.iterdir()), [])


@unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
class FakeRootOfAnother(FakeRoot):
    """The same as a user without any right."""

    user = NOBODY

    def setUp(self):
        super().setUp()
        for path in (self.folder, self.temporary):
            path.chmod(0o777)
        if not runs_for_others(PROGRAM, "--version"):
            self.skipTest(f"another user cannot run {PROGRAM}")


class NotAllowed(Case):
    def test_a_refusal_starts_nothing(self):
        """In a user namespace that may have no mount namespaces."""
        marker = self.folder / "marker"
        script = "echo 0 > /proc/sys/user/max_mnt_namespaces || exit 77; exec \"$@\""
        words = [PROGRAM, "run", "--fleet", self.fleet(), "--fake-root", "--", "touch", marker]
        run = subprocess.run(["unshare", "-Ur", "sh", "-c", script, "sh", *words], capture_output=True, text=True,
                             env=self.environment, check=False)
        if run.returncode in (1, 77):
            self.skipTest("wanted a user namespace: " + run.stderr.strip())
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertRegex(run.stderr, "^berth-nvml-sim: --fake-root: wanted a mount namespace of our own, found that this is not "
                                     "allowed here: unshare: ")
        self.assertFalse(marker.exists())
        self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    require_program()
    unittest.main()
