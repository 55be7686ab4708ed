#!/usr/bin/env python3
"""Cases computed by hand for the oracle: `python3 oracle_test.py`. Times in the comments are in milliseconds."""

import glob
import json
import os
import tempfile
import unittest
from fractions import Fraction

import compare
import gpu_models
import inputs
import make_inputs
import replay_oracle
from world import World

HERE = os.path.dirname(os.path.abspath(__file__))

# model m on A100-80GB: on 1g one process takes 100 at batch 1, 150 at 2, 250 at 4; on 2g two processes take 80 each
TABLE = [("m", "A100-80GB", "1g.10gb", 1, 1, 10, 100), ("m", "A100-80GB", "1g.10gb", 2, 1, 13, 150),
         ("m", "A100-80GB", "1g.10gb", 4, 1, 16, 250), ("m", "A100-80GB", "2g.20gb", 1, 2, 25, 80)]


def service(name="s", arrivals="a.csv", target=1000, **more):
    block = {"name": name, "profile": {"format": "csv", "path": "p.csv", "model": "m"}, "slo": {"latency_ms": target},
             "batching": {"slo_factor": 1.001, "max_processes": 3}, "drop": "never",
             "arrivals": {"format": "azure-llm", "path": arrivals}}
    block.update(more)
    return block


def one_slice(profile="1g.10gb", name="s", start=0, **more):
    return {"profile": profile, "start": start, "service": name, **more}


