#!/usr/bin/env python3
"""`berth advise` end to end: each answer checked pod by pod, the rivals and small optima recomputed, bad input."""

import csv
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shared"))
from terminal import run_on_terminal, without_progress

ROOT = Path(os.environ.get("BERTH_SOURCE_DIR", Path(__file__).resolve().parents[4]))
PROGRAM = os.environ.get("BERTH_PROGRAM", str(ROOT / "build/release/berth"))
DATA = os.environ.get("BERTH_DATA", "")
EXAMPLE = ROOT / "examples/buying/pods.csv"
DEADLINE_SECONDS = 300
AT = "2026-11-01"
POD_HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,gpu_memory_mib"
OFFER_HEADER = ("provider,instance_type,region,purchase,gpu_model,gpu_count,gpu_memory_mib,vcpu_milli,memory_mib,"
                "mig_instances_max,micro_usd_per_hour,valid_from,valid_to,source")
# No two prices, nor sums of a few prices, are equal: no rule needs a tie-break among offers.
OFFERS = ["p,t4-1,r,on-demand,t4,1,15360,4000,16384,0,526000,2026-01-01,,s",
          "p,t4-4,r,on-demand,T4,4,15360,48000,196608,0,3912000,2026-01-01,,s",
          "p,a10g-1,r,on-demand,a10g,1,23028,8000,32768,0,1212000,2026-01-01,,s",
          "p,a10g-4,r,on-demand,a10g,4,23028,96000,393216,0,8144001,2026-01-01,,s",
          "p,a100-8,s,on-demand,a100,8,81920,96000,1179648,7,27447000,2026-01-01,,s",
          "p,a100-8,s,spot,a100,8,81920,96000,1179648,7,9100000,2026-01-01,,s",
          "p,part,r,on-demand,a10g,0,4096,64000,400000,0,1,2026-01-01,,s",
          "p,amd,r,on-demand,mi300x,8,196608,96000,400000,0,2,2026-01-01,,s",
          "p,none,r,on-demand,t4,1,15360,96000,400000,0,,2026-01-01,,s"]


