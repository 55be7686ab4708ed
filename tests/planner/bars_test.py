#!/usr/bin/env python3
"""How the planner's bars are judged, on invented figures, and the lengths of the scenarios that they are measured on."""

import os
import sys
import unittest

import bars
import goodput
import goodput_scenarios
import integer_program
import one_gpu_windows
import sweep
import weights
from bars import Bar


def run(name, changes=None, **values):
    return goodput.Run(name, {key.replace("_", "-"): value for key, value in values.items()}, changes or {})


class Verdicts(unittest.TestCase):
    def verdict(self, measured, at, limit, **more):
        bar = Bar("x", measured, "{:.1f} %", "", at, limit, **more)
        return bar.is_met, bar.cells()[-1]

    def test_each_side_of_each_limit(self):
        self.assertEqual(self.verdict(97.5, "at least", 97), (True, "met by 0.5 %"))
        self.assertEqual(self.verdict(97, "at least", 97), (True, "met by 0.0 %"))
        self.assertEqual(self.verdict(96, "at least", 97), (False, "MISSED by 1.0 %"))
        self.assertEqual(self.verdict(1, "at most", 1), (True, "met by 0.0 %"))
        self.assertEqual(self.verdict(1.2, "at most", 1), (False, "MISSED by 0.2 %"))
        self.assertEqual(self.verdict(10, "below", 10), (False, "MISSED by 0.0 %"))
        self.assertEqual(self.verdict(None, "at most", 1), (False, "MISSED"))
        self.assertEqual(self.verdict(2, "at most", 1, is_excused="why"), (True, "met: why"))
        self.assertEqual(self.verdict(2, "", 0), (True, ""))


class Goodput(unittest.TestCase):
    RUNS = [run("a", berth=0.90, ekya=0.80, paris=0.91, static_even=0.70, clairvoyant=0.95, static_best=0.99),
            run("b", berth=0.60, ekya=0.50, static_even=0.59, clairvoyant=0.60)]

    def test_the_worst_run_is_held_against_its_best_online_rival(self):
        worst = goodput.worst_compared_with_rivals(self.RUNS)
        self.assertEqual((worst.run, worst.rival), ("a", "paris"))
        self.assertAlmostEqual(worst.share, 0.90 / 0.91 - 1)

    def test_the_way_counts_contended_runs_only(self):
        share, count = goodput.share_of_way(self.RUNS)
        self.assertEqual(count, 1)
        self.assertAlmostEqual(share, 0.8)
        self.assertEqual(goodput.share_of_way(self.RUNS[1:]), (None, 0))

    def test_means_leave_out_what_a_policy_could_not_run(self):
        self.assertAlmostEqual(goodput.mean_ratio(self.RUNS, "paris"), 0.90 / 0.91)
        self.assertAlmostEqual(goodput.mean_ratio(self.RUNS, "ekya"), (0.9 / 0.8 + 0.6 / 0.5) / 2)
        self.assertIsNone(goodput.mean_ratio(self.RUNS, "migrator"))

    def test_gains_are_reported_with_and_without_retraining(self):
        runs = [run("t2-none 1", berth=0.9, ekya=0.8), run("t2-on 1", berth=0.6, ekya=0.5), run("t2-long 1", berth=0.6, ekya=0.6)]
        self.assertEqual(goodput.gains_in_words(runs, "ekya"), "with retraining +10.0 %; without +12.5 %; MIGRator published +17 %")
        self.assertEqual(goodput.gains_in_words(runs[:1], "ekya"), "without +12.5 %; MIGRator published +17 %")

    def test_more_changes_than_astraea_need_more_goodput(self):
        for goodput_of_berth, is_met in [(0.806, True), (0.803, False)]:
            runs = [run("a", {"berth": 12, "ekya": 12, "astraea": 11}, berth=goodput_of_berth, ekya=0.8, astraea=0.8)]
            ekya, astraea = bars.changes_bars(runs, "services")
            self.assertTrue(ekya.is_met)
            self.assertEqual(astraea.is_met, is_met)
        runs = [run("a", {"berth": 13, "ekya": 12, "astraea": 13}, berth=0.9, ekya=0.8, astraea=0.8)]
        ekya, astraea = bars.changes_bars(runs, "services")
        self.assertFalse(ekya.is_met)
        self.assertTrue(astraea.is_met)


class Weights(unittest.TestCase):
    def test_figures(self):
        changes = {"berth": 3, "clairvoyant": 2, "ekya": 5}
        outcomes = [weights.Outcome("a", 0.98, 1.0, 0.9, changes), weights.Outcome("b", 0.515, 0.5, 0.6, changes)]
        self.assertAlmostEqual(weights.mean_over_known(outcomes), 0.005)
        self.assertEqual(weights.worst_over_known(outcomes).name, "a")
        text = "\n".join(weights.summary(outcomes))
        self.assertIn("known counts: mean +0.500 %, worst -2.00 % (a), below by more than 1 % on 1 of 2", text)
        self.assertIn("ekya: mean -2.639 %, worst -14.17 % (b)", text)
        self.assertIn("changes: berth 6, known counts 4, ekya 10", text)

    def test_only_the_past_is_shifted(self):
        if not os.environ.get("BERTH_DATA"):
            self.skipTest("BERTH_DATA is not set")
        start, quiet = 100_000, 300
        counts = weights.shifted_past(start, 400, 2, quiet)
        trace = goodput_scenarios.twitter()[start - goodput_scenarios.HISTORY:start + 400]
        until = goodput_scenarios.HISTORY - quiet
        self.assertEqual(counts[:until], [2 * count for count in trace[:until]])
        self.assertEqual(counts[until:], trace[until:])


