#!/usr/bin/env python3
"""As root: a hostile program on a slice tries what it must not be able to do. Each attempt is a row, and all are refused."""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import unittest
from pathlib import Path

from program_machine import BERTH, LIBRARY, ROOT, SERVER, ProgramCase, require_program, runs, status_of

sys.path[:0] = [str(ROOT / "tests/gateway")]
from local_gateway import Gateway, UpStandIn, endpoint, service  # noqa: E402

SKIPPED = 77

# Runs as the tenant: its table of attempts is the argument, a file of JSON. Prints a line for each: what came of it.
HOSTILE = r"""
import ctypes, json, os, resource, signal, socket, subprocess, sys, time
places = json.load(open(sys.argv[1]))
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")
    return result
def attempt(name, act):
    try:
        value = act()
        print("attempt " + json.dumps([name, "done", str(value)[:200]]), flush=True)
    except Exception as error:
        print("attempt " + json.dumps([name, type(error).__name__, str(error)]), flush=True)
def read(path):
    return open(path, "rb").read(100)
def write(path):
    with open(path, "ab") as file:
        file.write(b"x")
def write_text(path, text):
    with open(path, "w") as file:
        file.write(text)
for name, path in places["read"].items():
    attempt("read " + name, lambda: read(path))
for name, path in places["write"].items():
    attempt("write " + name, lambda: write(path))
for name, path in places["remove"].items():
    attempt("remove " + name, lambda: os.remove(path))
    attempt("replace " + name, lambda: os.rename(path, path + ".old"))
    attempt("link to " + name, lambda: os.link(path, "link"))
    attempt("open up " + name, lambda: os.chmod(path, 0o644))
for name, path in places["list"].items():
    attempt("list " + name, lambda: os.listdir(path))
for name, path in places["connect"].items():
    attempt("connect " + name, lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect(path))
for name, pid in places["processes"].items():
    attempt("read environment of " + name, lambda: read(f"/proc/{pid}/environ"))
    attempt("read memory of " + name, lambda: read(f"/proc/{pid}/mem"))
    attempt("read descriptors of " + name, lambda: os.listdir(f"/proc/{pid}/fd"))
    attempt("signal " + name, lambda: os.kill(pid, signal.SIGKILL))
    attempt("trace " + name, lambda: call(libc.ptrace(16, pid, None, None)))
    attempt("limit " + name, lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3)))
attempt("port 80", lambda: socket.socket().bind(("127.0.0.1", 80)))
attempt("setuid 0", lambda: os.setuid(0))
attempt("setuid of another tenant", lambda: os.setuid(places["other uid"]))
attempt("setgid 0", lambda: os.setgid(0))
attempt("setgroups", lambda: os.setgroups([0]))
attempt("more open files", lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 16, 1 << 16)))
attempt("core files", lambda: resource.setrlimit(resource.RLIMIT_CORE, (1, 1)))
attempt("more processes", lambda: resource.setrlimit(resource.RLIMIT_NPROC, (1 << 16, 1 << 16)))
attempt("more memory", lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40)))
attempt("longer files", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40)))
attempt("use too much memory", lambda: bytearray(600 << 20))
attempt("write a file that is too long", lambda: os.posix_fallocate(os.open("long", os.O_CREAT | os.O_WRONLY), 0, 9 << 20))
attempt("open too many files", lambda: [open("/dev/null") for _ in range(100)])
attempt("a real-time priority", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt("a better priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1))
attempt("not to be killed where memory runs out", lambda: write_text("/proc/self/oom_score_adj", "-1000"))
for name, value in (("alone", socket.SO_REUSEADDR), ("along", socket.SO_REUSEPORT)):
    taken = socket.socket()
    taken.setsockopt(socket.SOL_SOCKET, value, 1)
    attempt("listen at the port of another program, " + name, lambda: taken.bind(("127.0.0.1", places["other port"])))
attempt("hard link to a record", lambda: os.link(places["read"]["its own record"], "record"))
attempt("another folder in place of its home", lambda: os.rename(os.getcwd(), os.getcwd() + ".old"))
attempt("mount", lambda: call(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)))
attempt("a new root", lambda: os.chroot("."))
setuid = subprocess.run([places["setuid id"], "-u"], capture_output=True, text=True)
def become_root():
    if setuid.stdout.strip() != "0":
        raise PermissionError(setuid.stdout)
attempt("setuid program", become_root)
# Links out of its home, for whoever reads, writes or removes what is in there.
for name in ("log", "run", "end", "program", "device.yaml", "tmp", "models"):
    os.symlink(places["trap"], name)
os.mkdir("deep")
os.symlink(places["trap"], "deep/trap")
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print("attempt " + json.dumps(["escape", "tried", str(os.getpid())]), flush=True)
        time.sleep(1000)
    os._exit(0)
time.sleep(1000)
"""


