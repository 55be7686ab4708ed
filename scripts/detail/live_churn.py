"""Clients that all the time change what a running `berth up` with its demo has to do, and read what it shows.

Each client has a seeded generator and tenants of its own, so that it knows what is there; GPUs, faults and the pause
are shared. Most requests are valid. The others are broken on purpose, and their errors are expected."""

import collections
import http.client
import json
import threading
import time
import urllib.parse

TENANTS_PER_CLIENT = 2
SERVICES_PER_TENANT = 4
STREAMS_PER_CLIENT = 3
ODD_ANSWERS_SHOWN = 20
TEXT_SHOWN = 500

# The fleet of the demo: GPUs by number, nodes, and places for slices of others (profile, starts).
A100, H100, A30 = "A100-80GB", "H100-80GB", "A30-24GB"
GPUS = [A100] * 4 + [H100] * 2 + [A30] * 2
NODE_COUNT = 3
PLACES = {A100: [("1g.10gb", range(7)), ("2g.20gb", (0, 2, 4)), ("3g.40gb", (0, 4))],
          A30: [("1g.6gb", range(4)), ("2g.12gb", (0, 2))]}
PLACES[H100] = PLACES[A100]
# Compute slices of each profile; how fast a model is compared with an A100.
PROFILES = {A100: {"1g.10gb": 1, "2g.20gb": 2, "3g.40gb": 3, "4g.40gb": 4, "7g.80gb": 7},
            A30: {"1g.6gb": 1, "2g.12gb": 2, "4g.24gb": 4}}
PROFILES[H100] = PROFILES[A100]
SPEEDS = {A100: 1.0, H100: 1.8, A30: 0.55}

LISTS = ["/v1/tenants", "/v1/services", "/v1/nodes", "/v1/gpus", "/v1/slices", "/v1/plans", "/v1/sim/faults"]
SINGLES = ["/v1/status", "/v1/overview", "/v1/planning", "/v1/plans/current", "/v1/gpus/gpu-5", "/v1/nodes/node-2",
           "/v1/tenants/vision", "/v1/tenants/search/services/ranker", "/", "/readyz"]
REASON = {"reason": "a changing fleet"}


def profile_of(model, item_ms):
    """Rows as those of examples/live/service.yaml: 4 ms, and so many for each item on a whole A100, more on slices."""
    rows = []
    for gpu, profiles in PROFILES.items():
        for profile, slices in profiles.items():
            for batch in (1, 4, 8):
                latency = round(4 + item_ms * batch * (max(profiles.values()) / slices) ** 0.8 / SPEEDS[gpu], 2)
                rows.append({"model": model, "gpu": gpu, "profile": profile, "batch": batch, "processes": 1,
                             "requests_per_second": round(1000 * batch / latency, 2), "latency_ms": latency})
    return {"format": "csv", "model": model, "rows": rows}


def random_spec(rng, without=frozenset()):
    """The spec of a service, without these keys; most have a generator of arrivals and nothing unusual."""
    rate = rng.choice([1, 5, 20, 40])
    spec = {"slo": {"latency_ms": rng.choice([100, 200, 400])}}
    kind = rng.choice(["constant", "poisson", "bursty", "diurnal", "rows", None])
    if kind == "rows":
        rows = [{"second": second, "requests": rng.randrange(2 * rate)} for second in range(60)]
        spec["arrivals"] = {"format": "csv", "rows": rows, "repeat": True}
    elif kind:
        spec["arrivals"] = {"format": kind, "requests_per_second": rate, "seconds": 600, "repeat": True}
    if rng.random() < 0.6:
        spec["expects"] = {"requests_per_second": rate}
    for key, value in [("floor", {"attainment": 0.9}), ("weight", 2), ("changes_per_hour", 60), ("isolation", "gpu"),
                       ("trust_domain", "own"), ("drop", "never"), ("start_seconds", 20)]:
        if rng.random() < 0.1:
            spec[key] = value
    if rng.random() < 0.2:
        spec["variants"] = [{"name": "small", "accuracy": 0.8, "profile": profile_of("small", 3)}]
    if rng.random() < 0.2:
        spec["accuracy"] = {"before": 0.7, "after": 0.9}
        spec["retraining"] = {"every_seconds": 600, "offset_seconds": 10,
                              "seconds_on": {"1g": 180, "2g": 100, "3g": 70, "4g": 60, "7g": 40}}
    spec["profile"] = profile_of("m", rng.choice([5, 7, 12]))
    return {key: value for key, value in spec.items() if key not in without}


