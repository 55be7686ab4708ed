"""What a request costs in `berth gateway`, and how much later its answer is, compared with no gateway, with a plain loop that
only passes bytes on, and with HAProxy: the part `cost` of tests/slices/bars.

Two replicas that answer at once, requests of 3,000 bytes in an open loop. HAProxy is measured if it is installed. The
processor time is user and system time of the process, as the kernel counts it.
"""

import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

PATH = "/vision/digits/v2/models/m/infer"


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def send(load, port, path, rate, seconds):
    command = [load, "send", str(port), path, str(rate), str(seconds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def measure(load, port, path, pid, options):
    """Medians over rounds, after one that does not count."""
    send(load, port, path, options.rate, 2)
    rounds = []
    for _ in range(options.rounds):
        before = processor_seconds(pid)
        found = send(load, port, path, options.rate, options.seconds)
        found["cpu_us"] = (processor_seconds(pid) - before) * 1e6 / found["sent"]
        rounds.append(found)
    bad = sum(found["sent"] - found["good"] for found in rounds)
    return {name: statistics.median(found[name] for found in rounds) for name in rounds[0]} | {"bad": bad}


def haproxy(ports, folder):
    """A running HAProxy in front of the replicas: process and port; nothing where it is not installed."""
    if shutil.which("haproxy") is None:
        return None
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    config = pathlib.Path(folder) / "haproxy.cfg"
    servers = "\n".join(f"  server s{number} 127.0.0.1:{replica}" for number, replica in enumerate(ports))
    config.write_text(f"defaults\n  mode http\n  timeout client 30s\n  timeout server 30s\n  timeout connect 2s\n"
                      f"frontend f\n  bind 127.0.0.1:{port}\n  default_backend b\nbackend b\n  balance leastconn\n{servers}\n")
    process = subprocess.Popen(["haproxy", "-f", str(config)], stderr=subprocess.DEVNULL)
    time.sleep(1)
    return process, port


def passed_figures(load, ports, options):
    """Through a gateway, through a plain loop, and through HAProxy if it is installed."""
    from local_gateway import Gateway, UpStandIn, endpoint, service
    up = UpStandIn().start()
    try:
        with tempfile.TemporaryDirectory() as folder:
            ends = [endpoint(f"http://127.0.0.1:{port}", f"s{port}", in_flight_max=64, ms=1) for port in ports]
            up.set_table(service(*ends))
            gateway = Gateway(up, folder)
            try:
                while json.loads(urllib.request.urlopen(f"http://{gateway.address}/berth/v1/status").read())["table"] is None:
                    time.sleep(0.05)
                passed = measure(load, gateway.port, PATH, gateway.process.pid, options)
            finally:
                gateway.end()
            plain = plain_figures(load, ports, options)
            rival = haproxy(ports, folder)
            other = None
            if rival is not None:
                other = measure(load, rival[1], PATH, rival[0].pid, options)
                rival[0].kill()
                rival[0].wait()
            return passed, plain, other
    finally:
        up.stop()


def plain_figures(load, ports, options):
    """Through a loop that passes bytes on and looks at none: the least that this machine needs for it now."""
    loop = subprocess.Popen([load, "forward", *map(str, ports)], stdout=subprocess.PIPE, text=True)
    try:
        return measure(load, int(loop.stdout.readline()), PATH, loop.pid, options)
    finally:
        loop.kill()
        loop.wait()
        loop.stdout.close()


def run(_, table, options):
    """As a part of tests/slices/bars: `options` has rate, seconds, rounds and load_program."""
    load = options.load_program.resolve()
    table.part(f"cost: {options.rate} requests per second of 3,000 bytes to two replicas that answer at once")
    processes = [subprocess.Popen([load, "answer"], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        ports = [int(process.stdout.readline()) for process in processes]
        direct = measure(load, ports[0], PATH, processes[0].pid, options)
        passed, plain, other = passed_figures(load, ports, options)
    finally:
        for process in processes:
            process.kill()
            process.wait()
            process.stdout.close()
    show(table, direct, passed, plain, other)


def show(table, direct, passed, plain, other):
    table.show("requests that were not answered well", passed["bad"], "{:.0f}", "0", ("at most", 0))
    table.show("the gateway: microseconds of processor time per request", passed["cpu_us"], "{:.0f}", "aim 60", ("at most", 150))
    table.show("a plain loop: microseconds of processor time per request", plain["cpu_us"], "{:.0f}")
    table.show("the gateway, in plain loops", passed["cpu_us"] / plain["cpu_us"], "{:.2f}")
    table.show("p50 added, ms", (passed["p50_us"] - direct["p50_us"]) / 1000, "{:.2f}")
    table.show("p99 added, ms", (passed["p99_us"] - direct["p99_us"]) / 1000, "{:.2f}", "", ("at most", 3))
    table.show("p99 without a gateway, ms", direct["p99_us"] / 1000, "{:.2f}")
    if other is None:
        print("  skipped the rival: haproxy is not installed")
        return
    table.show("HAProxy: microseconds of processor time per request", other["cpu_us"], "{:.0f}")
    table.show("HAProxy: p99 added, ms", (other["p99_us"] - direct["p99_us"]) / 1000, "{:.2f}")
