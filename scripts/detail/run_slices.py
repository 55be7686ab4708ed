#!/usr/bin/env python3
"""Two services as real processes on the slices of a simulated machine, behind one address, with a load that jumps. As root.

scripts/run slices builds and calls this. Until ^C it prints what was asked, answered and where each service runs."""

import argparse
import collections
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/slices"))
from local_slices import Client, Slices  # noqa: E402: found by the line above
from local_serve import require_engine  # noqa: E402
from local_up import require_managing  # noqa: E402

RATES = [("words", 5), ("words", 30), ("words", 10)]
STEP_SECONDS = 20


def places(slices, name):
    """How many slices on which GPUs: "3 slices of gpu-0, 1 of gpu-1"."""
    counts = collections.Counter("-".join(each["slice"].split("-")[:2]) for each in slices.serving(name))
    words = [f"{count} slice{'' if count == 1 else 's'} of {gpu}" for gpu, count in sorted(counts.items())]
    return ", ".join(words) or "no slice"


def show(slices, clients, began):
    words = []
    for name, client in clients.items():
        words.append(f"{name}: {client.per_second}/s asked, {client.answered} answered, {len(client.failures)} failed, on {places(slices, name)}")
        for failure in client.failures[-1:]:
            words[-1] += f" ({failure})"
    print(f"{time.monotonic() - began:6.0f} s  " + "; ".join(words), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="ends after so long; default: with ^C")
    options = parser.parse_args()
    require_managing()
    require_engine()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with tempfile.TemporaryDirectory(prefix="berth-slices-", ignore_cleanup_errors=True) as folder:
        slices = Slices(folder, {"words": ["replicas: {min: 1}"], "sums": ["replicas: {min: 1}"]},
                        listen="127.0.0.1:8642", gateway="127.0.0.1:8700")
        try:
            began = time.monotonic()
            slices.start()
            for name in slices.services:
                slices.wait_for(name)
            print(f"ready after {time.monotonic() - began:.1f} s: http://{slices.address}/shop/words and /shop/sums "
                  f"(Open Inference Protocol); berth up: {slices.up.url} key: cat {slices.data}/admin.key\n"
                  f"  curl -s http://{slices.address}/shop/words/v2/models/words/infer -H 'Content-Type: application/json' "
                  "-d '{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1,4],\"data\":[1,2,3,4]}]}'\n"
                  f"  build/release/berth-nvml-sim fault --gpu 0 --lost --state {slices.machine.state}\n"
                  f"  BERTH_STATE={slices.data} build/release/berth describe service words -t shop", flush=True)
            run(slices, options.seconds)
        except KeyboardInterrupt:
            print("ends")
        finally:
            slices.end()


def run(slices, seconds):
    clients = {"words": Client(slices, "words", RATES[0][1]), "sums": Client(slices, "sums", 5)}
    for client in clients.values():
        client.start()
    began = time.monotonic()
    step = 0
    while time.monotonic() - began < seconds:
        if time.monotonic() - began >= (step + 1) * STEP_SECONDS:
            step += 1
            name, rate = RATES[step % len(RATES)]
            clients[name].per_second = rate
        show(slices, clients, began)
        time.sleep(2)
    for client in clients.values():
        client.end()
    show(slices, clients, began)


if __name__ == "__main__":
    main()