class Tally:
    """The answers of all clients. A 5xx, no answer and a status that was not expected are errors."""

    def __init__(self):
        self.lock = threading.Lock()
        self.statuses = collections.Counter()
        self.orders = collections.Counter()
        self.error_count = 0
        self.odd = []
        self.longest_seconds = 0.0
        self.longest = ""  # its request

    def note(self, order, status, expected, seconds, detail):
        """An answer; status None: there was none. `detail` is the request and the answer."""
        with self.lock:
            self.statuses[status or "none"] += 1
            self.orders[order] += 1
            if seconds > self.longest_seconds:
                self.longest_seconds, self.longest = seconds, " ".join(detail.split(" ", 2)[:2])
            if status not in expected or status >= 500:
                self.note_error(detail)

    def note_error(self, detail):
        """Something that must not be. Requires: the lock."""
        self.error_count += 1
        if len(self.odd) < ODD_ANSWERS_SHOWN:
            self.odd.append(detail)

    def summary(self):
        """The end of a line: requests and errors so far."""
        with self.lock:
            return f", {self.statuses.total()} requests, {self.error_count} errors"

    def show(self):
        """Prints the counts, and the first answers that were not expected."""
        print("answers by status:", ", ".join(f"{status}: {count}" for status, count in
                                              sorted(self.statuses.items(), key=str)))
        print("requests by kind:", ", ".join(f"{order}: {count}" for order, count in sorted(self.orders.items())))
        print(f"longest answer: {self.longest_seconds * 1000:.0f} ms ({self.longest})")
        for detail in self.odd:
            print("not expected:", detail)
        if self.error_count > len(self.odd):
            print(f"and {self.error_count - len(self.odd)} more that were not expected")


class Worker(threading.Thread):
    """What clients and watchers share: they send, count, and end when `ending` is set."""

    def __init__(self, server, tally, rng, ending):
        super().__init__(daemon=True)
        self.server = server
        self.tally = tally
        self.rng = rng
        self.ending = ending

    def run(self):
        try:
            self.work()
        except (ValueError, LookupError) as error:  # such as an answer of another form
            self.complain(f"{type(self).__name__} ended: {error!r}")

    def work(self):
        """What it does until `ending` is set."""
        raise NotImplementedError

    def complain(self, detail):
        """Counts an error."""
        with self.tally.lock:
            self.tally.note_error(detail)

    def exchange(self, order, method, path, expected, data=None, headers=(), is_stream=False):
        """Sends a request and counts its answer: JSON, or the open response of a stream; None where it is no 2xx."""
        began = time.monotonic()
        status, text, stream = None, b"", None
        try:
            reply = self.server.client.open(method, path, data, headers)
            status = reply.status
            if is_stream and status == 200:
                stream = reply
            else:
                with reply:
                    text = reply.read()
        except (OSError, http.client.HTTPException) as error:
            status, text = None, repr(error).encode()
        shown = (data or b"")[:TEXT_SHOWN].decode(errors="replace")
        detail = f"{method} {path} {shown} -> {status} {text[:TEXT_SHOWN].decode(errors='replace')}"
        self.tally.note(order, status, expected, time.monotonic() - began, detail)
        if stream is not None or status is None or status >= 300:
            return stream
        return json.loads(text) if text.startswith(b"{") else {}

    def ask(self, order, method, path, expected, body=None):
        """The same with a body of JSON."""
        return self.exchange(order, method, path, expected, None if body is None else json.dumps(body).encode())