class Sweep(unittest.TestCase):
    def results(self, still):
        return iter([{"berth": 0.9, "static-even": 0.8, "static-best": 1.0, "changes": 5},
                     {"berth": 0.6, "static-even": 0.6, "static-best": 0.6, "changes": 1},
                     {"berth": 0.8, "static-even": 0.8, "changes": 2}, {"berth": 0.3, "static-even": still, "changes": 0}])

    def test_points(self):
        first, second = sweep.points([0, 60], ["a", "b"], self.results(0.6))
        self.assertAlmostEqual(first.below_best, 0.05)
        self.assertEqual((first.worst, first.worst_name, first.changes), (0, "b", 6))
        self.assertAlmostEqual(second.below_best, 0.35)
        self.assertAlmostEqual(second.worst, -0.5)
        self.assertEqual(sweep.worst_of([first, second]).cost, 60)
        self.assertAlmostEqual(sweep.mean_below_best([first, second]), 0.2)

    def test_a_layout_that_stands_still_may_feel_the_cost(self):
        _, second = sweep.points([0, 60], ["a", "b"], self.results(0.3))
        self.assertAlmostEqual(second.static_even, 0.55)
        self.assertEqual((second.worst, second.static_best), (0, 0.8))


class IntegerProgram(unittest.TestCase):
    def instance(self, rival, rival_bound, ours=100.0, ours_bound=100.0):
        return integer_program.Instance(0, ours, ours_bound, 2.0, rival, rival_bound, 6000.0)

    def test_agreement(self):
        for rival, bound, is_finished, agrees in [(100, 100, True, True), (101, 101, True, False), (90, 120, False, True),
                                                  (100.1, 120, False, False), (90, 99.9, False, False),
                                                  (float("-inf"), float("inf"), False, True)]:
            instance = self.instance(rival, bound)
            self.assertEqual((integer_program.is_finished(instance), integer_program.agrees(instance)), (is_finished, agrees), instance)

    def test_where_ours_is_not_proven_cbc_may_have_the_better_schedule(self):
        better = self.instance(101, 101, ours_bound=102)
        self.assertTrue(integer_program.agrees(better))
        self.assertFalse(integer_program.is_same_optimum(better))
        self.assertIn("ABOVE ours", integer_program.fate(better))
        self.assertFalse(integer_program.agrees(self.instance(103, 104, ours_bound=102)))
        self.assertTrue(integer_program.is_same_optimum(self.instance(100, 100)))

    def test_killed_and_unproven_ones_count_for_nothing(self):
        killed = integer_program.Instance(0, *[None] * 6)
        self.assertFalse(integer_program.agrees(killed) or integer_program.is_finished(killed) or integer_program.is_proven(killed))
        self.assertFalse(integer_program.is_proven(self.instance(100, 100, ours_bound=100.001)))
        self.assertTrue(integer_program.is_proven(self.instance(100, 100)))
        self.assertEqual(integer_program.median_ratio([killed, self.instance(90, 110)]), 3000)
        self.assertIsNone(integer_program.median_ratio([killed]))


class OneGpuWindows(unittest.TestCase):
    def test_figures(self):
        plans = [one_gpu_windows.Plan("t4-g1-60-calm-none", second, second, 0.1 * second, second <= 25) for second in range(1, 101)]
        figures = one_gpu_windows.figures(plans)
        self.assertEqual((figures["ms_p50"], figures["ms_p99"], figures["proven"]), (50, 99, 25))
        self.assertAlmostEqual(figures["gap_p99"], 9.9)
        self.assertEqual(one_gpu_windows.percentile([7], 0.99), 7)
        self.assertFalse(one_gpu_windows.retrains(plans[0]))
        self.assertTrue(one_gpu_windows.retrains(plans[0]._replace(scenario="t4-g1-70-bursty-long")))

    def test_instants_reach_over_the_run(self):
        seconds = one_gpu_windows.seconds_of(25)
        self.assertEqual((len(seconds), seconds[0], seconds[-1]), (25, one_gpu_windows.FIRST_SECOND, one_gpu_windows.LAST_SECOND))
        self.assertEqual(one_gpu_windows.seconds_of(1), [one_gpu_windows.FIRST_SECOND])


class Scenarios(unittest.TestCase):
    def test_length_and_further_lines_reach_the_file(self):
        if not os.environ.get("BERTH_DATA"):
            self.skipTest("BERTH_DATA is not set")
        scenario = goodput_scenarios.SCENARIOS[0]
        text = goodput_scenarios.text_of(*scenario, extra=["changes: {plumbing_seconds: 5}"], seconds=3600)
        self.assertEqual(text.count("seconds: 3600,"), scenario[0])
        self.assertIn("\nchanges: {plumbing_seconds: 5}\nservices:", text)
        self.assertEqual(goodput_scenarios.text_of(*scenario).count("seconds: 1800,"), scenario[0])


if __name__ == "__main__":
    sys.exit(unittest.main())
