#!/usr/bin/env python3
"""`berth up` is killed at random times while clients write to it, and started again on the same folder: what it has
answered must still be true. The auditor knows the API only; it shares no code with the server.

BERTH_KILLS (30), BERTH_SEED (random), BERTH_SPEED (20); BERTH_GO_ON=1 goes on after a violation. A run that fails keeps
its folder: `state` is the server's, `killed/N` what kill N left there since the last audit without a violation, `log`
the server's stderr, `violations` all that was found. The same seed gives the same delays and choices, but not the same
interleaving.

A kill counts if a write was acknowledged since the start before it."""

import contextlib
import dataclasses
import datetime
import http.client
import itertools
import json
import os
import random
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
READY_SECONDS = 5  # how long a start may take
STOP_SECONDS = 2  # how long a clean stop may take
DEADLINE_SECONDS = 30  # of anything else that must not hang
SETTLE_SECONDS = 3  # in which an event must follow what it is about
DOWN_SECONDS = 2  # between the clean stop and the next start: the world must not go on meanwhile
KILL_AFTER_MS = (1, 400)
QUIET_SHARE = 0.4  # of the kills: for so long before them nothing is written, so that nothing makes the server record
QUIET_MS = (1, 300)
AUDITED_SHARE = 0.7  # of the starts; after the others the load begins at once
KILLED_START_SHARE = 0.15  # of the starts: another kill before it is ready
EVENTS_KEPT = 10_000  # by the server
PLANS_KEPT = 1_000
WRITER_COUNT = 8
TENANTS_EACH = 2
SERVICES_EACH = 2  # of a tenant
SHOWN_MAX = 40
SHOWN_CHARS = 700

# NVIDIA, MIG user guide: the memory slices of a profile. A GPU has 8 of them, an A30 has 4.
LENGTHS = {"1g.10gb": 1, "1g.20gb": 2, "2g.20gb": 2, "3g.40gb": 4, "4g.40gb": 4, "7g.80gb": 8,
           "1g.6gb": 1, "2g.12gb": 2, "4g.24gb": 4}
USUAL_LOG = ('{"event":"ready"', '{"event":"stopping"', '{"event":"warning"')
FINAL_PHASES = ("done", "expired", "refused", "superseded")


def micros_of(text):
    """A time of the API as microseconds since 1970."""
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) // datetime.timedelta(microseconds=1)


def text_of(micros):
    """The other way round, for messages."""
    return datetime.datetime.fromtimestamp(micros / 1e6, datetime.timezone.utc).strftime("%H:%M:%S.%f")


def shown(value):
    """A value for a message."""
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + ".."


def contains(actual, sent):
    """Whether what is stored says all that was sent; the server adds what was left out."""
    if isinstance(sent, dict):
        return isinstance(actual, dict) and all(key in actual and contains(actual[key], sent[key]) for key in sent)
    if isinstance(sent, list):
        return isinstance(actual, list) and len(actual) == len(sent) and all(map(contains, actual, sent))
    return actual == sent