class Watcher(Worker):
    """Reads streams of events to their end and checks that their numbers have no gap. Where it opens a stream again it
    goes on behind the last event, or begins with the next one, or asks for one that is too old."""

    def work(self):
        last = None
        while not self.ending.is_set():
            after = self.rng.choice([last, last, None, 1]) if last else None
            headers = [] if after is None else [("Last-Event-ID", str(after))]
            stream = self.exchange("stream read", "GET", "/v1/events", {200}, headers=headers, is_stream=True)
            if stream is None:
                self.ending.wait(1)
                continue
            with stream:
                last = self.read(stream, after, time.monotonic() + self.rng.uniform(1, 20)) or last

    def read(self, stream, last, deadline):
        """Reads for so long; the number of the last event."""
        while time.monotonic() < deadline and not self.ending.is_set():
            try:
                line = stream.readline()
            except (OSError, http.client.HTTPException) as error:
                line = b""
                if not self.ending.is_set():
                    self.complain(f"event stream: {error!r}")
            if not line:
                break
            if line.startswith(b"event: gap"):
                last = json.loads(stream.readline().removeprefix(b"data: "))["oldest"] - 1
            if line.startswith(b"id: "):
                number = int(line[4:])
                if last is not None and number != last + 1:
                    self.complain(f"event stream: wanted event {last + 1}, found {number}")
                last = number
        return last


