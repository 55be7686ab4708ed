"""Clients that write to the same objects at once. None knows what it finds, but each answer is that of one write, and a
version is one content for ever, over kills, too."""

import hashlib
import http.client
import json
import random
import threading

from server import Api, contains, shown
from writers import Thing, random_spec

RIVAL_COUNT = 4
PREFIX = "/v1/tenants/rivals-"  # of all that is theirs
TENANTS = [PREFIX + name for name in "xy"]
SERVICES = [f"{tenant}/services/{name}" for tenant in TENANTS for name in "ab"]
SPECS = [random_spec(random.Random(seed)) for seed in (1, 2)]  # few, so that many writes change nothing
BLOBS = [json.dumps([{"second": 0, "requests": count}]) for count in (1, 2)]


class Contested:
    """What all rivals were told so far, and the writes of each that got no answer."""

    def __init__(self, violations):
        self.violations = violations
        self.lock = threading.Lock()
        self.told = {}  # version to content
        self.unanswered = {}  # rival to (method, path, body, key)
        self.key_count = 0

    def next_key(self):
        """One that nobody has used."""
        with self.lock:
            self.key_count += 1
            return f"rivals, write {self.key_count}"

    def note(self, path, item):
        """An object was told of."""
        part = {"path": path, **Thing.part(item)}
        version = item["metadata"]["resourceVersion"]
        with self.lock:
            before = self.told.setdefault(version, part)
        if before != part:
            self.violations.add("changed", f"{path}: version {version} was {shown(before)}, and is {shown(part)}")


class Rival(threading.Thread):
    """Writes until `ending` is set, or the server is killed."""

    def __init__(self, index, server, contested, rng, ending):
        super().__init__(daemon=True)
        self.index = index
        self.server = server
        self.contested = contested
        self.rng = rng
        self.ending = ending
        self.api = None

    def run(self):
        try:
            self.api = Api(self.server.state)
            if unanswered := self.contested.unanswered.pop(self.index, None):
                self.send(*unanswered)
            while not self.ending.is_set() and not self.server.killed.is_set():
                self.write_once()
        except (OSError, http.client.HTTPException, ValueError) as error:
            if not self.server.killed.wait(0.1):
                self.contested.violations.add("answer", f"{error!r} while the server was not killed")
        finally:
            if self.api:
                self.api.close()

    def write_once(self):
        """A write to one of a few objects."""
        key = self.contested.next_key() if self.rng.random() < 0.5 else None
        path = self.rng.choice(TENANTS if self.rng.random() < 0.2 else SERVICES)
        kind = self.rng.choices(["put", "delete", "blob"], [60, 30, 10])[0]
        if kind == "delete":
            return self.send("DELETE", path, None, key)
        if kind == "blob":
            blob = self.rng.choice(BLOBS)
            name = hashlib.sha256(blob.encode()).hexdigest()
            return self.send("PUT", f"/v1/blobs/{name}", json.loads(blob), self.contested.next_key())
        body = {"metadata": {"labels": {"shade": self.rng.choice(["red", "green"])}}}
        if path in SERVICES:
            body["spec"] = self.rng.choice(SPECS)
        return self.send("PUT", path, body, key)

    def send(self, method, path, body, key=None):
        """Sends it, and looks at the answer."""
        if key:
            self.contested.unanswered[self.index] = (method, path, body, key)
        status, text, is_repeat = self.api.send_keyed(method, path, body, key)
        self.contested.unanswered.pop(self.index, None)
        answer = json.loads(text)
        if status not in self.wanted(method, path):
            self.contested.violations.add("answer", f"{method} {path}: found {status} {shown(answer)}")
        elif path.startswith(PREFIX) and status < 300 and not is_repeat:
            self.contested.note(path, answer)
            if method == "PUT" and not (answer["metadata"]["labels"] == body["metadata"]["labels"]
                                        and contains(answer["spec"], body.get("spec", {}))):
                self.contested.violations.add("answer", f"PUT {path} {shown(body)}: answered with {shown(answer)}")

    @staticmethod
    def wanted(method, path):
        """The statuses that an answer may have: a tenant may be gone, or have services."""
        if method == "DELETE":
            return (200, 404) if path in SERVICES else (200, 404, 409)
        return (200, 201, 404) if path in SERVICES else (200, 201)