def advise(*arguments):
    return subprocess.run([PROGRAM, "advise", *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE_SECONDS,
                          check=False)


def offers_of(*arguments, purchase="on-demand"):
    """The offers that may be bought, in their order, as `berth price list` shows them (it sorts; prices differ here)."""
    run = subprocess.run([PROGRAM, "price", "list", "--purchase", purchase, "--format", "json", *map(str, arguments)],
                         capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True)
    return [offer for offer in json.loads(run.stdout)["offers"] if offer["is_buyable"]]


def read_pods(path):
    with open(path, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [{"name": row["name"], "cpu": int(row["cpu_milli"]), "memory": int(row["memory_mib"]), "gpus": int(row["num_gpu"]),
             "milli": int(row["gpu_milli"]), "models": {word.lower() for word in (row.get("gpu_spec") or "").split("|") if word},
             "gpu_memory": int(row.get("gpu_memory_mib") or 0)} for row in rows]


def accepts(offer, pod):
    if pod["gpus"] == 0:
        return True
    return (not pod["models"] or offer["gpu_model"] in pod["models"]) and offer["gpu_memory_mib"] >= pod["gpu_memory"]


def whole_gpus(pods):
    return sum(pod["gpus"] for pod in pods if pod["milli"] == 1000)


def shares_of(pods):
    return sorted((pod["milli"] for pod in pods if pod["gpus"] == 1 and pod["milli"] < 1000), reverse=True)


def is_within(offer, pods):
    """CPU, memory and models; GPUs apart."""
    return (sum(pod["cpu"] for pod in pods) <= offer["vcpu_milli"] and sum(pod["memory"] for pod in pods) <= offer["memory_mib"]
            and all(accepts(offer, pod) for pod in pods))


def holds_by_first_fit(offer, pods):
    """Shares packed first-fit decreasing, as the rivals do."""
    if not is_within(offer, pods):
        return False
    bins = []
    for share in shares_of(pods):
        for index, used in enumerate(bins):
            if used + share <= 1000:
                bins[index] += share
                break
        else:
            bins.append(share)
    return whole_gpus(pods) + len(bins) <= offer["gpu_count"]


def holds_at_all(offer, pods):
    """Shares packed optimally, by exhaustive search."""
    def fits(shares, free):
        if not shares:
            return True
        tried = set()
        for index, room in enumerate(free):
            if room >= shares[0] and room not in tried:
                tried.add(room)
                if fits(shares[1:], [*free[:index], room - shares[0], *free[index + 1:]]):
                    return True
        return False
    left = offer["gpu_count"] - whole_gpus(pods)
    return is_within(offer, pods) and left >= 0 and fits(shares_of(pods), [1000] * left)


def descending(pods):
    return sorted(pods, key=lambda pod: (-pod["gpus"] * pod["milli"], -pod["cpu"], -pod["memory"]))


def first_fit_decreasing(pods, offers):
    nodes = []
    for pod in descending(pods):
        for node in nodes:
            if any(holds_by_first_fit(offer, [*node, pod]) for offer in offers):
                node.append(pod)
                break
        else:
            nodes.append([pod])
    return sum(min(offer["micro_usd_per_hour"] for offer in offers if holds_by_first_fit(offer, node)) for node in nodes)


def cheapest_fit(pods, offers):
    nodes = []
    for pod in descending(pods):
        for offer, node in nodes:
            if holds_by_first_fit(offer, [*node, pod]):
                node.append(pod)
                break
        else:
            alone = [offer for offer in offers if holds_by_first_fit(offer, [pod])]
            nodes.append((min(alone, key=lambda offer: offer["micro_usd_per_hour"]), [pod]))
    return sum(offer["micro_usd_per_hour"] for offer, _ in nodes)


def optimum(pods, offers):
    """The cheapest way to divide a few pods, over all sets of them."""
    sets = 1 << len(pods)
    alone = [None] * sets
    for chosen in range(1, sets):
        group = [pod for index, pod in enumerate(pods) if chosen >> index & 1]
        prices = [offer["micro_usd_per_hour"] for offer in offers if holds_at_all(offer, group)]
        alone[chosen] = min(prices, default=None)
    best = [0] * sets
    for chosen in range(1, sets):
        part, costs = chosen, []
        while part:
            if alone[part] is not None:
                costs.append(alone[part] + best[chosen ^ part])
            part = (part - 1) & chosen
        best[chosen] = min(costs)
    return best[-1]


class Advise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.offers_path = self.write("offers.csv", OFFER_HEADER, *OFFERS)

    def write(self, name, *lines):
        path = self.folder / name
        path.write_text("\n".join(lines) + "\n")
        return path

    def random_pods(self, seed, count):
        rng = random.Random(seed)
        kinds = [(2000, 8192, 1, 250, "", ""), (3000, 8192, 1, 400, "", ""), (4000, 12000, 1, 600, "A10G|t4", ""),
                 (6000, 30000, 1, 1000, "a10g", ""), (12000, 60000, 2, 1000, "", "20000"), (20000, 100000, 4, 1000, "a100|a10g", ""),
                 (8000, 16384, 0, 0, "h100", "90000"), (3500, 15000, 0, 0, "", "")]
        return self.write(f"pods-{seed}.csv", POD_HEADER, *(f"pod{number},{','.join(map(str, rng.choice(kinds)))}"
                                                            for number in range(count)))

    def answer(self, *arguments):
        run = advise(*arguments, "--at", AT, "--format", "json")
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, ""))
        answer = json.loads(run.stdout)
        self.assertEqual(list(answer), ["berth", "micro_usd_per_hour", "bound_micro_usd_per_hour", "proven", "instances", "rivals"])
        return answer

    def refused(self, *arguments):
        run = advise(*arguments)
        self.assertEqual((run.returncode, run.stdout), (2, ""))
        self.assertEqual(run.stderr.count("\n"), 1)
        return run.stderr.removeprefix("berth: ").rstrip("\n")

    def check(self, answer, pods, offers):
        """Every pod seated once, within the shape of an offer; sums, bound and rivals."""
        by_key = {(each["provider"], each["instance_type"], each["region"], each["purchase"]): each for each in offers}
        seen = []
        for instance in answer["instances"]:
            self.assertEqual(list(instance), ["provider", "instance_type", "region", "purchase", "micro_usd_per_hour", "pods"])
            offer = by_key[instance["provider"], instance["instance_type"], instance["region"], instance["purchase"]]
            self.assertEqual(instance["micro_usd_per_hour"], offer["micro_usd_per_hour"])
            self.assertTrue(instance["pods"])
            used = [0] * offer["gpu_count"]
            for seat in instance["pods"]:
                pod = pods[seat["row"]]
                seen.append(seat["row"])
                self.assertEqual(len(set(seat["gpus"])), pod["gpus"])
                self.assertEqual(seat["gpus"], sorted(seat["gpus"]))
                for gpu in seat["gpus"]:
                    self.assertGreaterEqual(gpu, 0)
                    used[gpu] += pod["milli"]
            self.assertTrue(is_within(offer, [pods[seat["row"]] for seat in instance["pods"]]), instance)
            self.assertLessEqual(max(used, default=0), 1000)
        self.assertEqual(sorted(seen), list(range(len(pods))))
        cost = sum(instance["micro_usd_per_hour"] for instance in answer["instances"])
        self.assertEqual(answer["micro_usd_per_hour"], cost)
        self.assertLessEqual(answer["bound_micro_usd_per_hour"], cost)
        self.assertEqual(answer["proven"], answer["bound_micro_usd_per_hour"] == cost)
        self.assertEqual(answer["rivals"], [{"name": "ffd", "micro_usd_per_hour": first_fit_decreasing(pods, offers)},
                                            {"name": "cheapest-fit", "micro_usd_per_hour": cheapest_fit(pods, offers)}])
        self.assertLessEqual(cost, min(rival["micro_usd_per_hour"] for rival in answer["rivals"]))

    def test_answers_checked_pod_by_pod_and_rivals_computed_again(self):
        offers = offers_of("--offers", self.offers_path, "--at", AT)
        self.assertEqual(len(offers), 5)
        for seed, count in ((1, 1), (2, 25), (3, 60)):
            path = self.random_pods(seed, count)
            self.check(self.answer("--pods", path, "--offers", self.offers_path), read_pods(path), offers)

    def test_few_pods_get_the_optimum_with_a_proof(self):
        offers = offers_of("--offers", self.offers_path, "--at", AT)
        for seed, count in itertools.product(range(10, 16), (3, 7)):
            path = self.random_pods(seed, count)
            pods = read_pods(path)
            answer = self.answer("--pods", path, "--offers", self.offers_path)
            self.check(answer, pods, offers)
            self.assertEqual((answer["micro_usd_per_hour"], answer["proven"]), (optimum(pods, offers), True))

    def test_the_example_with_the_built_in_catalogue(self):
        pods, offers = read_pods(EXAMPLE), offers_of("--at", AT)
        answer = self.answer("--pods", EXAMPLE)
        self.check(answer, pods, offers)
        # If each pod pays a third of the share of an offer that it takes most of, no content of an offer pays more than its price:
        # no bound of all contents is below what they pay together.
        floor = sum(min(offer["micro_usd_per_hour"] * max(pod["cpu"] / offer["vcpu_milli"], pod["memory"] / offer["memory_mib"],
                                                          pod["gpus"] * pod["milli"] / 1000 / offer["gpu_count"]) / 3
                        for offer in offers if holds_by_first_fit(offer, [pod])) for pod in pods)
        self.assertGreater(answer["bound_micro_usd_per_hour"], floor)

    def test_regions_and_purchases_are_those_asked_for(self):
        path = self.write("pods.csv", POD_HEADER, "big,20000,100000,4,1000,a100|a10g,", "small,1000,1000,1,100,,")
        here = self.answer("--pods", path, "--offers", self.offers_path, "--regions", "r")
        self.assertEqual({each["region"] for each in here["instances"]}, {"r"})
        spot = self.answer("--pods", path, "--offers", self.offers_path, "--purchase", "spot")
        self.assertEqual([(each["instance_type"], each["purchase"]) for each in spot["instances"]], [("a100-8", "spot")])
        self.assertEqual((spot["micro_usd_per_hour"], spot["proven"]), (9_100_000, True))

    def test_the_budget_bounds_the_search_and_the_same_question_has_the_same_bytes(self):
        path = self.random_pods(4, 60)
        offers = offers_of("--offers", self.offers_path, "--at", AT)
        question = ["--pods", path, "--offers", self.offers_path]
        short, long = self.answer(*question, "--nodes", 1), self.answer(*question)
        self.check(short, read_pods(path), offers)
        self.assertLessEqual(long["micro_usd_per_hour"], short["micro_usd_per_hour"])
        self.assertLessEqual(short["bound_micro_usd_per_hour"], long["bound_micro_usd_per_hour"])
        for words in (["--format", "json"], ["--format", "table"], ["--nodes", 100_000]):
            first, second = (advise(*question, "--at", AT, *words) for _ in range(2))
            self.assertEqual((first.returncode, first.stdout), (0, second.stdout))

    def test_a_table_says_what_to_do(self):
        run = advise("--pods", EXAMPLE, "--at", AT)
        self.assertEqual((run.returncode, without_progress(run.stderr)), (0, ""))
        words = run.stdout.replace("\n  ", " ")
        last = words.rstrip("\n").splitlines()[-1]
        self.assertRegex(last, r"^Rent these \d+ instances: \$[0-9.]+ an hour, [0-9.]+% less than by (ffd|cheapest-fit), the "
                               r"better of two common rules\.")
        self.assertRegex(last, r"Assumed: list prices of .* days old, without taxes and your discounts")
        self.assertRegex(last, r"(: proven\.|Not proven the cheapest: at most [0-9.]+% above it\.)")
        answer = self.answer("--pods", EXAMPLE)
        counts = [int(line.split(" x ")[0]) for line in run.stdout.split("\n\n")[0].splitlines()[1:]]
        self.assertEqual(sum(counts), len(answer["instances"]))

    def test_bad_input(self):
        pods = self.write("pods.csv", POD_HEADER, "fine,1000,1000,0,0,,", "wide,97000,1000,0,0,,", "odd,1,1,9,1000,,")
        good, question = self.random_pods(5, 3), ["--offers", self.offers_path, "--at", AT]
        self.assertEqual(self.refused("--pods", pods, *question),
                         f'{pods}:3:1: wanted a pod that an offer holds, found "wide" with 97000 milli CPU and 1000 MiB; the '
                         'nearest, p t4-1 in r, has 4000 milli CPU; 1 more pod fits none: "odd"')
        twice = self.write("offers2.csv", OFFER_HEADER, OFFERS[0].replace("526000", "527000"))
        broken = self.write("offers3.csv", OFFER_HEADER, OFFERS[0].replace("526000", "0.526"))
        useless = self.write("offers4.csv", OFFER_HEADER, *OFFERS[-3:])
        for words, message in [
                (["--offers", f"{self.offers_path},{twice}"], "wanted one price and shape of p t4-1 r (on-demand) on 2026-01-01"),
                (["--offers", broken], f"{broken}:2:44: micro_usd_per_hour: wanted a whole number"),
                (["--offers", useless], "--offers: wanted one that can be bought, with a price and whole GPUs of NVIDIA, found none"),
                (["--regions", "x"], '--regions: wanted a region of an offer (r, s), found "x"'),
                (["--purchase", "committed"], "--purchase: wanted what is offered"),
                (["--purchase", "rent"], "--purchase: wanted on-demand, spot or committed"),
                (["--at", "2025-12-31"], "--at: wanted a day on which an offer is in force"),
                (["--nodes", "0"], '--nodes: wanted a whole number from 1 to 1000000000000000, found "0"'),
                (["--format", "yaml"], '--format: wanted table or json, found "yaml"'),
                (["--pods", self.write("p1.csv", POD_HEADER)], "p1.csv:1:1: wanted at least one pod, found none"),
                (["--pods", self.write("p2.csv", POD_HEADER, "a,1,1,2,500,,")], "p2.csv:2:9: gpu_milli: wanted 1000 with num_gpu 2"),
                (["--pods", self.write("p3.csv", POD_HEADER, "a,1.5,1,0,0,,")], "p3.csv:2:3: cpu_milli: wanted a whole number"),
                (["--pods", self.folder / "none"], "none")]:
            options = dict(zip(question[::2], question[1::2], strict=True))
            options.update({"--pods": options.get("--pods", good), **dict(zip(words[::2], words[1::2], strict=True))})
            self.assertIn(message, self.refused(*(word for option in options.items() for word in option)))

    def test_an_interrupt_ends_the_search(self):
        path = self.random_pods(6, 400)
        with subprocess.Popen([PROGRAM, "advise", "--pods", str(path), "--offers", str(self.offers_path), "--nodes", "10000000000"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(1)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE_SECONDS)
        self.assertEqual((process.returncode, out), (130, ""))
        self.assertIn("interrupted", err)

    def test_a_terminal_shows_progress(self):
        path = self.random_pods(7, 60)
        process, out, shown = run_on_terminal([PROGRAM, "advise", "--pods", str(path), "--offers", str(self.offers_path)],
                                              DEADLINE_SECONDS)
        self.assertEqual(process.returncode, 0)
        self.assertIn(b"advise       1/1  [####", shown)
        self.assertIn(b"Rent these", out)

    @unittest.skipUnless(DATA, "BERTH_DATA does not name the folder with the public traces")
    def test_public_pods_on_a_public_catalogue(self):
        catalogue = Path(DATA) / "catalog" / "aws_gpu.csv"
        with open(Path(DATA) / "openb" / "openb_pod_list_default.csv", encoding="utf-8") as file:
            header, *rows = file.read().splitlines()
        drawn = [f"pod{number},{random.Random(number).choice(rows).split(',', 1)[1]}" for number in range(40)]
        path = self.write("openb.csv", header, *drawn)
        self.assertTrue(header.startswith("name,"))
        answer = self.answer("--pods", path, "--offers", catalogue)
        self.check(answer, read_pods(path), offers_of("--offers", catalogue, "--at", AT))
        self.assertLessEqual(answer["micro_usd_per_hour"], 1.1 * answer["bound_micro_usd_per_hour"])


if __name__ == "__main__":
    unittest.main()