class ChurnClient(Worker):
    """Sends `rate` requests per second, or as many as the server answers. `without`: keys of specs, methods of this
    class and kinds of faults that are left out."""

    def __init__(self, server, tally, rng, ending, index, rate, without=frozenset()):
        super().__init__(server, tally, rng, ending)
        self.rate = rate
        self.without = without
        self.names = [f"churn-{index}-{number}" for number in range(TENANTS_PER_CLIENT)]
        self.pin = {"gpu": index % GPUS.count(A100), "profile": "1g.10gb", "start": index // GPUS.count(A100) % 7}
        self.tenants = {}  # of this client: name to {name of a service: (spec, resourceVersion)}
        self.streams = []
        self.next_page = None  # the path of the page behind the last one that was read
        # How often each comes: about so many of a hundred requests.
        self.weights = {self.put_service: 22, self.delete_service: 8, self.put_tenant: 3, self.delete_tenant: 2,
                        self.order_gpu: 8, self.inject_fault: 12, self.set_planning: 2, self.read_list: 16,
                        self.read_one: 14, self.open_stream: 5, self.close_stream: 3, self.send_broken: 5}
        self.weights = {what: weight for what, weight in self.weights.items() if what.__name__ not in without}

    def work(self):
        due = time.monotonic()
        while not self.ending.wait(max(0.0, due - time.monotonic())):
            due = max(due + 1 / self.rate, time.monotonic() - 1)  # a late client catches up for a second at most
            self.rng.choices(list(self.weights), self.weights.values())[0]()
        for stream in self.streams:
            stream.close()

    def known_services(self):
        """Tenant and name of each service of this client."""
        return [(tenant, name) for tenant, services in self.tenants.items() for name in services]

    # ---- objects

    def put_tenant(self):
        """Creates a tenant, or gives it other labels."""
        name = self.rng.choice(self.names)
        body = {"metadata": {"labels": {"shade": self.rng.choice(["red", "green"])}}}
        if self.ask("put tenant", "PUT", f"/v1/tenants/{name}", {200 if name in self.tenants else 201}, body):
            self.tenants.setdefault(name, {})

    def delete_tenant(self):
        """Deletes one that has no services."""
        empty = [name for name, services in self.tenants.items() if not services]
        if not empty:
            return self.delete_service()
        name = self.rng.choice(empty)
        if self.ask("delete tenant", "DELETE", f"/v1/tenants/{name}", {200}) is not None:
            del self.tenants[name]

    def put_service(self):
        """Creates a service or changes it: its spec, its labels alone, or nothing."""
        if not self.tenants:
            return self.put_tenant()
        tenant = self.rng.choice(sorted(self.tenants))
        services = self.tenants[tenant]
        number = self.rng.randrange(SERVICES_PER_TENANT)
        name = f"service-{number}"
        spec, version = services.get(name, (None, None))
        if spec is None or self.rng.random() < 0.7:
            spec = random_spec(self.rng, self.without)
            if tenant == self.names[0] and number == 0 and self.rng.random() < 0.5 and "pins" not in self.without:
                spec = {"pins": [self.pin], **{key: spec[key] for key in spec if key != "isolation"}}
        metadata = {"labels": {"shade": self.rng.choice(["red", "green"])}}
        if version and self.rng.random() < 0.5:
            metadata["resourceVersion"] = version
        stored = self.ask("put service", "PUT", f"/v1/tenants/{tenant}/services/{name}", {200 if version else 201},
                          {"metadata": metadata, "spec": spec})
        if stored:
            services[name] = (spec, stored["metadata"]["resourceVersion"])

    def delete_service(self):
        """Deletes a service."""
        known = self.known_services()
        if not known:
            return self.put_service()
        tenant, name = self.rng.choice(known)
        path = f"/v1/tenants/{tenant}/services/{name}"
        if self.ask("delete service", "DELETE", path, {200}) is not None:
            del self.tenants[tenant][name]

    # ---- the fleet

    def order_gpu(self):
        """Cordons, drains or opens a GPU or a node; more often opens it."""
        gpu = f"/v1/gpus/gpu-{self.rng.randrange(len(GPUS))}"
        path = gpu if self.rng.random() < 0.9 else f"/v1/nodes/node-{self.rng.randrange(NODE_COUNT)}"
        order = self.rng.choice(["cordon", "drain"] + ["uncordon"] * 8)
        self.ask(order, "POST", f"{path}/{order}", {200}, REASON)

    def inject_fault(self):
        """A fault of any kind; more often GPUs return and faults are cleared. A slice of others may find no room."""
        rng = self.rng
        gpu = rng.randrange(len(GPUS))
        kind = rng.choice(["lose", "fail_create", "fail_destroy", "slow", "reports_failure", "foreign_slice"] +
                          ["return", "clear"] * 5)
        if kind in self.without:
            return
        fault = {"kind": kind, "gpu": f"gpu-{gpu}"}
        if kind in ("fail_create", "fail_destroy", "reports_failure", "slow") and rng.random() < 0.8:
            fault["times"] = rng.randint(1, 3)
        if kind == "slow":
            fault["seconds"] = rng.choice([0.1, 5, 30, 90])
        if kind == "foreign_slice":
            profile, starts = rng.choice(PLACES[GPUS[gpu]])
            fault.update(profile=profile, start=rng.choice(starts))
        elif rng.random() < 0.1:
            fault = {**fault, "gpus": rng.randint(1, len(GPUS) - gpu)}
        elif rng.random() < 0.1:
            fault = {**fault, "gpu": None, "node": f"node-{rng.randrange(NODE_COUNT)}"}
        elif kind == "clear" and rng.random() < 0.3:
            fault = {"kind": "clear", "all": True}
        self.ask("fault " + kind, "POST", "/v1/sim/faults", {201, 409} if kind == "foreign_slice" else {201}, fault)

    def set_planning(self):
        """Pauses planning, or more often resumes it."""
        is_paused = self.rng.random() < 0.3
        self.ask("pause" if is_paused else "resume", "PUT", "/v1/planning", {200}, {"paused": is_paused, **REASON})

    # ---- reading

    def read_list(self):
        """A page of a list: the next one of the last list, or the first one of another."""
        path = self.next_page
        if path is None or self.rng.random() < 0.3:
            own = [f"/v1/tenants/{tenant}/services" for tenant in sorted(self.tenants)]
            limit = self.rng.choice(["", "?limit=1", "?limit=3", "?limit=50", "?limit=500"])
            path = self.rng.choice(LISTS + own) + limit
        page = self.ask("list", "GET", path, {200})
        following = page["metadata"]["continue"] if page else None
        self.next_page = None
        if following:
            self.next_page = f"{path.split('?')[0]}?limit=3&continue={urllib.parse.quote(following, safe='')}"

    def read_one(self):
        """An object, the status, or the page. There is no plan yet at the beginning."""
        known = [f"/v1/tenants/{tenant}/services/{name}" for tenant, name in self.known_services()]
        path = self.rng.choice(SINGLES + known)
        self.ask("read", "GET", path, {200, 404} if path == "/v1/plans/current" else {200})

    def open_stream(self):
        """Opens a stream of events and does not read it."""
        if len(self.streams) == STREAMS_PER_CLIENT:
            return self.close_stream()
        headers = [("Last-Event-ID", "1")] if self.rng.random() < 0.5 else []
        stream = self.exchange("stream open", "GET", "/v1/events", {200}, headers=headers, is_stream=True)
        if stream is not None:
            self.streams.append(stream)

    def close_stream(self):
        """Closes a stream without a word."""
        if not self.streams:
            return self.open_stream()
        self.streams.pop(self.rng.randrange(len(self.streams))).close()

    # ---- what is refused

    def send_broken(self):
        """A request that must be refused."""
        spec = random_spec(self.rng)
        service = "/v1/tenants/vision/services/detector"
        cases = [
            ("PUT", service, 422, {"spec": {**spec, "wieght": 2}}),
            ("PUT", service, 422, {"spec": {**spec, "slo": {"latency_ms": "soon"}}}),
            ("PUT", service, 409, {"metadata": {"resourceVersion": "999999999"}, "spec": spec}),
            ("PUT", "/v1/tenants/nobody/services/any", 404, {"spec": spec}),
            ("PUT", "/v1/tenants/Not_A_Label", 422, {}),
            ("PUT", "/v1/planning", 422, {"paused": True}),
            ("DELETE", "/v1/tenants/vision", 409, None),
            ("DELETE", "/v1/tenants/vision/services/nothing", 404, None),
            ("POST", "/v1/gpus", 405, {}),
            ("POST", "/v1/gpus/gpu-0/cordon", 422, {"reason": ""}),
            ("POST", "/v1/plans/plan-999999999/approve", 404, {}),
            ("POST", "/v1/sim/faults", 422, {"kind": "explode", "gpu": "gpu-0"}),
            ("POST", "/v1/sim/faults", 422, {"kind": "foreign_slice", "gpu": "gpu-0", "profile": "1g.6gb", "start": 0}),
            ("GET", "/v1/gpus/gpu-99", 404, None),
            ("GET", "/v1/services?limit=0", 400, None),
            ("GET", "/v1/services?continue=nonsense", 400, None),
        ]
        raw = [
            ("PUT", service, 400, b'{"spec": {', {}),
            ("PUT", service, 400, b'{"spec": "' + b"\xff" * 100 + b'"}', {}),
            ("PUT", service, 413, b" " * (1 << 21), {}),
            ("PUT", service, 415, b"{}", {"Content-Type": "text/plain"}),
            ("GET", "/v1/status", 401, None, {"Authorization": None}),
            ("GET", "/v1/events", 400, None, {"Last-Event-ID": "x"}),
        ]
        method, path, status, data, headers = self.rng.choice(
            [(*case[:3], None if case[3] is None else json.dumps(case[3]).encode(), {}) for case in cases] + raw)
        self.exchange("broken", method, path, {status}, data, headers)