class Violations:
    """What must not be. Threads share one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.found = []
        self.known = set()
        self.round = 0

    def add(self, kind, text):
        """`kind`: lost (acknowledged or seen, and gone), duplicated, changed, version, time, answer, start or stop."""
        with self.lock:
            if (kind, text) not in self.known:  # what stays wrong is seen again and again
                self.known.add((kind, text))
                self.found.append((kind, f"kill {self.round}: {kind}: {text}"))

    def count(self, kind):
        """Those of a kind."""
        with self.lock:
            return sum(each == kind for each, _ in self.found)


class Api:
    """Requests of one thread over one connection. Raises OSError or HTTPException where no whole answer comes."""

    def __init__(self, state):
        address = urllib.parse.urlsplit((state / "address").read_text().strip())
        self.headers = {"Authorization": "Bearer " + (state / "admin.key").read_text().strip(),
                        "Content-Type": "application/json"}
        self.connection = http.client.HTTPConnection(address.hostname, address.port, timeout=DEADLINE_SECONDS)

    def send(self, method, path, body=None):
        """Status and JSON."""
        self.connection.request(method, path, None if body is None else json.dumps(body), self.headers)
        reply = self.connection.getresponse()
        return reply.status, json.loads(reply.read())

    def get(self, path):
        """The JSON of a GET that must succeed."""
        status, body = self.send("GET", path)
        if status != 200:
            raise http.client.HTTPException(f"GET {path}: {status} {shown(body)}")
        return body

    def items(self, path, limit=500):
        """All pages of a list."""
        items, following = [], ""
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{following}")
            items += page["items"]
            if not page["metadata"]["continue"]:
                return items
            following = "&continue=" + urllib.parse.quote(page["metadata"]["continue"], safe="")

    def events(self, after):
        """Each event behind that one as (id, text), as it comes; a gap as (the oldest id, None). Never ends."""
        self.connection.request("GET", "/v1/events", None, {**self.headers, "Last-Event-ID": str(after)})
        reply = self.connection.getresponse()
        if reply.status != 200:
            raise http.client.HTTPException(f"GET /v1/events: {reply.status}")
        number, lines = None, []
        for line in reply:
            line = line.decode().rstrip("\n")
            if line.startswith("id: "):
                number = int(line[4:])
            elif line.startswith(("event: ", "data: ")):
                lines.append(line)
            elif not line and lines:
                if lines[0] == "event: gap":
                    yield json.loads(lines[1].removeprefix("data: "))["oldest"], None
                else:
                    yield number, "\n".join(lines)
                number, lines = None, []

    def close(self):
        """Closes the connection."""
        self.connection.close()


class Server:
    """The process on its folder. `ran_seconds`: how long all its processes lived, at most."""

    def __init__(self, folder, speed, seed):
        self.folder = folder
        self.state = folder / "state"
        self.words = ["--speed", str(speed), "--seed", str(seed)]
        self.process = None
        self.began = 0.0
        self.ran_seconds = 0.0
        self.start_ms = []
        self.killed = threading.Event()
        self.kill_count = 0
        self.log_read = 0

    def spawn(self):
        """Starts it, and waits for nothing."""
        self.killed.clear()
        self.began = time.monotonic()
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "up", "--data", self.state, "--listen", "127.0.0.1:0", *self.words],
                stdout=subprocess.PIPE, stderr=log)

    def wait_until_ready(self):
        """Whether it became ready; `start_ms` has how long that took."""
        line, deadline = b"", self.began + DEADLINE_SECONDS
        while not line.endswith(b"\n"):
            if not select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return False
            piece = os.read(self.process.stdout.fileno(), 4096)
            if not piece:
                return False
            line += piece
        self.start_ms.append(1000 * (time.monotonic() - self.began))
        return line.startswith(b"ready ")

    def lived_seconds(self):
        """How long all its processes lived until now, at most."""
        return self.ran_seconds + (time.monotonic() - self.began if self.process else 0.0)

    def end(self, number):
        """Sends the signal; the exit status, None if it did not end in time."""
        self.killed.set()
        self.process.send_signal(number)
        try:
            status = self.process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            status = None
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.ran_seconds = self.lived_seconds()
        self.process = None
        return status

    def kill(self):
        """SIGKILL, and keeps what is left."""
        self.end(signal.SIGKILL)
        self.kill_count += 1
        shutil.copytree(self.state, self.folder / "killed" / str(self.kill_count))

    def forget_kills(self):
        """What kills left was audited, and is right."""
        shutil.rmtree(self.folder / "killed", ignore_errors=True)

    def log_errors(self):
        """Errors in its log since the last call. A warning of a torn end of the journal is what a kill may leave."""
        with open(self.folder / "log", errors="replace") as log:
            log.seek(self.log_read)
            lines = log.read().splitlines()
            self.log_read = log.tell()
        return [line for line in lines if not line.startswith(USUAL_LOG)]


# ---- what clients know


@dataclasses.dataclass
class Write:
    """A request that was sent."""
    method: str
    path: str
    body: dict | None


class Owned:
    """Something that one writer alone sets: what its last acknowledged answer said (None: it is not there), and what
    was sent after that without an answer."""

    def __init__(self, path, known=None):
        self.path = path
        self.known = known
        self.pending = None
        self.write_count = 0

    def is_free(self):
        """Whether it is known how it is."""
        return self.pending is None

    def matches(self, actual):
        """Whether it is as the last answer said."""
        return actual == self.known

    def applied(self, actual):
        """What is wrong with it if the pending write was carried out once; None: nothing."""
        raise NotImplementedError

    def learn(self, actual):
        """From now on it is known to be so."""
        self.known = actual
        self.pending = None


class Thing(Owned):
    """A tenant or a service. `versions`: all that were ever told of this name, with what they stood for."""

    def __init__(self, path):
        super().__init__(path)
        self.versions = {}
        self.uids = set()

    @staticmethod
    def part(item):
        """What no one but its owner changes."""
        return {"metadata": item["metadata"], "spec": item["spec"]}

    def version_max(self):
        """The last version of this name."""
        return max(self.versions, default=0)

    def applied(self, actual):
        write = self.pending
        if write.method == "DELETE":
            return None if actual is None else "is still there"
        if actual is None:
            return "is not there"
        metadata = actual["metadata"]
        if metadata["labels"] != write.body["metadata"]["labels"]:
            return "has other labels than those that were sent"
        if not contains(actual["spec"], write.body.get("spec", {})):
            return "has another spec than the one that was sent"
        if self.known is None:
            if metadata["uid"] in self.uids:
                return "has the uid of one that was deleted"
        elif any(metadata[key] != self.known["metadata"][key] for key in ("uid", "creationTimestamp")):
            return "is another object than before"
        is_same = self.known is not None and (metadata["labels"], actual["spec"]) == (
            self.known["metadata"]["labels"], self.known["spec"])
        version = int(metadata["resourceVersion"])
        if is_same and version != int(self.known["metadata"]["resourceVersion"]):
            return "has a new version, and nothing has changed"
        if not is_same and version <= self.version_max():
            return f"has the version {version}, which is not behind {self.version_max()}"
        return None

    def learn(self, actual):
        super().learn(actual)
        if actual is not None:
            self.versions[int(actual["metadata"]["resourceVersion"])] = actual
            self.uids.add(actual["metadata"]["uid"])


class Order(Owned):
    """Whether a GPU is cordoned, with the reason and since when."""

    @staticmethod
    def part(item):
        """What the order is about."""
        return {key: item["status"][key] for key in ("scheduling", "scheduling_reason", "scheduling_since")}

    def applied(self, actual):
        wanted = "cordoned" if self.pending.path.endswith("/cordon") else "open"
        if (actual["scheduling"], actual["scheduling_reason"]) == (wanted, self.pending.body["reason"]):
            return None
        if actual == self.known and actual["scheduling"] == wanted:  # to open what is open changes nothing
            return None
        return f"is not {wanted} with the reason that was sent"


class Pause(Owned):
    """Whether planning is paused."""

    @staticmethod
    def part(item):
        """All of it."""
        return item

    def applied(self, actual):
        sent = self.pending.body
        if (actual["paused"], actual["reason"]) == (sent["paused"], sent["reason"] if sent["paused"] else None):
            return None
        return "is not as it was sent"


def random_spec(rng):
    """A small service for all GPUs of the demo."""
    latency_ms, rate = rng.choice([150, 200, 300]), rng.choice([5, 10, 20])
    points = [("A100-80GB", "1g.10gb", 30, 40), ("A100-80GB", "2g.20gb", 55, 30),  # in the server's order
              ("A30-24GB", "1g.6gb", 25, 45), ("A30-24GB", "2g.12gb", 45, 35),
              ("H100-80GB-SXM5", "1g.10gb", 50, 25), ("H100-80GB-SXM5", "3g.40gb", 120, 20)]
    rows = [{"model": "m", "gpu": gpu, "profile": profile, "batch": 1, "processes": 1,
             "requests_per_second": per_second, "latency_ms": ms} for gpu, profile, per_second, ms in points]
    return {"slo": {"latency_ms": latency_ms}, "expects": {"requests_per_second": rate},
            "arrivals": {"format": "poisson", "requests_per_second": rate, "seconds": 600, "repeat": True},
            "profile": {"format": "csv", "model": "m", "rows": rows}}


class Belongings:
    """All that a writer owns."""

    def __init__(self, index):
        self.tenants = [Thing(f"/v1/tenants/w{index}-{tenant}") for tenant in range(TENANTS_EACH)]
        self.services = {tenant: [Thing(f"{tenant.path}/services/s{service}") for service in range(SERVICES_EACH)]
                         for tenant in self.tenants}
        self.order = Order(f"/v1/gpus/gpu-{index}")
        self.pause = Pause("/v1/planning") if index == 0 else None

    def things(self):
        """Tenants and services."""
        return self.tenants + [service for services in self.services.values() for service in services]

    def all(self):
        """Everything."""
        return [*self.things(), self.order, *([self.pause] if self.pause else [])]


class Writer(threading.Thread):
    """Writes to what it owns until `ending` is set, or the server is killed. Leaves alone what is not known, until
    it is audited."""

    def __init__(self, server, owned, rng, violations, ending):
        super().__init__(daemon=True)
        self.server = server
        self.owned = owned
        self.rng = rng
        self.violations = violations
        self.ending = ending
        self.acknowledged = 0
        self.time_us = 0  # of the world, in the latest answer
        self.api = None

    def run(self):
        try:
            self.api = Api(self.server.state)
            while not self.ending.is_set() and not self.server.killed.is_set():
                self.write_once()
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self.server.killed.wait(0.1):
                self.violations.add("answer", f"{error!r} while the server was not killed")
        finally:
            if self.api:
                self.api.close()

    def write_once(self):
        """One request to something that is known."""
        kind = self.rng.choices(["tenant", "put", "delete", "gpu", "pause"], [22, 45, 18, 8, 7])[0]
        if kind == "pause" and self.owned.pause and self.owned.pause.is_free():
            return self.set_pause(self.owned.pause)
        if kind == "gpu" and self.owned.order.is_free():
            return self.set_order(self.owned.order)
        tenant = self.rng.choice(self.owned.tenants)
        if not tenant.is_free():
            return None
        if kind == "tenant" or tenant.known is None:
            return self.set_tenant(tenant)
        service = self.rng.choice(self.owned.services[tenant])
        if not service.is_free():
            return None
        if kind == "delete" and service.known is not None:
            return self.exchange(service, "DELETE", service.path, None)
        return self.put(service, True)

    def set_tenant(self, tenant):
        """Creates it, deletes it if it is empty, or gives it other labels."""
        is_empty = all(service.is_free() and service.known is None for service in self.owned.services[tenant])
        if tenant.known is not None and is_empty and self.rng.random() < 0.5:
            return self.exchange(tenant, "DELETE", tenant.path, None)
        return self.put(tenant, False)

    def put(self, thing, has_spec):
        """Creates it, or changes its spec or its labels alone, or nothing."""
        thing.write_count += 1
        body = {"metadata": {"labels": {"write": str(thing.write_count), "shade": self.rng.choice(["red", "green"])}}}
        if has_spec:
            body["spec"] = random_spec(self.rng)
        if thing.known is not None:
            change = self.rng.random()
            if has_spec and change < 0.6:
                body["spec"] = thing.known["spec"]
            if change < 0.1:
                body["metadata"]["labels"] = thing.known["metadata"]["labels"]
            if self.rng.random() < 0.5:
                body["metadata"]["resourceVersion"] = thing.known["metadata"]["resourceVersion"]
        return self.exchange(thing, "PUT", thing.path, body)

    def set_order(self, order):
        """Cordons the GPU, or opens it again, which comes sooner."""
        order.write_count += 1
        is_open = order.known["scheduling"] == "open"
        verb = "cordon" if is_open == (self.rng.random() < 0.8) else "uncordon"
        return self.exchange(order, "POST", f"{order.path}/{verb}", {"reason": f"order {order.write_count}"})

    def set_pause(self, pause):
        """Pauses planning, or resumes it."""
        pause.write_count += 1
        is_paused = not pause.known["paused"] and self.rng.random() < 0.5
        return self.exchange(pause, "PUT", pause.path, {"paused": is_paused, "reason": f"pause {pause.write_count}"})

    def exchange(self, owned, method, path, body):
        """Sends it, and takes the answer down."""
        owned.pending = Write(method, path, body)
        status, answer = self.api.send(method, path, body)
        wanted = 201 if method == "PUT" and isinstance(owned, Thing) and owned.known is None else 200
        if status != wanted:
            self.violations.add("answer", f"{method} {path}: wanted {wanted}, found {status} {shown(answer)}; "
                                          f"known {shown(owned.known)}")
            return
        self.acknowledged += 1
        actual = owned.part(answer)
        if method == "DELETE":
            if not owned.matches(actual):
                self.violations.add("changed", f"{method} {path}: wanted {shown(owned.known)}, found {shown(actual)}")
            owned.learn(None)
            return
        if fault := owned.applied(actual):
            self.violations.add("answer", f"{method} {path} {shown(body)}: {fault}: {shown(actual)}")
        if isinstance(owned, Thing) and owned.known is None:
            created_us = micros_of(actual["metadata"]["creationTimestamp"])
            if created_us < self.time_us:
                self.violations.add("time", f"{path}: created at {text_of(created_us)}, after {text_of(self.time_us)}")
            self.time_us = max(self.time_us, created_us)
        owned.learn(actual)


# ---- what anybody sees


class Sight:
    """What was seen of the server: it must not become untrue. Threads share one; each part has one writer."""

    def __init__(self):
        self.events = {}  # text by id
        self.last_event = 0
        self.oldest_event = 1  # the first one that we have without a gap up to the last one
        self.time_us = 0  # of the world
        self.plans = {}  # by name
        self.slices = {}  # the latest list, by name
        self.overlaps = set()  # pairs of slices that share a place and drain
        self.usage = {}  # intervals that are over, by GPU, first unit and beginning


class Watcher(threading.Thread):
    """Reads the time, slices and plans until the server is killed."""

    def __init__(self, server, sight, violations):
        super().__init__(daemon=True)
        self.server = server
        self.sight = sight
        self.violations = violations

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError), \
                contextlib.closing(Api(self.server.state)) as api:
            while not self.server.killed.is_set():
                self.look(api)
                self.server.killed.wait(0.02)

    def look(self, api):
        """Once at everything."""
        self.sight.time_us = max(self.sight.time_us, micros_of(api.get("/v1/status")["time"]))
        self.sight.slices = checked_slices(api, self.sight, self.violations)
        for plan in api.get("/v1/plans?limit=5")["items"]:
            self.sight.plans[plan["metadata"]["name"]] = plan


class EventWatcher(threading.Thread):
    """Reads events until the server is killed."""

    def __init__(self, server, sight, violations):
        super().__init__(daemon=True)
        self.server = server
        self.sight = sight
        self.violations = violations

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError), \
                contextlib.closing(Api(self.server.state)) as api:
            for number, text in api.events(self.sight.last_event):
                note_event(self.sight, number, text, self.violations)
                if self.server.killed.is_set():
                    return


def note_event(sight, number, text, violations):
    """Takes down an event that comes behind the last one, or a gap before it."""
    if text is None:
        if number - 1 < sight.last_event:
            violations.add("lost", f"events: a gap up to {number}, behind {sight.last_event}")
        sight.oldest_event, sight.last_event = number, number - 1
        return
    if number != sight.last_event + 1:
        violations.add("lost" if number > sight.last_event else "duplicated",
                       f"events: wanted {sight.last_event + 1}, found {number}: {shown(text)}")
    sight.events[number] = text
    sight.last_event = number


def checked_slices(api, sight, violations):
    """The slices by name; whatever is there stands alone in its place."""
    slices, places = {}, {}
    for item in api.items("/v1/slices"):
        name, status = item["metadata"]["name"], item["status"]
        if name in slices:
            violations.add("duplicated", f"slices: {name} is listed twice")
        slices[name] = item
        if status["state"] in ("foreign", "lost"):
            violations.add("changed", f"slices: {shown(item)}")
        length = LENGTHS[status["profile"].split("+")[0]]
        places.setdefault(status["gpu"], []).append((status["start"], status["start"] + length, status["state"], name))
    for found in places.values():
        for first, second in itertools.combinations(found, 2):
            if first[0] >= second[1] or second[0] >= first[1]:
                continue
            states = {first[2], second[2]}
            if states == {"draining"}:  # one may wait to be created, for a service that is gone: see the events
                sight.overlaps.add((first[3], second[3]))
            elif states != {"creating", "draining"}:  # that is listed while others drain to make room for it
                violations.add("duplicated", f"slices: {first[3]} ({first[2]}) and {second[3]} ({second[2]}) share a "
                                             "place")
    return slices


# ---- the auditor


class Auditor:
    """Compares a server that was started again with what was answered before. Learns what it finds, so that a fault is
    reported once."""

    def __init__(self, server, belongings, sight, violations, speed):
        self.server = server
        self.belongings = belongings
        self.sight = sight
        self.violations = violations
        self.speed = speed
        self.epoch_us = None
        self.others = None  # objects that no writer owns: path to what they are

    def run(self, rng):
        """All checks. Nothing writes meanwhile."""
        with contextlib.closing(Api(self.server.state)) as api:
            self.check_time(api)
            self.check_objects(api, rng.choice([7, 100, 500]))
            self.check_orders(api)
            before, self.sight.slices = self.sight.slices, checked_slices(api, self.sight, self.violations)
            self.check_plans(api)
            self.check_usage(api, rng.choice([7, 100, 500]))
            self.check_time(api)
        self.check_events(before)
        for line in self.server.log_errors():
            self.violations.add("start", f"log: {shown(line)}")

    def check_time(self, api):
        """It never goes back, and runs only while a process does."""
        time_us = micros_of(api.get("/v1/status")["time"])
        if self.epoch_us is None:
            self.epoch_us = micros_of(api.get("/v1/nodes?limit=1")["items"][0]["metadata"]["creationTimestamp"])
        if time_us < self.sight.time_us:
            self.violations.add("time", f"world time went back by {(self.sight.time_us - time_us) / 1e6:.3f} s from "
                                        f"{text_of(self.sight.time_us)}, which /v1/status has said")
        lived_us = self.speed * self.server.lived_seconds() * 1e6
        if time_us - self.epoch_us > lived_us:
            self.violations.add("time", f"world time is {(time_us - self.epoch_us) / 1e6:.3f} s, and the processes "
                                        f"lived for {lived_us / 1e6:.3f} s of it")
        self.sight.time_us = time_us

    def check_objects(self, api, limit):
        """Tenants and services."""
        actual = {}
        for item in [*api.items("/v1/tenants", limit), *api.items("/v1/services", limit)]:
            metadata = item["metadata"]
            path = f"/v1/tenants/{metadata['name']}"
            if item["kind"] == "GpuService":
                path = f"/v1/tenants/{metadata['namespace']}/services/{metadata['name']}"
            if path in actual:
                self.violations.add("duplicated", f"{path} is listed twice")
            actual[path] = Thing.part(item)
        for owned in self.belongings:
            for thing in owned.things():
                self.check(thing, actual.pop(thing.path, None))
        if self.others is None:
            self.others = actual
        for path in sorted(self.others.keys() | actual.keys()):
            wanted, found = self.others.get(path), actual.get(path)
            if wanted != found:
                kind = "lost" if found is None else "duplicated" if wanted is None else "changed"
                self.violations.add(kind, f"{path}: wanted {shown(wanted)}, found {shown(found)}")
        self.others = actual

    def check_orders(self, api):
        """Cordons and the pause."""
        gpus = {item["metadata"]["name"]: item for item in api.items("/v1/gpus")}
        for owned in self.belongings:
            self.check(owned.order, Order.part(gpus[owned.order.path.rpartition("/")[2]]))
            if owned.pause:
                self.check(owned.pause, api.get("/v1/planning"))

    def check(self, owned, actual):
        """It is as it was answered; what was sent after that was carried out, or not."""
        is_first = owned.known is None and not isinstance(owned, Thing)
        if is_first or (owned.matches(actual) and not self.is_used_version(owned, actual)):
            owned.learn(actual)
            return
        fault = "nothing was sent" if owned.pending is None else owned.applied(actual)
        if fault:
            kind = "lost" if actual is None else "duplicated" if owned.known is None else "changed"
            text = f"{owned.path}: wanted {shown(owned.known)}, found {shown(actual)}"
            if owned.pending:
                text += f"; sent {shown(dataclasses.asdict(owned.pending))}: it {fault}"
            self.violations.add(kind, text)
        if self.is_used_version(owned, actual):
            self.violations.add("version", f"{owned.path}: {shown(actual)} has a version that stood for "
                                           f"{shown(owned.versions[int(actual['metadata']['resourceVersion'])])}")
        owned.learn(actual)

    @staticmethod
    def is_used_version(owned, actual):
        """Whether its version stood for something else before."""
        if actual is None or not isinstance(owned, Thing):
            return False
        return owned.versions.get(int(actual["metadata"]["resourceVersion"]), actual) != actual

    def check_plans(self, api):
        """Plans that were seen are still there; those that were over are the same."""
        listed = api.items("/v1/plans")
        actual = {plan["metadata"]["name"]: plan for plan in listed}
        if len(actual) != len(listed):
            self.violations.add("duplicated", "plans: one is listed twice")
        for name, seen in self.sight.plans.items():
            found, phase = actual.get(name), seen["status"]["phase"]
            if found is None:
                if len(actual) < PLANS_KEPT:
                    self.violations.add("lost", f"{name}, which was {phase}, is not there: {shown(seen)}")
            elif found["metadata"] != seen["metadata"]:
                self.violations.add("changed", f"{name}: wanted {shown(seen['metadata'])}, found "
                                               f"{shown(found['metadata'])}")
            elif phase in FINAL_PHASES and found != seen:
                self.violations.add("changed", f"{name}, which was {phase}: {difference(seen, found)}")
        self.sight.plans = actual

    def check_usage(self, api, limit):
        """Each unit of each GPU is one thing at a time from the beginning to now, and what was over stays as it was."""
        until = api.get("/v1/status")["time"]
        rows = api.items(f"/v1/usage?to={until}", limit)
        times, over = {}, {}
        for row in rows:
            end = row["to"] or until
            if end < until:
                over[row["gpu"], row["start"], row["from"]] = row
            for unit in range(row["start"], row["start"] + row["units"]):
                times.setdefault((row["gpu"], unit), []).append((row["from"], end))
        first = min((row["from"] for row in rows), default=until)
        if micros_of(first) != self.epoch_us:
            self.violations.add("usage", f"it begins at {first}, and the world at {text_of(self.epoch_us)}")
        for (gpu, unit), spans in times.items():
            spans.sort()
            for (_, end), (begin, _) in zip([("", first), *spans], [*spans, (until, "")]):
                if begin != end:
                    self.violations.add("usage", f"{gpu}, unit {unit}: a span ends at {end}, the next begins at {begin}")
        for gpu in api.items("/v1/gpus"):
            name, units = gpu["metadata"]["name"], gpu["status"]["units"]
            if {unit for found, unit in times if found == name} != set(range(units)):
                self.violations.add("usage", f"{name}: wanted {units} units, found others")
        for key, row in self.sight.usage.items():
            if over.get(key) != row:
                self.violations.add("usage", f"{key}: wanted {shown(row)}, found {shown(over.get(key))}")
        self.sight.usage = over

    def check_events(self, before):
        """Those that were seen are the same, and tell of every slice that came or went. `before`: the slices that were
        seen before the kill."""
        now = self.sight.slices
        fresh = Sight()
        deadline = time.monotonic() + SETTLE_SECONDS
        with contextlib.closing(Api(self.server.state)) as api:
            api.connection.timeout = SETTLE_SECONDS
            try:
                for number, text in api.events(0):
                    note_event(fresh, number, text, self.violations)
                    is_late = time.monotonic() > deadline
                    # Where the oldest are forgotten, the server still has as many as it keeps.
                    is_part = fresh.oldest_event > 1 and fresh.last_event < fresh.oldest_event + EVENTS_KEPT - 1
                    if fresh.last_event < self.sight.last_event or (is_part and not is_late):
                        continue
                    if is_late or not missing_events(fresh, before, now):
                        break
            except TimeoutError:
                pass
        if fresh.last_event < self.sight.last_event:
            self.violations.add("lost", f"events {fresh.last_event + 1} to {self.sight.last_event} are gone")
        if fresh.last_event - fresh.oldest_event + 1 < min(EVENTS_KEPT, fresh.last_event):
            self.violations.add("lost", f"events before {fresh.oldest_event} are gone")
        for number in range(fresh.oldest_event, min(fresh.last_event, self.sight.last_event) + 1):
            seen = self.sight.events.get(number)
            if seen is not None and seen != fresh.events[number]:
                self.violations.add("changed", f"event {number}: wanted {shown(seen)}, found "
                                               f"{shown(fresh.events[number])}")
        for kind, text in missing_events(fresh, before, now):
            self.violations.add(kind, text)
        self.check_slice_events(fresh)
        for name, seen in before.items():
            if name in now and now[name]["metadata"]["uid"] != seen["metadata"]["uid"]:
                self.violations.add("changed", f"slice {name}: wanted {shown(seen)}, found {shown(now[name])}")
        self.sight.events, self.sight.last_event = fresh.events, fresh.last_event
        self.sight.oldest_event = fresh.oldest_event

    def check_slice_events(self, fresh):
        """Each slice comes once and goes once, and comes after those went that stood in its place."""
        created, gone = dict(slice_events(fresh, "SliceCreated")), dict(slice_events(fresh, "SliceGone"))
        for one, other in self.sight.overlaps:
            both = one in created and other in created
            if both and not any(gone.get(first, fresh.last_event) < created[second]
                                for first, second in ((one, other), (other, one))):
                self.violations.add("duplicated", f"slices: {one} and {other} share a place, and both were created")
        self.sight.overlaps.clear()
        for word in ("SliceCreated", "SliceGone"):
            numbers = {}
            for name, number in slice_events(fresh, word):
                if not name.endswith("-foreign"):  # is a violation itself, and has no number
                    numbers.setdefault(name, []).append(number)
            for name, told in numbers.items():
                if len(told) > 1 and told[-1] > self.sight.last_event:
                    self.violations.add("duplicated", f"{word} of {name} is told by events {told}")
                if word == "SliceGone" and name in self.sight.slices and told[0] <= self.sight.last_event:
                    self.violations.add("duplicated", f"slice {name} is there, and event {told[0]} said before that it "
                                                      "went")
        for word in ("SliceForeign", "SliceMissing", "GpuLost"):
            for name, number in slice_events(fresh, word):
                if number > self.sight.last_event:
                    self.violations.add("changed", f"event {number}: {word} of {name}: {shown(fresh.events[number])}")


def slice_events(sight, word):
    """Name and id of the events of a kind."""
    start = f"event: {word}\n"
    return [(json.loads(text.partition("data: ")[2])["object"]["name"], number)
            for number, text in sight.events.items() if text.startswith(start)]


def missing_events(sight, before, now):
    """Slices that came or went, and no event says so. Not known once events are forgotten."""
    if sight.oldest_event > 1:
        return []
    created = {name for name, _ in slice_events(sight, "SliceCreated")}
    gone = {name for name, _ in slice_events(sight, "SliceGone")}
    intended = {text.rpartition(": create ")[2].partition('"')[0]
                for text in sight.events.values() if text.startswith("event: ActionIntended\n")}

    def is_there(name, item):
        """Not those that wait to be created, which drain where their service is gone."""
        state = item["status"]["state"]
        waits = state == "creating" or (state == "draining" and name in intended - created)
        return state != "foreign" and not waits
    missing = [("lost", f"slice {name} ({seen['status']['state']}) went, and no event says so: {shown(seen)}")
               for name, seen in before.items() if name not in now and name not in gone and is_there(name, seen)]
    missing += [("duplicated", f"slice {name} ({item['status']['state']}) is there, and no event says that it came: "
                               f"{shown(item)}")
                for name, item in now.items() if name not in created and is_there(name, item)]
    return missing


def difference(seen, found, path=""):
    """Where two values differ first."""
    if isinstance(seen, dict) and isinstance(found, dict):
        for key in sorted(seen.keys() | found.keys()):
            if seen.get(key) != found.get(key):
                return difference(seen.get(key), found.get(key), f"{path}.{key}")
    if isinstance(seen, list) and isinstance(found, list) and len(seen) == len(found):
        for index, (one, other) in enumerate(zip(seen, found)):
            if one != other:
                return difference(one, other, f"{path}[{index}]")
    return f"{path or 'it'}: wanted {shown(seen)}, found {shown(found)}"


# ---- the run


class Crash:
    """Kills, starts and audits. `folder` is not there yet, or empty."""

    def __init__(self, folder, seed, speed, goes_on=False):
        self.folder = folder
        self.seed = seed
        self.goes_on = goes_on
        self.rng = random.Random(seed)
        self.violations = Violations()
        self.server = Server(folder, speed, 1)
        self.belongings = [Belongings(index) for index in range(WRITER_COUNT)]
        self.sight = Sight()
        self.auditor = Auditor(self.server, self.belongings, self.sight, self.violations, speed)
        self.acknowledged = 0
        self.counted = 0
        self.audit_count = 0

    def may_go_on(self):
        """Whether there is no violation, or it does not matter."""
        return self.goes_on or not self.violations.found

    def run(self, kills):
        """So many kills that count, then a clean stop and one more start."""
        try:
            self.start(is_audited=True)
            while self.counted < kills and self.may_go_on():
                acknowledged = self.load_and_kill()
                self.acknowledged += acknowledged
                self.counted += acknowledged > 0
                is_last = self.counted == kills
                if not is_last and self.rng.random() < KILLED_START_SHARE:
                    self.kill_a_start()
                self.start(is_audited=is_last or self.rng.random() < AUDITED_SHARE)
            if self.may_go_on():
                self.stop_and_start()
        finally:
            if self.server.process:
                self.server.end(signal.SIGKILL)

    def start(self, is_audited):
        """Until it is ready; then perhaps an audit."""
        self.server.spawn()
        if not self.server.wait_until_ready():
            self.violations.add("start", "it did not become ready")
            raise RuntimeError("no server")
        if self.server.start_ms[-1] > 1000 * READY_SECONDS:
            self.violations.add("start", f"it was ready after {self.server.start_ms[-1]:.0f} ms")
        if not is_audited:
            return
        self.auditor.run(self.rng)
        self.audit_count += 1
        if self.may_go_on() and not self.violations.found:
            self.server.forget_kills()

    def load_and_kill(self):
        """Writes, and kills at a random time; how many writes were acknowledged."""
        self.violations.round = self.server.kill_count + 1
        ending = threading.Event()
        writers = [Writer(self.server, owned, random.Random(f"{self.seed}/{self.server.kill_count}/{index}"),
                          self.violations, ending) for index, owned in enumerate(self.belongings)]
        watchers = [watcher(self.server, self.sight, self.violations) for watcher in (Watcher, EventWatcher)]
        for thread in (*watchers, *writers):
            thread.start()
        time.sleep(self.rng.uniform(*KILL_AFTER_MS) / 1000)
        if self.rng.random() < QUIET_SHARE:
            ending.set()
            time.sleep(self.rng.uniform(*QUIET_MS) / 1000)
        self.server.kill()
        for thread in (*watchers, *writers):
            thread.join()
        return sum(writer.acknowledged for writer in writers)

    def kill_a_start(self):
        """A start that is killed before or about when it is ready."""
        self.server.spawn()
        time.sleep(self.rng.uniform(0, max(self.server.start_ms[1:], default=100)) / 1000)
        self.server.kill()

    def stop_and_start(self):
        """A clean stop, a pause in which the world must stand still, and a start after it."""
        began = time.monotonic()
        status = self.server.end(signal.SIGTERM)
        seconds = time.monotonic() - began
        if status != 0 or seconds > STOP_SECONDS:
            self.violations.add("stop", f"SIGTERM: status {status} after {seconds:.3f} s")
        time.sleep(DOWN_SECONDS)
        self.start(is_audited=True)

    def summary(self):
        """One line that programs can read."""
        restarts = sorted(self.server.start_ms[1:])
        known = {kind: self.violations.count(kind) for kind in ("lost", "duplicated")}
        figures = {"kills": self.counted, "kills_all": self.server.kill_count, "audits": self.audit_count,
                   "acknowledged": self.acknowledged, **known,
                   "other_violations": len(self.violations.found) - sum(known.values()),
                   "restart_ms_p50": round(restarts[len(restarts) // 2]) if restarts else None,
                   "restart_ms_max": round(restarts[-1]) if restarts else None, "seed": self.seed}
        return "kill_test " + json.dumps(figures)


def run_crash(kills, seed, speed, goes_on=False):
    """Runs it and prints the summary; the violations, with the folder that was kept, or an empty text."""
    folder = Path(tempfile.mkdtemp(prefix="berth-kill-"))
    crash = Crash(folder, seed, speed, goes_on)
    error = ""
    try:
        crash.run(kills)
    except (OSError, http.client.HTTPException, RuntimeError, LookupError, ValueError) as found:
        error = f"the test ended early: {found!r}"
    print(crash.summary(), flush=True)
    found = [text for _, text in crash.violations.found] + ([error] if error else [])
    if not found:
        shutil.rmtree(folder)
        return ""
    (folder / "violations").write_text("\n".join(found) + "\n")
    more = [f"and {len(found) - SHOWN_MAX} more"] if len(found) > SHOWN_MAX else []
    return "\n".join([*found[:SHOWN_MAX], *more, f"seed {seed}; kept: {folder}"])


class Kill(unittest.TestCase):
    def test_what_was_answered_is_true_after_a_kill(self):
        seed = int(os.environ.get("BERTH_SEED", random.SystemRandom().randrange(1_000_000)))
        found = run_crash(int(os.environ.get("BERTH_KILLS", "30")), seed, float(os.environ.get("BERTH_SPEED", "20")),
                          os.environ.get("BERTH_GO_ON") == "1")
        if found:
            self.fail(found)


if __name__ == "__main__":
    unittest.main()
