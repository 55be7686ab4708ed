"""The rivals of `berth serve simulate`, written once more from docs/reference/serve.md: the events of a run."""


class Run:
    def __init__(self, device, requests, policy):
        self.device, self.requests = device, requests
        self.kind, _, delay = policy.partition(":")
        self.delay = int(delay or 0)
        self.names = sorted({request.model for request in requests})
        self.waiting = {name: [] for name in self.names}
        self.running = {name: 0 for name in self.names}
        self.cap = {name: 1 for name in self.names}
        self.last_end = {name: -1 for name in self.names}
        self.lanes = [None] * device.lanes
        self.loading, self.resident, self.log = None, set(), []
        for name in self.names:
            if self.used() + device.bytes(name) <= device.memory:
                self.resident.add(name)

    def used(self):
        held = set(self.resident) | ({self.loading[0]} if self.loading else set())
        return sum(self.device.bytes(name) for name in held)

    def next_instant(self, arriving, now):
        times = [lane[2] for lane in self.lanes if lane]
        if self.loading:
            times.append(self.loading[1])
        if arriving < len(self.requests):
            times.append(self.requests[arriving].at)
        if self.kind == "delay":
            times += [queue[0].at + self.delay for queue in self.waiting.values() if queue and queue[0].at + self.delay > now]
        return min(times, default=None)

    def end_batches(self, now):
        for number, lane in enumerate(self.lanes):
            if not lane or lane[2] != now:
                continue
            model, batch, _ = lane
            self.lanes[number] = None
            self.running[model] -= 1
            self.last_end[model] = now
            if any(now > request.deadline for request in batch):
                self.cap[model] = max(1, self.cap[model] * 9 // 10)
            elif len(batch) == self.cap[model]:
                self.cap[model] = min(self.cap[model] + 1, self.device.batch_max)

    def start_load(self, now):
        cold = [name for name in self.names if self.waiting[name] and name not in self.resident]
        if self.loading or not cold:
            return
        model = min(cold, key=lambda name: self.waiting[name][0].number)
        idle = sorted((name for name in self.resident if not self.waiting[name] and not self.running[name]),
                      key=lambda name: (self.last_end[name], name))
        free, victims = self.device.memory - self.used(), []
        while free < self.device.bytes(model) and idle:
            victims.append(idle.pop(0))
            free += self.device.bytes(victims[-1])
        if free < self.device.bytes(model):
            return
        for victim in victims:
            self.resident.discard(victim)
            self.log.append({"at_us": now, "kind": "evict", "model": victim})
        self.loading = (model, now + self.device.load_us(model))
        self.log.append({"at_us": now, "kind": "load", "model": model, "end_us": self.loading[1]})

    def may_run(self, name, now):
        queue = self.waiting[name]
        if not queue or name not in self.resident:
            return False
        return self.kind != "delay" or len(queue) >= self.device.batch_max or queue[0].at + self.delay <= now

    def start_batches(self, now):
        for number, lane in enumerate(self.lanes):
            ready = [name for name in self.names if self.may_run(name, now)]
            if lane or not ready:
                continue
            model = min(ready, key=lambda name: self.waiting[name][0].number)
            most = self.cap[model] if self.kind == "aimd" else self.device.batch_max
            batch, self.waiting[model] = self.waiting[model][:most], self.waiting[model][most:]
            end = now + self.device.batch_us(model, len(batch))
            self.lanes[number] = (model, batch, end)
            self.running[model] += 1
            self.log.append({"at_us": now, "kind": "batch", "lane": number, "model": model,
                             "requests": [request.number for request in batch], "end_us": end})

    def events(self):
        arriving, now = 0, -1
        while (now := self.next_instant(arriving, now)) is not None:
            self.end_batches(now)
            if self.loading and self.loading[1] == now:
                self.resident.add(self.loading[0])
                self.loading = None
            while arriving < len(self.requests) and self.requests[arriving].at == now:
                self.waiting[self.requests[arriving].model].append(self.requests[arriving])
                arriving += 1
            self.start_load(now)
            self.start_batches(now)
        return self.log


def rival_events(device, requests, policy):
    return Run(device, requests, policy).events()