class Case(unittest.TestCase):
    """Writes tiny scenarios and replays them."""

    def scenario(self, services, slices, traces, table=None, **more):
        """Path of a scenario on one A100-80GB; `traces` maps file names to arrival times in milliseconds."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, times in traces.items():
            self.write(folder.name, name, make_inputs.trace([round(t * 1000) for t in times]))
        self.write(folder.name, "p.csv", make_inputs.profile(table or TABLE))
        tree = {"berth": 1, "fleet": [{"gpu": "A100-80GB", "count": 1, "usd_per_gpu_hour": 3.6}],
                "layout": [{"gpu": 0, "slices": slices}], "services": services, **more}
        return self.write(folder.name, "scenario.yaml", json.dumps(tree))

    @staticmethod
    def write(folder, name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def replay(self, *arguments, **more):
        """(figures of the policy, `second` records)."""
        report, journal = replay_oracle.replay(self.scenario(*arguments, **more))
        return report["policies"][0], [record for record in journal if record["type"] == "second"]

    def latencies_ms(self, *arguments, **more):
        world = World(inputs.load(self.scenario(*arguments, **more))).run()
        return [[us / 1000 for us in state.latencies_us] for state in world.services]

    def counts(self, figures):
        return [figures[key] for key in replay_oracle.COUNTS]


class QueueTest(Case):
    def test_each_arrival_of_a_microsecond_is_taken_before_the_next(self):
        # 4 at 0: the first goes alone (0-100), the other three together (100-300, 200 lies halfway from 150 to 250)
        self.assertEqual(self.latencies_ms([service()], [one_slice()], {"a.csv": [0, 0, 0, 0]}), [[100, 300, 300, 300]])

    def test_an_answer_goes_before_an_arrival_of_the_same_microsecond(self):
        # at 100 the process is free again when the request comes
        self.assertEqual(self.latencies_ms([service()], [one_slice()], {"a.csv": [0, 100]}), [[100, 100]])

    def test_a_batch_is_at_most_the_point_s(self):
        # 6 at 0: 1 (0-100), 4 (100-350), 1 (350-450)
        self.assertEqual(self.latencies_ms([service()], [one_slice()], {"a.csv": [0] * 6}), [[100, 350, 350, 350, 350, 450]])

    def test_lowest_start_then_process_takes_first(self):
        # 1g at start 0 takes the first (100), the two processes of 2g at start 2 the next two (80); at 80 they are free
        # again and take the fourth alone (160)
        slices = [one_slice("2g.20gb", start=2), one_slice("1g.10gb", start=0)]
        self.assertEqual(self.latencies_ms([service()], slices, {"a.csv": [0] * 4}), [[80, 80, 100, 160]])

    def test_drop_early_looks_at_the_batch_as_it_would_be_taken(self):
        # target 260. 0: r1 alone until 100; r2, r3, r4 at 1, r5 at 90 wait. At 100 the batch of 4 takes 250: answered at
        # 350, r2 would have 349: dropped. Then 3 take 200: at 300, r3 would have 299: dropped. Then 2 take 150: at 250,
        # r4 has 249: in time, with r5's 160. All settled at 250.
        figures, seconds = self.replay([service(target=260, drop="early")], [one_slice()], {"a.csv": [0, 1, 1, 1, 90]})
        self.assertEqual(self.counts(figures), [5, 3, 0, 2, 0])
        self.assertEqual(seconds[0]["t_us"], 250000)
        self.assertEqual(figures["latency_ms"], {"mean": (100 + 249 + 160) / 3, "p50": 160, "p99": 249})

    def test_exactly_the_target_is_in_time(self):
        for target, counts in ((100, [1, 1, 0, 0, 0]), ("99.9999", [1, 0, 1, 0, 0])):
            figures, _ = self.replay([service(target=target, batching={"slo_factor": 2})], [one_slice()], {"a.csv": [0]})
            self.assertEqual(self.counts(figures), counts)


class InterferenceTest(Case):
    def test_factor_of_the_take_stays(self):
        # x at 0 alone: 100. y at 10 beside one busy slice: 200 (until 210). x's next at 150 beside y: 200, until 350.
        # y's next at 300 beside x: 200. The last value of the list goes on for more neighbours.
        services = [service("x", "x.csv"), service("y", "y.csv")]
        slices = [one_slice(name="x", start=0), one_slice(name="y", start=1)]
        traces = {"x.csv": [0, 150], "y.csv": [10, 300]}
        self.assertEqual(self.latencies_ms(services, slices, traces, interference=[1, 2]), [[100, 200], [200, 200]])

    def test_a_slice_is_busy_until_its_own_answer_is_done_with(self):
        # x and y: one each at 0: x alone 100, y 200. x again at 50, waits, taken at 100 beside y: 200 -> 300. y's second
        # comes at 100.001 and waits until 200: beside x: 200 -> 400. z on start 2 at 200: y's answer and its take go
        # first, so z sees two neighbours: 300 -> 500. y's third at 500: z's answer goes before the arrival: alone, 100.
        services = [service("x", "x.csv"), service("y", "y.csv"), service("z", "z.csv")]
        slices = [one_slice(name=name, start=start) for start, name in enumerate("xyz")]
        traces = {"x.csv": [0, 50], "y.csv": [0, 100.001, 500], "z.csv": [200]}
        self.assertEqual(self.latencies_ms(services, slices, traces, interference=[1, 2, 3]),
                         [[100, 250], [200, 299.999, 100], [300]])

    def test_answers_of_one_microsecond_see_each_other(self):
        # x and y run until 100 and have one waiting each, z came at 50 beside both: 500 -> 550. At 100 x's answer goes
        # first: y is not done yet, so x takes beside y and z: 500 -> 600, then y beside x and z: 500 -> 600.
        services = [service(name, f"{name}.csv") for name in "xyz"]
        slices = [one_slice(name=name, start=start) for start, name in enumerate("xyz")]
        traces = {"x.csv": [0, 20], "y.csv": [0, 20], "z.csv": [50]}
        self.assertEqual(self.latencies_ms(services, slices, traces, interference=[1, 1, 5]),
                         [[100, 580], [100, 580], [500]])

    def test_rounding_half_up(self):
        # 30.0015 ms is 30001.5 us
        table = [("m", "A100-80GB", "1g.10gb", 1, 1, 10, "30.0015")]
        self.assertEqual(self.latencies_ms([service()], [one_slice()], {"a.csv": [0]}, table), [[30.002]])


class PointTest(Case):
    def test_most_throughput_then_smaller_batch_then_fewer_processes(self):
        of = {"max_processes": 3, "slo_factor": Fraction(1, 2), "target_us": Fraction(200000)}
        spec = inputs.Service(name="s", drop="never", weight=1, before=1, after=1, retraining=None, table={}, arrivals={}, **of)
        fast, slow = (Fraction(50), Fraction(99)), (Fraction(40), Fraction(10))
        self.assertEqual(inputs.operating_point(spec, {(8, 1): fast, (4, 3): fast, (4, 2): fast, (1, 1): slow}), (4, 2))
        # four processes are too many, 100 ms is not below half of 200
        self.assertEqual(inputs.operating_point(spec, {(8, 4): fast, (1, 2): (Fraction(60), Fraction(100)), (2, 1): slow}), (2, 1))
        self.assertIsNone(inputs.operating_point(spec, {(8, 4): fast}))

    def test_latency_between_below_and_above_profiled_batches(self):
        points = {(2, 1): (1, Fraction(50)), (4, 1): (1, Fraction(30)), (1, 2): (1, Fraction(7))}
        self.assertEqual([inputs.latency_ms(points, 1, n) for n in (1, 2, 3, 4)], [50, 50, 40, 30])
        with self.assertRaises(ValueError):
            inputs.latency_ms(points, 1, 5)

    def test_a_slice_without_a_point_never_serves(self):
        table = [("m", "A100-80GB", "2g.20gb", 1, 1, 10, 100)]
        figures, _ = self.replay([service()], [one_slice()], {"a.csv": [0]}, table)
        self.assertEqual(self.counts(figures), [1, 0, 0, 0, 1])
        self.assertEqual((figures["goodput"], figures["mean_accuracy"], figures["latency_ms"]["p50"]), (0.0, None, None))
        self.assertEqual(figures["lost_slice_seconds"], 1)


class RetrainingTest(Case):
    """One request per second at 500 ms, each answered 100 later; a window of 12 s; before 0.5, after 1."""

    def accuracies(self, **rule):
        retraining = {"every_seconds": 4, "seconds_on": {"1g": 2}, **rule}
        block = service(accuracy={"before": 0.5, "after": 1}, retraining=retraining)
        slices = [one_slice(), one_slice(start=6, role="retraining")]
        _, seconds = self.replay([block], slices, {"a.csv": [500 + 1000 * k for k in range(12)]})
        return "".join("a" if record["accuracy_sum_micro"] == 10**6 else "b" for record in seconds)

    def test_each_due_time_makes_stale_until_done(self):
        self.assertEqual(self.accuracies(), "bbaabbaabbaa")
        self.assertEqual(self.accuracies(offset_seconds=3), "aaabbaabbaab")

    def test_abandoned_even_if_done_at_the_due_time(self):
        self.assertEqual(self.accuracies(seconds_on={"1g": 4}), "b" * 12)
        self.assertEqual(self.accuracies(seconds_on={"1g": 3.9}), "b" * 12)  # 3.9 to 4: no answer
        self.assertEqual(self.accuracies(seconds_on={"1g": 3.6}), "bbba" * 3)  # done at 3.6, before the answer of 3.6

    def test_continue_keeps_progress_and_serves_the_newest_due_time(self):
        # starts at 0, done at 5 (due times 0 and 4); starts at 8, done at 13
        self.assertEqual(self.accuracies(seconds_on={"1g": 5}, unfinished="continue"), "bbbbbaaabbbb")
        # done at 4 exactly, behind the due time 4, which it serves; the next starts at 8
        self.assertEqual(self.accuracies(seconds_on={"1g": 4}, unfinished="continue"), "bbbbaaaabbbb")

    def test_swap_delays_the_new_model_and_ends_with_the_next_due_time(self):
        self.assertEqual(self.accuracies(swap_seconds=1), "bbbabbbabbba")
        self.assertEqual(self.accuracies(swap_seconds=2), "b" * 12)
        self.assertEqual(self.accuracies(swap_seconds=7), "b" * 12)

    def test_a_size_not_listed_cannot(self):
        self.assertEqual(self.accuracies(seconds_on={"2g": 1}), "b" * 12)
        self.assertEqual(self.accuracies(seconds_on={"2g": 1}, offset_seconds=10), "a" * 10 + "bb")

    def test_an_answer_counts_with_the_accuracy_at_its_answer(self):
        # done at 0.6, the moment of the first answer: accuracy changes go first
        self.assertEqual(self.accuracies(seconds_on={"1g": 0.6}, every_seconds=100), "a" * 12)
        self.assertEqual(self.accuracies(seconds_on={"1g": 0.600001}, every_seconds=100), "b" + "a" * 11)

    def test_miso_ratios(self):
        rows = "model,batch,mig_slice,median_s_per_iter,mean_s_per_iter,n_iters\nr,8,1g.5gb,9,0.5,1\nr,8,7g.40gb,9,0.2,1\nr,4,7g.40gb,9,1,1\n"
        with tempfile.TemporaryDirectory() as folder:
            self.write(folder, "miso.csv", rows)
            block = {"format": "miso", "path": "miso.csv", "model": "r", "batch": "8", "seconds_7g": "3"}
            self.assertEqual(inputs.read_miso(block, folder), {"1g": Fraction(15, 2), "7g": 3})

    def test_a_retraining_makes_its_slice_busy(self):
        # due at 0 for 2 s: busy 2 of 12 s on 14 SMs, and 12 answers of 0.1 s, of 108 SMs x 12 s; factor 1
        retraining = {"every_seconds": 100, "seconds_on": {"1g": 2}}
        slices = [one_slice(), one_slice(start=6, role="retraining")]
        traces = {"a.csv": [500 + 1000 * k for k in range(12)]}
        figures, _ = self.replay([service(retraining=retraining)], slices, traces)
        self.assertAlmostEqual(figures["utilisation"]["busy"], 14 * (2 + 1.2) / (108 * 12), 14)
        # beside it the first two batches (0.5 and 1.5) take twice as long
        found = self.latencies_ms([service(retraining=retraining)], slices, traces, interference=[1, 2])
        self.assertEqual(found, [[200, 200] + [100] * 10])


class EndTest(Case):
    def test_an_answer_at_the_end_counts_and_nothing_is_taken_or_dropped_then(self):
        # window 1 s; 900 -> 1000 counts; the two of 950 wait: unfinished, not dropped, although late by then
        figures, seconds = self.replay([service(target=100, drop="early")], [one_slice()], {"a.csv": [900, 950, 950]})
        self.assertEqual(self.counts(figures), [3, 1, 0, 0, 2])
        self.assertEqual(seconds, [{"t_us": 10**6, "policy": "fixed", "type": "second", "service": "s", "second": 0,
                                    "requests": 3, "in_time": 1, "late": 0, "dropped": 0, "unfinished": 2,
                                    "accuracy_sum_micro": 10**6}])

    def test_one_microsecond_late_is_unfinished(self):
        figures, _ = self.replay([service()], [one_slice()], {"a.csv": [900.001]})
        self.assertEqual(self.counts(figures), [1, 0, 0, 0, 1])

    def test_the_run_ends_with_the_longest_window(self):
        # x's window is [0, 1) s, its queue is served on until 3 s
        services = [service("x", "x.csv"), service("y", "y.csv")]
        services[0]["arrivals"]["seconds"] = 1
        figures, _ = self.replay(services, [one_slice(name="x"), one_slice(name="y", start=1)],
                                 {"x.csv": [999, 1000], "y.csv": [0, 2500]})
        self.assertEqual(self.counts(figures["services"][0]), [1, 1, 0, 0, 0])

    def test_second_records_stand_at_the_last_settlement(self):
        # second 0: 0 and 500 answered at 100 and 600; second 1: 1950 answered at 2050
        _, seconds = self.replay([service()], [one_slice()], {"a.csv": [0, 500, 1950, 2900]})
        self.assertEqual([(r["second"], r["t_us"]) for r in seconds], [(0, 600000), (1, 2050000), (2, 3000000)])


class FigureTest(Case):
    def test_goodputs_cost_and_effective(self):
        # x: 3 requests at 0: 100, then 2 until 250 (late over 240): 1 of 3 in time with accuracy 0.8; y: 1 of 1.
        # weights 1 and 3. 1 s of one GPU at 3.6 $/h: 1000 micro-dollars. effective: 14/16 SM s is the least on 1g, on 2g
        # 28/25; 4 answers.
        services = [service("x", "x.csv", target=240, accuracy=0.8, batching={"slo_factor": 1.1}), service("y", "y.csv", weight=3)]
        figures, _ = self.replay(services, [one_slice(name="x"), one_slice(name="y", start=1)], {"x.csv": [0, 0, 0], "y.csv": [0]})
        # x's 4-batch takes 250, below 264; y's limit is 1001
        self.assertEqual(self.counts(figures["services"][0]), [3, 1, 2, 0, 0])
        self.assertAlmostEqual(figures["goodput"], 1.8 / 4, 15)
        self.assertAlmostEqual(figures["goodput_mean_of_services"], (0.8 / 3 + 3) / 4, 15)
        self.assertAlmostEqual(figures["goodput_worst_service"], 0.8 / 3, 15)
        self.assertAlmostEqual(figures["mean_accuracy"], 0.9, 15)
        self.assertEqual((figures["cost_micro_usd"], figures["cost_micro_usd_per_million_in_time"]), (1000, 500000000))
        self.assertAlmostEqual(figures["utilisation"]["effective"], 4 * 14 / 16 / 108, 15)
        self.assertAlmostEqual(figures["utilisation"]["allocated"], 28 / 108, 15)
        self.assertAlmostEqual(figures["utilisation"]["busy"], 14 * (0.25 + 0.1) / 108, 15)

    def test_half_to_even_and_nearest_rank(self):
        self.assertEqual([replay_oracle.half_even(Fraction(n, 2)) for n in (1, 3, 5)], [0, 2, 2])
        us = [1000 * k for k in range(1, 201)]
        self.assertEqual(replay_oracle.latency(us), {"mean": 100.5, "p50": 100, "p99": 198})
        self.assertEqual(replay_oracle.latency([5000])["p99"], 5)


class ArrivalsTest(Case):
    def test_constant(self):
        self.assertEqual(inputs.constant(Fraction(3), 1), [0, 333333, 666666])
        self.assertEqual(inputs.constant(Fraction(4), 1), [0, 250000, 500000, 750000])
        self.assertEqual(inputs.constant(Fraction(1, 2), 3), [0, 2000000])

    def test_stamps_are_cut_and_second_0_is_rounded_down(self):
        path = self.write(tempfile.mkdtemp(), "t.csv", "\ufeffTIMESTAMP,ContextTokens,GeneratedTokens\r\n"
                          "2023-12-31 23:59:59.9999999,1,1\r\n2024-01-01 00:00:01.25,1,1\r\n\r\n")
        self.addCleanup(os.rmdir, os.path.dirname(path))
        self.addCleanup(os.remove, path)
        self.assertEqual(inputs.azure_llm(path), ([999999, 2250000], 3))


    def test_counts_of_random_formats(self):
        # the trace has 3, 0, 5, 1 requests; the window begins at second 1 and reaches beyond the end
        with tempfile.TemporaryDirectory() as folder:
            self.write(folder, "t.txt", "3\n0\n5\n1\n\n")
            self.write(folder, "t.csv", "second,requests\n0,3\n2,5\n3,1\n")
            for form, name in (("rps-text", "t.txt"), ("csv", "t.csv")):
                spec = inputs.Service(name="s", target_us=1, slo_factor=1, max_processes=1, drop="never", weight=1, before=1,
                                      after=1, retraining=None, table={}, folder=folder,
                                      arrivals={"format": form, "path": name, "from_second": "1", "seconds": "9"})
                self.assertEqual(inputs.second_counts(spec), {1: 5, 2: 1})
                journal = [{"policy": "fixed", "type": "second", "service": "s", "second": 1, "requests": 4}]
                scenario = inputs.Scenario([], [], [spec], [])
                self.assertTrue(compare.check_counts(scenario, journal))
                journal[0]["requests"] = 5
                journal.append(dict(journal[0], second=2, requests=1))
                self.assertEqual(compare.check_counts(scenario, journal), [])
                self.assertRaises(inputs.RandomArrivals, inputs.arrivals_of, spec)


class FolderTest(unittest.TestCase):
    def test_generated_files_are_up_to_date(self):
        for name, text in make_inputs.files().items():
            with open(os.path.join(HERE, "scenarios", "generated", name), encoding="utf-8", newline="") as file:
                self.assertEqual(file.read(), text, name)

    def test_gpu_models_are_those_of_the_reference(self):
        path = os.path.join(compare.DATA or "", "..", "reference", "mig_profiles.json")
        if not compare.DATA or not os.path.exists(path):
            self.skipTest("no reference/mig_profiles.json beside the data folder")
        with open(path, encoding="utf-8") as file:
            devices = json.load(file)["devices"]
        wanted = {d["model"]: (d["full_sm"], {p["name"]: (p["sm"], p["compute_slices"]) for p in d["profiles"]}) for d in devices}
        self.assertEqual(gpu_models.CUT, wanted)
        self.assertEqual([gpu_models.resolve(n) for n in ("A30", "GB200", "H100-80GB")], ["A30-24GB", "GB200-186GB", "H100-80GB-SXM5"])
        self.assertRaises(ValueError, gpu_models.resolve, "A100")

    def test_compare_sees_each_wrong_figure(self):
        with tempfile.TemporaryDirectory() as folder:
            path = compare.rendered(os.path.join(HERE, "scenarios", "13_bent_profile.yaml.in"), None, folder)
            report, journal = replay_oracle.replay(path)
        policy = report["policies"][0]
        self.assertEqual(compare.recount(policy, journal) + compare.check_order(journal), [])
        self.assertEqual(compare.compare_policies(policy, policy) + compare.compare_journals(journal, journal), [])
        for key in ("requests", "in_time", "goodput", "changes"):
            wrong = json.loads(json.dumps(policy))
            wrong[key] += 1e-11 if key == "goodput" else 1
            self.assertTrue(compare.compare_policies(policy, wrong), key)
            self.assertTrue(compare.recount(wrong, journal), key)
        last = dict(journal[-1], t_us=journal[-1]["t_us"] - 1)
        self.assertTrue(compare.compare_journals(journal, journal[:-1] + [last]))
        self.assertTrue(compare.check_order(journal[::-1]))

    def test_scenarios_make_all_outcomes_happen(self):
        total = dict.fromkeys(replay_oracle.COUNTS, 0)
        with tempfile.TemporaryDirectory() as folder:
            for template in sorted(glob.glob(os.path.join(HERE, "scenarios", "*.yaml.in"))):
                try:
                    path = compare.rendered(template, compare.DATA, folder)
                except compare.NoData:
                    continue
                report, _ = replay_oracle.replay(path)
                for key in total:
                    total[key] += report["policies"][0][key]
        self.assertTrue(all(total.values()), total)


if __name__ == "__main__":
    unittest.main()