class Hostile(ProgramCase):
    separate_users = True

    def setUp(self):
        super().setUp()
        self.places = self.folder / "places.json"
        server = self.script("server", SERVER)
        hostile = self.script("hostile", HOSTILE)
        self.config = self.rules(
            f"templates:\n  web: {{command: [{server}, '{{port}}'], ready: /, tenants: [sound, third, fourth, fifth, sixth]}}\n"
            f"  hostile: {{command: [{hostile}, {self.places}], ready: /, ready_seconds: 600, tenants: [vision],\n"
            "    memory_mib: 512, file_mib: 8, files_max: 64}")
        self.hands = self.start_hands(self.config)
        self.client_ = self.client()

    def keys(self):
        """The files of a running `berth up` and a running gateway with keys in them, and the processes."""
        data = self.folder / "data"
        machine = shutil.copy(self.machine, self.folder / "machine of berth up")
        config = self.folder / "up.yaml"
        config.write_text(self.config.read_text().replace(str(self.programs), str(self.folder / "programs of berth up")))
        up = subprocess.Popen([BERTH, "up", "--data", data, "--listen", "127.0.0.1:0", "--world", "local", "--nvml", LIBRARY,
                               "--manage-gpus", "--config", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env={**self.environment, "BERTH_NVML_SIM_STATE": str(machine), "BERTH_GPU_LOCKS": str(self.folder / "locks of berth up")})
        self.addCleanup(lambda: (up.kill(), up.wait()))
        keys = {"the administrator's key": data / "admin.key", "the gateway's key": data / "gateway.key"}
        table = self.folder / "gateway/state/table.json"
        table.parent.parent.mkdir(mode=0o755)
        stand_in = UpStandIn().start()
        self.addCleanup(stand_in.stop)
        stand_in.set_table(service(endpoint("http://127.0.0.1:9", key="key-of-another-service")))
        gateway = Gateway(stand_in, table.parent.parent)
        self.addCleanup(gateway.end)
        self.wait_for(lambda: all(path.exists() for path in (table, *keys.values())), "keys and a table")
        self.assertIn("key-of-another-service", table.read_text())
        for path in (*keys.values(), table):
            self.assertEqual(path.stat().st_mode & 0o777, 0o600, path)
        # As if somebody had made the folders readable: the files are still their owner's alone.
        for folder in (data, table.parent):
            self.assertEqual(folder.stat().st_mode & 0o777, 0o700, folder)
            folder.chmod(0o755)
        return {name: str(path) for name, path in {**keys, "the gateway's table": table}.items()}, {"berth up": up.pid, "the gateway": gateway.process.pid}

    def test_every_attempt_is_refused(self):
        client = self.client_
        client.start("web", slice_name="gpu-0-0", tenant="sound")
        other = client.until_phase("ready", slice_name="gpu-0-0")
        state = self.programs
        trap = self.folder / "trap"
        trap.mkdir()
        (trap / "precious").write_text("kept")
        setuid_id = Path(shutil.copy("/usr/bin/id", self.folder / "id"))
        setuid_id.chmod(0o4755)
        keys, processes = self.keys()
        other_folder = state / "programs/gpu-0-0-1"
        own = state / "programs/gpu-1-0-1"
        self.places.write_text(json.dumps({
            "read": {"the users": str(state / "uids"), "its own record": str(own / "program"), "its own log": str(own / "log"),
                     "another record with a key": str(other_folder / "program"), "another log": str(other_folder / "log"),
                     "shadow": "/etc/shadow", **keys},
            "write": {"its record": str(own / "program"), "its run": str(own / "run"), "its folder": str(own / "new"),
                      "another home": str(other_folder / "home/new"), "the configuration": str(self.config),
                      "its command": str(self.folder / "hostile"), "the state": str(state / "new"), **keys},
            "remove": {"its record": str(own / "program"), "another record": str(other_folder / "program"), **keys},
            "list": {"another home": str(other_folder / "home"), "the programs": str(state / "programs"), "its folder": str(own)},
            "connect": {"the hands": str(self.socket)},
            "processes": {"another tenant": other["pid"], "its keeper's neighbour": int(status_of(other["pid"])["PPid"]),
                          "the hands": self.hands.pid, **processes},
            "other port": other["port"], "other uid": int(status_of(other["pid"])["Uid"].split()[0]), "setuid id": str(setuid_id), "trap": str(trap)}))
        client.start("hostile")
        pid = client.until(lambda report: report["pid"])["pid"]
        attempts = self.wait_for(lambda: self.attempts(client), "all attempts")
        # Refused by the system, not by a mistake in the table.
        limits = dict.fromkeys(("more open files", "core files", "more processes", "more memory", "longer files"), ("ValueError", ""))
        limits["use too much memory"] = ("MemoryError", "")
        limits["write a file that is too long"] = ("OSError", "[Errno 27]")
        limits["open too many files"] = ("OSError", "[Errno 24]")
        for port in ("alone", "along"):
            limits["listen at the port of another program, " + port] = ("OSError", "[Errno 98]")

        def is_as_wanted(name, kind, message):
            wanted, begin = limits.get(name, ("PermissionError", ""))
            return kind == wanted and message.startswith(begin)
        self.assertEqual([attempt for attempt in attempts[:-1] if not is_as_wanted(*attempt)], [])
        self.assertEqual(len(attempts), 97)
        status = status_of(pid)
        self.assertEqual(status["Uid"].split(), ["600001"] * 4)
        self.assertEqual((status["Gid"].split(), status["Groups"].strip()), (["600001"] * 4, ""))
        self.assertEqual({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, {"0" * 16})
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertRegex(Path(f"/proc/{pid}/limits").read_text(), r"Max processes +4096 +4096 ")
        escaped = int(attempts[-1][2])
        self.assertTrue(runs(escaped))
        client.stop()
        client.until_phase("stopped")
        self.assertFalse(runs(escaped), "by a double fork, a session of its own, and without SIGTERM")
        self.assertEqual((trap / "precious").read_text(), "kept")
        self.assertFalse(own.exists())
        self.assertTrue(runs(other["pid"]))

    @staticmethod
    def attempts(client):
        lines = [line for line in (client.log() or "").splitlines() if line.startswith("attempt ")]
        found = [json.loads(line.removeprefix("attempt ")) for line in lines]
        return found if found and found[-1][0] == "escape" else None

    def test_a_tenant_keeps_its_user_and_none_left_is_said(self):
        client = self.client_
        def uid(name, tenant, generation=1):
            client.start("web", slice_name=name, tenant=tenant, generation=generation)
            return int(status_of(client.until_phase("ready", slice_name=name)["pid"])["Uid"].split()[0])
        self.assertEqual([uid("a", "sound"), uid("b", "third"), uid("c", "sound"), uid("d", "fourth"), uid("e", "fifth")],
                         [600000, 600001, 600000, 600002, 600003])
        client.start("web", slice_name="f", tenant="sixth")
        self.assertEqual(client.until_phase("failed", slice_name="f")["message"],
                         'uids: wanted a free uid of 600000-600003 for tenant "sixth", found none: 4 tenants have them')
        client.stop("a")
        client.until_phase("stopped", slice_name="a")
        self.hands.send_signal(signal.SIGTERM)
        self.hands.wait()
        self.start_hands(self.config)
        client = self.client_ = self.client()
        self.assertEqual(sorted(client.listed()), ["b", "c", "d", "e"])
        self.assertEqual(uid("a", "third", 2), 600001)

    def test_a_range_with_users_of_this_machine_is_refused(self):
        self.hands.kill()
        self.hands.wait()
        nobody = pwd.getpwnam("nobody").pw_uid
        text = self.config.read_text()
        self.config.write_text(text.replace("uids: 600000-600003", f"uids: {nobody - 1}-{nobody}"))
        status, stderr = self.hands_end(self.config)
        self.assertEqual(status, 2, stderr)
        self.assertIn(f"uids: wanted a range that no user or group has, found user nobody ({nobody}) of /etc/passwd", stderr)

    def test_hands_that_cannot_change_users_say_so(self):
        self.hands.kill()
        self.hands.wait()
        run = subprocess.run(["setpriv", "--bounding-set", "-setuid", "--inh-caps", "-setuid", BERTH, "hands", "--socket", self.socket,
                              "--config", self.config, "--nvml", LIBRARY], env=self.environment, capture_output=True, text=True,
                             check=False)
        self.assertEqual(run.returncode, 4, run.stderr)
        self.assertTrue(re.search("separate_users: wanted the privileges to become the users 600000-600003", run.stderr), run.stderr)


if __name__ == "__main__":
    require_program()
    if os.geteuid() != 0:
        print("skipped: not root: programs cannot have users of their own")
        sys.exit(SKIPPED)
    unittest.main()
