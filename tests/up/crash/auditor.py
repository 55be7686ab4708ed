"""What anybody sees of the server of the crash test, and the auditor, who compares it after a kill with what was answered
before. It knows the API only; it shares no code with the server."""

import contextlib
import http.client
import itertools
import json
import threading
import time

from rivals import PREFIX as RIVALS
from server import Api, micros_of, shown, text_of
from writers import Order, Thing

SETTLE_SECONDS = 3  # in which an event must follow what it is about
EVENTS_KEPT = 10_000  # by the server
PLANS_KEPT = 1_000
KEYS_AGAIN = 5  # of each writer, in an audit

# NVIDIA, MIG user guide: the memory slices of a profile. A GPU has 8 of them, an A30 has 4.
LENGTHS = {"1g.10gb": 1, "1g.20gb": 2, "2g.20gb": 2, "3g.40gb": 4, "4g.40gb": 4, "7g.80gb": 8,
           "1g.6gb": 1, "2g.12gb": 2, "4g.24gb": 4}
FINAL_PHASES = ("done", "expired", "refused", "superseded")


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


class Observer(threading.Thread):
    """Notes what it sees until the server is killed, in `observe(api)`."""

    def __init__(self, server, sight, violations):
        super().__init__(daemon=True)
        self.server = server
        self.sight = sight
        self.violations = violations

    def run(self):
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError), \
                contextlib.closing(Api(self.server.state)) as api:
            self.observe(api)


class Watcher(Observer):
    """Reads the time, slices and plans."""

    def observe(self, api):
        while not self.server.killed.is_set():
            self.look(api)
            self.server.killed.wait(0.02)

    def look(self, api):
        """Once at everything."""
        self.sight.time_us = max(self.sight.time_us, micros_of(api.get("/v1/status")["time"]))
        self.sight.slices = checked_slices(api, self.sight, self.violations)
        for plan in api.get("/v1/plans?limit=5")["items"]:
            self.sight.plans[plan["metadata"]["name"]] = plan


class EventWatcher(Observer):
    """Reads events."""

    def observe(self, api):
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
            self.check_keys(api, rng)
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

    def check_keys(self, api, rng):
        """A write under a key that is sent again gets the same answer, byte for byte; one that got none is carried out
        by then, and once."""
        for owned in self.belongings:
            for thing in owned.all():
                if thing.pending and thing.pending.key:
                    self.answer_again(api, thing.pending)
                    owned.keyed.append(thing.pending)
            for write in rng.sample(list(owned.keyed), min(KEYS_AGAIN, len(owned.keyed))):
                status, text, is_repeat = api.send_keyed(write.method, write.path, write.body, write.key)
                if (status, text, is_repeat) != (write.status, write.text, True):
                    self.violations.add("answer", f"{write.method} {write.path} again under {write.key}: wanted "
                                                  f"{write.status} {shown(write.text.decode())}, found {status} "
                                                  f"{shown(text.decode())}, repeated: {is_repeat}")

    def answer_again(self, api, write):
        """Sends what got no answer."""
        write.status, write.text, _ = api.send_keyed(write.method, write.path, write.body, write.key)
        write.is_certain = True
        if write.status not in (200, 201):
            self.violations.add("answer", f"{write.method} {write.path} again under {write.key}: found {write.status} "
                                          f"{shown(write.text.decode())}")

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
        actual = {path: item for path, item in actual.items() if not path.startswith(RIVALS)}
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
        if owned.pending and owned.pending.is_certain and (fault := owned.applied(actual)):
            self.violations.add("lost", f"{owned.path}: sent {shown(owned.pending.body)} under {owned.pending.key}: it "
                                        f"{fault}: {shown(actual)}")
        is_first = owned.known is None and not isinstance(owned, Thing)
        if is_first or (owned.matches(actual) and not self.is_used_version(owned, actual)):
            owned.learn(actual)
            return
        fault = "nothing was sent" if owned.pending is None else owned.applied(actual)
        if fault:
            kind = "lost" if actual is None else "duplicated" if owned.known is None else "changed"
            text = f"{owned.path}: wanted {shown(owned.known)}, found {shown(actual)}"
            if owned.pending:
                text += f"; sent {owned.pending.method} {shown(owned.pending.body)}: it {fault}"
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
        over = {(row["gpu"], row["start"], row["from"]): row for row in rows if (row["to"] or until) < until}
        first = min((row["from"] for row in rows), default=until)
        if micros_of(first) != self.epoch_us:
            self.violations.add("usage", f"it begins at {first}, and the world at {text_of(self.epoch_us)}")
        for fault in usage_faults(rows, first, until, api.items("/v1/gpus")):
            self.violations.add("usage", fault)
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


def usage_faults(rows, first, until, gpus):
    """Units of GPUs that were two things at a time, or nothing, between two times, by rows of /v1/usage."""
    times, faults = {}, []
    for row in rows:
        for unit in range(row["start"], row["start"] + row["units"]):
            times.setdefault((row["gpu"], unit), []).append((row["from"], row["to"] or until))
    for (gpu, unit), spans in times.items():
        spans.sort()
        for (_, end), (begin, _) in zip([("", first), *spans], [*spans, (until, "")]):
            if begin != end:
                faults.append(f"{gpu}, unit {unit}: a span ends at {end}, the next begins at {begin}")
    for gpu in gpus:
        name, units = gpu["metadata"]["name"], gpu["status"]["units"]
        if {unit for found, unit in times if found == name} != set(range(units)):
            faults.append(f"{name}: wanted {units} units, found others")
    return faults


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
