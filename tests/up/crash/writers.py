"""What the clients of the crash test own and know, and the threads that write to it."""

import collections
import dataclasses
import http.client
import json
import threading

from server import Api, contains, micros_of, shown, text_of

TENANTS_EACH = 2
SERVICES_EACH = 2  # of a tenant
KEYED_SHARE = 0.5  # of the writes: with an Idempotency-Key
KEYED_EACH = 200  # that a writer remembers


@dataclasses.dataclass
class Write:
    """A request that was sent."""
    method: str
    path: str
    body: dict | None
    key: str | None = None  # under which it may be sent again
    is_certain: bool = False  # it was answered since
    status: int = 0  # of the answer
    text: bytes = b""  # of the answer


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
    points = [("A100-80GB", "1g.10gb", 30, 33), ("A100-80GB", "2g.20gb", 55, 18),  # in the server's order
              ("A30-24GB", "1g.6gb", 25, 40), ("A30-24GB", "2g.12gb", 45, 22),
              ("H100-80GB-SXM5", "1g.10gb", 50, 20), ("H100-80GB-SXM5", "3g.40gb", 120, 8)]
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
        self.index = index
        self.keyed = collections.deque(maxlen=KEYED_EACH)  # writes under keys that were answered
        self.key_count = 0

    def next_key(self):
        """One that nobody has used."""
        self.key_count += 1
        return f"writer {self.index}, write {self.key_count}"

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
        write = owned.pending = Write(method, path, body)
        if self.rng.random() < KEYED_SHARE:
            write.key = self.owned.next_key()
        write.status, write.text, is_repeat = self.api.send_keyed(method, path, body, write.key)
        status, answer = write.status, json.loads(write.text)
        if is_repeat:
            self.violations.add("answer", f"{method} {path}: a new key was taken for a used one: {write.key}")
        wanted = 201 if method == "PUT" and isinstance(owned, Thing) and owned.known is None else 200
        if status != wanted:
            self.violations.add("answer", f"{method} {path}: wanted {wanted}, found {status} {shown(answer)}; "
                                          f"known {shown(owned.known)}")
            return
        self.acknowledged += 1
        if write.key:
            self.owned.keyed.append(write)
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
