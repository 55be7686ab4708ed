"""The simulated world for one fixed layout: a plain event loop over a heap.

Events of one microsecond go in the order of their keys: retraining due, retraining done, model swapped, answers by GPU,
start and process, arrivals by service and place in the trace. After each, free processes take waiting requests.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field

import gpu_models
import inputs

DUE, DONE, SWAPPED, ANSWER, ARRIVAL = range(5)


@dataclass
class Slice:
    spec: inputs.SliceSpec
    model: str
    sms: int
    points: dict
    point: object       # (batch, processes), or None where the slice cannot serve
    free: list = field(default_factory=list)
    running: int = 0    # batches and retrainings under way
    busy_since: int = 0
    busy_us: int = 0


@dataclass
class Second:
    """Requests of one service that arrived in one second of the run."""
    requests: int = 0
    in_time: int = 0
    late: int = 0
    dropped: int = 0
    unfinished: int = 0
    accuracy: object = 0
    open: int = 0


@dataclass
class ServiceState:
    spec: inputs.Service
    slices: list
    retraining_slice: object
    queue: deque = field(default_factory=deque)   # arrival times
    seconds: dict = field(default_factory=dict)   # second of arrival: Second
    latencies_us: list = field(default_factory=list)
    accuracy: object = None
    training: object = None                       # number of the retraining under way
    trainings: int = 0
    dues: int = 0
    window_s: int = 0


class World:
    """Runs a scenario from second 0 to the end of its longest window; the results are in its members."""

    def __init__(self, scenario):
        self.scenario = scenario
        self.journal = []
        self.events = []
        self.slices = [self.make_slice(spec) for spec in scenario.layout]
        self.services = [self.make_state(spec) for spec in scenario.services]
        for index, state in enumerate(self.services):
            self.add_arrivals(index, state)
        self.end_us = max(state.window_s for state in self.services) * inputs.MICROS
        self.add_due_times()

    def make_slice(self, spec):
        service = next(s for s in self.scenario.services if s.name == spec.service)
        model = self.scenario.gpus[spec.gpu].model
        points = inputs.points_on(service, model, spec.profile)
        point = inputs.operating_point(service, points) if spec.role == "inference" else None
        free = list(range(point[1])) if point else []
        return Slice(spec, model, gpu_models.profile_sms(model, spec.profile), points, point, free)

    def make_state(self, spec):
        own = [s for s in self.slices if s.spec.service == spec.name]
        trainers = [s for s in own if s.spec.role == "retraining" and spec.retraining and
                    gpu_models.compute_size(s.model, s.spec.profile) in spec.retraining.seconds_on]
        serving = [s for s in own if s.spec.role == "inference"]
        return ServiceState(spec, serving, trainers[0] if trainers else None, accuracy=spec.after)

    def add_arrivals(self, index, state):
        times, state.window_s = inputs.arrivals_of(state.spec)
        for place, t in enumerate(times):
            heapq.heappush(self.events, (t, ARRIVAL, index, place))
            second = state.seconds.setdefault(t // inputs.MICROS, Second())
            second.requests += 1
            second.open += 1

    def add_due_times(self):
        for index, state in enumerate(self.services):
            if state.spec.retraining:
                rule = state.spec.retraining
                for due in range(rule.offset_us, self.end_us + 1, rule.every_us):
                    heapq.heappush(self.events, (due, DUE, index))

    # ---- the loop ----

    def run(self):
        for kind in ("slice_created", "serving"):
            for piece in self.slices:
                self.log_slice(0, kind, piece)
        handlers = {DUE: self.due, DONE: self.done, SWAPPED: self.swapped, ANSWER: self.answer, ARRIVAL: self.arrive}
        while self.events and self.events[0][0] <= self.end_us:
            now, kind, *rest = heapq.heappop(self.events)
            state = handlers[kind](now, *rest)
            if now < self.end_us:
                self.take_what_waits(now, state)
        self.close()
        return self

    def arrive(self, now, index, _place):
        self.services[index].queue.append(now)
        return self.services[index]

    def answer(self, now, gpu, start, process, index, batch):
        state = self.services[index]
        piece = next(s for s in state.slices if (s.spec.gpu, s.spec.start) == (gpu, start))
        piece.free = sorted(piece.free + [process])
        self.stop(piece, now)
        for arrived in batch:
            state.latencies_us.append(now - arrived)
            in_time = now - arrived <= state.spec.target_us
            self.settle(now, state, arrived, "in_time" if in_time else "late")
        return state

    def take_what_waits(self, now, state):
        """Free processes of the service, the lowest first, take batches until none is free or none waits."""
        while state.queue:
            piece = next((s for s in state.slices if s.free), None)
            if piece is None:
                return
            if state.spec.drop == "early":
                self.drop_late(now, state, piece)
            if state.queue:
                self.take(now, state, piece)

    def drop_late(self, now, state, piece):
        while state.queue:
            count = min(len(state.queue), piece.point[0])
            if now + self.latency_us(piece, count) - state.queue[0] <= state.spec.target_us:
                return
            self.settle(now, state, state.queue.popleft(), "dropped")

    def take(self, now, state, piece):
        count = min(len(state.queue), piece.point[0])
        answer_at = now + self.latency_us(piece, count)
        batch = tuple(state.queue.popleft() for _ in range(count))
        process = piece.free.pop(0)
        self.begin(piece, now)
        index = self.services.index(state)
        heapq.heappush(self.events, (answer_at, ANSWER, piece.spec.gpu, piece.spec.start, process, index, batch))

    def latency_us(self, piece, count):
        """Latency now of a batch of `count`: by interpolation, times the factor for the other busy slices of the GPU."""
        busy = sum(1 for s in self.slices if s is not piece and s.spec.gpu == piece.spec.gpu and s.running > 0)
        factors = self.scenario.interference
        factor = factors[min(busy, len(factors) - 1)]
        return inputs.half_up(inputs.latency_ms(piece.points, piece.point[1], count) * 1000 * factor)

    # ---- retraining ----

    def due(self, now, index):
        state = self.services[index]
        state.accuracy = state.spec.before
        state.dues += 1
        if state.retraining_slice is None:
            return state
        if state.training is not None and state.spec.retraining.unfinished == "abandon":
            state.training = None
            self.stop(state.retraining_slice, now)
        if state.training is None:
            self.start_training(now, index, state)
        return state

    def start_training(self, now, index, state):
        piece = state.retraining_slice
        seconds = state.spec.retraining.seconds_on[gpu_models.compute_size(piece.model, piece.spec.profile)]
        state.trainings += 1
        state.training = state.trainings
        self.begin(piece, now)
        self.log_slice(now, "retraining_started", piece)
        heapq.heappush(self.events, (now + inputs.whole_micros(seconds), DONE, index, state.training))

    def done(self, now, index, training):
        state = self.services[index]
        if training != state.training:  # abandoned at a due time
            return state
        state.training = None
        self.stop(state.retraining_slice, now)
        self.log_slice(now, "retraining_done", state.retraining_slice)
        heapq.heappush(self.events, (now + state.spec.retraining.swap_us, SWAPPED, index, state.dues))
        return state

    def swapped(self, _now, index, dues):
        state = self.services[index]
        if dues == state.dues:  # no other due time came since the retraining was done
            state.accuracy = state.spec.after
        return state

    # ---- accounts ----

    def begin(self, piece, now):
        if piece.running == 0:
            piece.busy_since = now
        piece.running += 1

    def stop(self, piece, now):
        piece.running -= 1
        if piece.running == 0:
            piece.busy_us += now - piece.busy_since

    def settle(self, now, state, arrived, outcome):
        number = arrived // inputs.MICROS
        second = state.seconds[number]
        setattr(second, outcome, getattr(second, outcome) + 1)
        if outcome == "in_time":
            second.accuracy += state.accuracy
        second.open -= 1
        if second.open == 0:
            self.log_second(now, state, number)

    def close(self):
        """Ends the run: remaining requests are unfinished, running slices were busy until the end."""
        for piece in self.slices:
            if piece.running:
                piece.busy_us += self.end_us - piece.busy_since
        for state in self.services:
            for number in sorted(n for n, second in state.seconds.items() if second.open):
                state.seconds[number].unfinished = state.seconds[number].open
                self.log_second(self.end_us, state, number)

    def log_second(self, now, state, number):
        second = state.seconds[number]
        self.journal.append({
            "t_us": now, "policy": "fixed", "type": "second", "service": state.spec.name, "second": number,
            "requests": second.requests, "in_time": second.in_time, "late": second.late, "dropped": second.dropped,
            "unfinished": second.unfinished, "accuracy_sum_micro": inputs.half_up(second.accuracy * inputs.MICROS)})

    def log_slice(self, now, kind, piece):
        spec = piece.spec
        self.journal.append({"t_us": now, "policy": "fixed", "type": kind, "gpu": spec.gpu, "profile": spec.profile,
                             "start": spec.start, "service": spec.service, "role": spec.role})
