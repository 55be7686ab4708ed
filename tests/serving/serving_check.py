"""Recounts a run of `berth serve simulate` from its log, and checks the laws that hold for every policy."""

from math import ceil


class Broken(AssertionError):
    pass


def require(is_true, *what):
    if not is_true:
        raise Broken(" ".join(map(str, what)))


def nearest_rank(values, percent):
    return sorted(values)[ceil(len(values) * percent / 100) - 1] if values else None


class Figures:
    def __init__(self):
        self.requests = self.in_time = self.late = self.dropped = self.batches = self.busy = 0
        self.latencies = []

    def as_json(self, has_batches=True):
        values = {"requests": self.requests, "in_time": self.in_time, "late": self.late, "dropped": self.dropped,
                  "latency_p50_us": nearest_rank(self.latencies, 50), "latency_p99_us": nearest_rank(self.latencies, 99),
                  "batches": self.batches, "busy_us": self.busy}
        if not has_batches:
            del values["batches"]
        return values


class Recount:
    """Walks over the log; each law raises Broken."""

    def __init__(self, device, requests, is_rival):
        self.device, self.requests, self.is_rival = device, requests, is_rival
        self.models = {name: Figures() for name in sorted({request.model for request in requests})}
        self.tenants = {name: Figures() for name in sorted({request.tenant for request in requests})}
        self.total = Figures()
        self.ended, self.lane_free, self.resident_from, self.batch_end = {}, [0] * device.lanes, {}, {}
        self.loads = self.load_us = self.evictions = self.load_free = self.end = self.at = 0
        self.preloads = self.preload_hits = self.load_waits = 0
        self.unused = set()
        for request in requests:
            for figures in self.of(request):
                figures.requests += 1
        for name in self.models:
            if self.used() + device.bytes(name) <= device.memory:
                self.resident_from[name] = 0

    def of(self, request):
        return self.total, self.models[request.model], self.tenants[request.tenant]

    def used(self):
        return sum(map(self.device.bytes, self.resident_from))

    def end_request(self, number, at):
        request = self.requests[number]
        require(number not in self.ended, "request", number, "ended twice")
        require(at >= request.at, "request", number, "ended before it arrived")
        self.ended[number] = at
        self.end = max(self.end, at)
        return request

    def batch(self, line):
        model, batch = line["model"], [self.requests[number] for number in line["requests"]]
        at, end = line["at_us"], line["end_us"]
        require(at >= self.lane_free[line["lane"]], "lane", line["lane"], "is not free at", at)
        require(1 <= len(batch) <= self.device.batch_max, "a batch of", len(batch))
        require(all(request.model == model and request.at <= at for request in batch), "a batch with other requests", line)
        require(self.resident_from.get(model, at + 1) <= at, model, "is not resident at", at)
        require(end - at == self.device.batch_us(model, len(batch)), "a batch of another length", line)
        require(self.is_rival or all(request.deadline >= at for request in batch), "a batch starts after a deadline", line)
        self.preload_hits += model in self.unused
        self.unused.discard(model)
        self.load_waits += sum(request.at < self.resident_from[model] for request in batch)
        self.lane_free[line["lane"]] = end
        self.batch_end[model] = max(end, self.batch_end.get(model, 0))
        for figures in (self.total, self.models[model]):
            figures.batches += 1
            figures.busy += end - at
        self.divide(batch, end - at)
        for request in batch:
            self.end_request(request.number, end)
            for figures in self.of(request):
                figures.latencies.append(end - request.at)
                if end <= request.deadline:
                    figures.in_time += 1
                else:
                    figures.late += 1

    def divide(self, batch, time):
        rows = {}
        for request in batch:
            rows[request.tenant] = rows.get(request.tenant, 0) + 1
        for tenant, count in rows.items():
            self.tenants[tenant].busy += time * count // len(batch)
        rest = time - sum(time * count // len(batch) for count in rows.values())
        self.tenants[min(batch, key=lambda request: request.number).tenant].busy += rest

    def load(self, line):
        model, at, end = line["model"], line["at_us"], line["end_us"]
        require(at >= self.load_free, "two loads at", at)
        require(model not in self.resident_from, model, "is loaded twice")
        require(end - at == self.device.load_us(model), "a load of another length", line)
        if "preload" in line:
            require(line["preload"] is True, "preload is true or absent", line)
            self.preload(at)
            self.unused.add(model)
        self.resident_from[model], self.load_free = end, end
        require(self.used() <= self.device.memory, "more than the memory at", at)
        self.loads, self.load_us = self.loads + 1, self.load_us + end - at

    def preload(self, at):
        """No request waits for a load meanwhile."""
        self.preloads += 1
        for request in self.requests:
            if request.at > at:
                break
            require(request.number in self.ended or self.resident_from.get(request.model, at + 1) <= at,
                    "a preload at", at, "while request", request.number, "waits for a load")

    def evict(self, line):
        model, at = line["model"], line["at_us"]
        require(self.resident_from.get(model, at + 1) <= at, model, "is not resident at", at)
        require(self.batch_end.get(model, 0) <= at, model, "leaves with a running batch at", at)
        del self.resident_from[model]
        self.unused.discard(model)
        self.evictions += 1

    def drop(self, line):
        require(not self.is_rival, "a rival drops", line)
        request = self.end_request(line["request"], line["at_us"])
        require(line["kind"] == "drop" or line["at_us"] == request.at, "a rejection after the arrival", line)
        require(line["at_us"] <= request.deadline, "a request waits past its deadline", line)
        for figures in self.of(request):
            figures.dropped += 1

    def walk(self, log):
        steps = {"batch": self.batch, "load": self.load, "evict": self.evict, "drop": self.drop, "reject": self.drop}
        for line in log:
            require(line["at_us"] >= self.at, "the log goes back at", line)
            self.at = line["at_us"]
            steps[line["kind"]](line)
        require(len(self.ended) == len(self.requests), len(self.requests) - len(self.ended), "requests never end")

    def as_json(self, has_preloads=False):
        total = self.total.as_json() | {"end_us": self.end, "loads": self.loads, "load_us": self.load_us,
                                        "evictions": self.evictions}
        if has_preloads:
            total |= {"preloads": self.preloads, "preload_hits": self.preload_hits, "load_waits": self.load_waits}
        return {"total": total,
                "models": [{"name": name} | figures.as_json() for name, figures in self.models.items()],
                "tenants": [{"name": name} | figures.as_json(False) for name, figures in self.tenants.items()]}


def recount(device, requests, log, is_rival, has_preloads=False):
    """The figures of a run from its log. Raises Broken if it breaks a law. `has_preloads`: of a run with --evict warm."""
    run = Recount(device, requests, is_rival)
    run.walk(log)
    require(has_preloads or run.preloads == 0, "a preload without --evict warm")
    return run.as_json(has_preloads)
