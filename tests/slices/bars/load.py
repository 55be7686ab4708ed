"""Clients of services behind a gateway: requests at times that do not depend on the answers, each over a connection of its
own, each with a number that its answer must contain."""

import asyncio
import collections
import json
import random
import threading
import time

PATIENCE_SECONDS = 60  # for an answer of the gateway; far more than any deadline of it
COLUMNS = 4


class Failed(Exception):
    """An answer that is not the one of the request, and its status if it has one."""

    def __init__(self, what, status=None, is_foreign=False):
        super().__init__(what)
        self.status, self.is_foreign = status, is_foreign


class Service:
    """A service as a client knows it: its answers are `times` x the numbers of the request."""

    def __init__(self, name, times, rate):
        self.name, self.times, self.rate = name, times, rate


async def exchange(address, name, values):
    """Status, headers in lower case, and body of one `infer`."""
    host, port = address.rsplit(":", 1)
    body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, COLUMNS], "data": values}]}).encode()
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write((f"POST /shop/{name}/v2/models/{name}/infer HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n"
                      f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body)
        answer = await reader.read(-1)
    finally:
        writer.close()
    head, mark, content = answer.partition(b"\r\n\r\n")
    if not mark:
        raise Failed(f"an answer that breaks off after {len(answer)} bytes")
    return int(head.split()[1]), head.decode().lower(), content


async def ask(address, service, number):
    values = [float(number % 1_000_003)] * COLUMNS
    status, head, content = await exchange(address, service.name, values)
    if "transfer-encoding: chunked" not in head and f"content-length: {len(content)}" not in head:
        raise Failed(f"{status} with {len(content)} bytes, of others in: {head!r}")
    if status != 200:
        raise Failed(f"{status} {content[:200]!r}", status, is_foreign=status == 404)
    answer = json.loads(content)
    found = answer["outputs"][0]["data"]
    if answer["model_name"] != service.name or found != [service.times * value for value in values]:
        raise Failed(f"wanted {service.times} x {values[0]} of {service.name}, found {content[:200]!r}", 200, is_foreign=True)


class Sent:
    """One request: when it was sent (seconds since 1970), how it ended and after how long. `attempts`: how often it was sent."""

    def __init__(self, service, at):
        self.service, self.at = service, at
        self.last_at = at  # of the last attempt
        self.seconds, self.failure, self.status, self.is_foreign, self.attempts = None, None, None, False, 0


class Load(threading.Thread):
    """Requests of several services as a Poisson process each; `rate` of a service may change at any time. A request that
    fails is repeated for `repeats_seconds`, as long as no answer with a status came. `due`: instead of rates, times since
    the start at which to send, by name of the service."""

    def __init__(self, address, services, seed=1, repeats_seconds=0, due=None):
        super().__init__(daemon=True)
        self.address, self.services, self.repeats_seconds, self.due = address, services, repeats_seconds, due
        self.draws = {service.name: random.Random(f"{seed} {service.name}") for service in services}
        self.sent = []
        self.is_over = threading.Event()
        self.late_seconds = 0.0  # the most by which a request was sent after its time
        self.number = 0

    def run(self):
        asyncio.run(self.send_all())

    async def send_all(self):
        began = time.monotonic()
        self.tasks = set()
        await asyncio.gather(*(self.send_of(service, began) for service in self.services))
        if self.tasks:
            await asyncio.wait(self.tasks)

    def times_of(self, service):
        """Seconds since the start, ascending; a rate of 0 is looked at again after 0.1 s."""
        if self.due is not None:
            yield from self.due[service.name]
            return
        at = 0.0
        while True:
            if service.rate <= 0:
                at += 0.1
                yield None
                continue
            at += self.draws[service.name].expovariate(service.rate)
            yield at

    async def send_of(self, service, began):
        for at in self.times_of(service):
            if at is None:
                await asyncio.sleep(0.1)
                at = time.monotonic() - began
                if self.is_over.is_set():
                    return
                continue
            while (left := began + at - time.monotonic()) > 0 and not self.is_over.is_set():
                await asyncio.sleep(min(left, 0.2))
            if self.is_over.is_set():
                return
            self.late_seconds = max(self.late_seconds, -left)
            task = asyncio.create_task(self.send(service))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def send(self, service):
        sent = Sent(service.name, time.time())
        self.sent.append(sent)
        self.number += 1
        number, begin = self.number, time.monotonic()
        while True:
            sent.attempts += 1
            sent.last_at = time.time()
            try:
                await asyncio.wait_for(ask(self.address, service, number), PATIENCE_SECONDS)
                sent.failure, sent.status = None, 200
            except Failed as failure:
                sent.failure, sent.status, sent.is_foreign = str(failure), failure.status, failure.is_foreign
            except (OSError, ValueError, KeyError, TypeError, asyncio.TimeoutError) as error:
                sent.failure, sent.status = repr(error), None
            sent.seconds = time.monotonic() - begin
            if sent.status is not None or sent.seconds > self.repeats_seconds:
                return
            await asyncio.sleep(0.05)

    def end(self):
        """Waits for all answers."""
        self.is_over.set()
        self.join()
        return self.sent

    def count(self, name=None):
        """Ends so far: `good`, `failed`, `foreign`, of one service or of all."""
        counts = collections.Counter()
        for sent in list(self.sent):
            if sent.seconds is None or (name is not None and sent.service != name):
                continue
            counts["good" if sent.failure is None else "failed"] += 1
            counts["foreign"] += sent.is_foreign
        return counts

    def failures(self, at_most=5):
        return [f"{time.strftime('%H:%M:%S', time.gmtime(sent.at))} {sent.service} after {sent.seconds:.2f} s: {sent.failure}"
                for sent in list(self.sent) if sent.failure is not None and sent.seconds is not None][:at_most]
