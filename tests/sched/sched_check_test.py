#!/usr/bin/env python3
"""The checks of job schedules, checked: cases by hand, and one mutation for each rule that must be found.

    SCHED_SEEDS=500-700 tests/sched/sched_check_test.py    other random lists
"""

import contextlib
import os
import tempfile
import unittest
from decimal import Decimal
from fractions import Fraction
from json import loads

import sched_bounds
import sched_broken
import sched_check
import sched_figures
import sched_input
import sched_laws
import sched_model
import sched_random
import sched_replay
import sched_rules
from sched_input import Job, Options, Tenant, Tree

FIRST, LAST = (int(word) for word in os.environ.get("SCHED_SEEDS", "0-24").split("-"))


def job(row: int, name: str, submit: int, gpus: int, duration: int, **further) -> Job:
    return Job(row, name, submit, gpus, duration, **further)


def line(second: int, kind: str, name: str, whom: str | None = None, policy: str = "berth") -> dict:
    found = {"policy": policy, "t_s": second, "type": kind, "job": name}
    return found | {"for": {"job": whom}, "reason": "r"} if kind == "preempt" else found


def two_tenants(**further) -> Tree:
    return Tree({"t": Tenant("t", "", 4), "u": Tenant("u", "", 4, **further)})


def errors_of(jobs: list[Job], tree: Tree, options: Options, lines: list[dict], policy: str = "berth") -> str:
    """All that is wrong, as one text; empty: nothing."""
    try:
        timeline = sched_replay.timeline_of(policy, jobs, options, lines)
    except sched_replay.LogError as error:
        return str(error)
    return "; ".join(sched_laws.law_errors(policy, timeline, tree, options))


def random_input(seed: int) -> tuple[list[Job], Tree, Options]:
    case = sched_random.make_case(seed)
    first = min(one.submit_s for one in case.jobs)
    jobs = [one._replace(submit_s=one.submit_s - first, deadline_s=None) for one in case.jobs]
    tenants = case.tenants or [Tenant(name, "") for name in sorted({one.tenant for one in jobs})]
    return jobs, Tree({tenant.name: tenant for tenant in tenants}), case.options


class Figures(unittest.TestCase):
    JOBS = [job(0, "a", 0, 2, 100, tenant="x", deadline_s=100), job(1, "b", 10, 1, 50, deadline_s=149),
            job(2, "c", 10, 1, 200)]
    TREE = Tree({"x": Tenant("x", "", 1), "default": Tenant("default", "", 1)})

    def figures(self) -> dict:
        lines = sched_model.log_of("fifo", self.JOBS, self.TREE, Options(2))
        timeline = sched_replay.timeline_of("fifo", self.JOBS, Options(2), lines)
        return sched_figures.policy_figures("fifo", timeline, self.TREE, Options(2))

    def test_by_hand(self) -> None:
        self.assertEqual(self.figures(), {
            "policy": "fifo", "hindsight": False,
            "completion_seconds": {"sum": 530, "mean": Fraction(530, 3), "p50": 140, "p99": 290, "max": 290},
            "wait_seconds": {"sum": 180, "mean": Fraction(60), "p50": 90, "p99": 90, "max": 90},
            "slowdown": {"mean": (1 + Fraction(140, 60) + Fraction(290, 200)) / 3, "p99": Fraction(7, 3)},
            "rho_worst": Fraction(140, 60) / Fraction(460, 280), "makespan_seconds": 300,
            "utilisation": Fraction(3, 4), "preemptions": 0, "restart_gpu_seconds": 0, "deadlines_missed": 1,
            "tenants": [{"tenant": "default", "jobs": 2, "gpu_seconds": 250, "completion_mean": Fraction(215),
                         "gpu_seconds_borrowed": 50},
                        {"tenant": "x", "jobs": 1, "gpu_seconds": 200, "completion_mean": Fraction(100),
                         "gpu_seconds_borrowed": 100}]})
        self.assertEqual(sched_figures.bound_makespan(self.JOBS, 2), 225)

    def test_restarts(self) -> None:
        jobs = [job(0, "a", 0, 2, 100, checkpoint_s=30), job(1, "b", 40, 2, 10)]
        lines = [line(0, "start", "a"), line(40, "preempt", "a", "b"), line(40, "start", "b"), line(50, "finish", "b"),
                 line(50, "start", "a"), line(180, "finish", "a")]   # 30 s are kept, then 60 + 70
        timeline = sched_replay.timeline_of("berth", jobs, Options(2), lines)
        tree = Tree({"default": Tenant("default", "")})
        figures = sched_figures.policy_figures("berth", timeline, tree, Options(2))
        self.assertEqual((figures["preemptions"], figures["restart_gpu_seconds"]), (1, 120))
        self.assertEqual(figures["tenants"][0]["gpu_seconds"], 2 * (40 + 10 + 130))
        self.assertEqual(errors_of(jobs, tree, Options(2), lines), "")
        for second in (150, 170, 179, 181):
            late = errors_of(jobs, tree, Options(2), lines[:-1] + [line(second, "finish", "a")])
            self.assertRegex(late, "progress reaches the duration at 180|should have finished at 180")

    def test_every_number_changed(self) -> None:
        wanted = self.figures()
        right = loads(sched_model.text_of(wanted), parse_float=Decimal)
        self.assertEqual(list(sched_figures.differences(wanted, right, "f")), [])

        def changes(value: object, put) -> None:
            if isinstance(value, (dict, list)):
                for key in (value if isinstance(value, dict) else range(len(value))):
                    changes(value[key], lambda new, key=key: value.__setitem__(key, new))
                return
            small = value + Decimal("0.000002") if isinstance(value, Decimal) else None
            put(small if small is not None else not value if isinstance(value, bool) else value * 2 + (
                1 if isinstance(value, int) else "!"))
            self.assertTrue(list(sched_figures.differences(wanted, right, "f")), value)
            put(value)

        changes(right, None)
        right["completion_seconds"]["mean"] = Decimal("176.66667")
        self.assertTrue(list(sched_figures.differences(wanted, right, "f")))   # five decimals
        del right["tenants"][0]["jobs"]
        self.assertIn("missing", " ".join(sched_figures.differences(wanted, right, "f")))


class Lines(unittest.TestCase):
    """One log, and what is wrong with each that is a little different."""
    JOBS = [job(0, "a", 0, 2, 100), job(1, "b", 10, 1, 50), job(2, "c", 10, 2, 20)]
    RIGHT = [line(0, "start", "a"), line(100, "finish", "a"), line(100, "start", "b"), line(150, "finish", "b"),
             line(150, "start", "c"), line(170, "finish", "c")]

    def wrong(self, lines: list[dict], **options) -> str:
        policy = lines[0]["policy"] if lines else "berth"
        tree = Tree({"default": Tenant("default", "")})
        return errors_of(self.JOBS, tree, Options(**({"gpus": 2} | options)), lines, policy)

    def test_lines(self) -> None:
        right = self.RIGHT
        self.assertEqual(self.wrong(right), "")
        self.assertIn("never finish", self.wrong(right[:-1]))
        self.assertIn("never finish", self.wrong(right[:4]))
        self.assertIn("finished already", self.wrong(right + [line(170, "finish", "c")]))
        self.assertIn("finished already", self.wrong(right + [line(170, "start", "a")]))
        self.assertIn("runs already", self.wrong(right[:1] + right))
        self.assertIn("are free", self.wrong(right[:1] + [line(20, "start", "b")]))
        self.assertIn("are free", self.wrong(right, gpus=1))
        self.assertIn("submitted at", self.wrong([line(5, "start", "b")]))
        self.assertIn("not finishes", self.wrong(right[:3] + [line(100, "finish", "b")]))
        self.assertIn("back in time", self.wrong(right[:2] + [line(90, "start", "b")]))
        self.assertIn("should finish before", self.wrong(right[:1] + [line(100, "start", "b")]))
        self.assertIn("should have finished", self.wrong(right[:1] + [line(101, "finish", "a")]))
        self.assertIn("reaches the duration", self.wrong(right[:1] + [line(99, "finish", "a")]))
        self.assertIn("unknown job", self.wrong([line(0, "start", "d")]))
        self.assertIn("unknown type", self.wrong([line(0, "begin", "a")]))
        self.assertIn("no second", self.wrong([line(-1, "start", "a")]))
        self.assertIn("does not run", self.wrong([line(0, "preempt", "a", "b")]))
        self.assertIn("in one instant", self.wrong(right[:1] + [line(50, "preempt", "a", "b"), line(50, "start", "a")]))

    def test_policies(self) -> None:
        preempt = [line(0, "start", "a"), line(50, "preempt", "a", "b")]
        for policy, text in (("fifo", "does not preempt"), ("las", "between rounds")):
            self.assertIn(text, self.wrong([one | {"policy": policy} for one in preempt]))
        rounds = [one | {"policy": "las"} for one in preempt]
        self.assertIn("not null", self.wrong(rounds, round_seconds=50))
        self.assertIn("no start between", self.wrong([line(3, "start", "a", policy="srpt")]))
        self.assertIn("nothing happens", self.wrong([line(3, "start", "a", policy="skip")]))
        del preempt[1]["reason"]
        self.assertIn("wants for and reason", self.wrong(preempt))

    def test_may_not_be_preempted(self) -> None:
        lines = [line(0, "start", "a"), line(50, "preempt", "a", "c"), line(50, "start", "c"), line(70, "finish", "c"),
                 line(70, "start", "a"), line(180, "finish", "a"), line(180, "start", "b"), line(230, "finish", "b")]
        self.assertEqual(self.wrong(lines, min_run_seconds=50), "")
        self.assertIn("for 50 s only", self.wrong(lines, min_run_seconds=51))
        jobs = [self.JOBS[0]._replace(preemptible=False)] + self.JOBS[1:]
        self.assertIn("not preemptible", errors_of(jobs, two_tenants(), Options(2), lines))
        for change, text in (({"for": None}, "no job or tenant"), ({"for": {"job": "a"}}, "no job that waits"),
                             ({"for": {"tenant": "nobody"}}, "no tenant"), ({"reason": " "}, "without a reason")):
            self.assertIn(text, self.wrong(lines[:1] + [lines[1] | change] + lines[2:]))
        self.assertEqual(self.wrong(lines[:1] + [lines[1] | {"for": {"tenant": "default"}}] + lines[2:]), "")


class Laws(unittest.TestCase):
    def test_limits(self) -> None:
        jobs = [job(0, "a", 0, 2, 10, tenant="x"), job(1, "b", 0, 1, 10, tenant="y")]
        lines = [line(0, "start", "a"), line(0, "start", "b"), line(10, "finish", "a"), line(10, "finish", "b")]
        for limit, is_error in ((3, False), (2, True)):
            tree = Tree({"top": Tenant("top", "", 0, limit), "x": Tenant("x", "top"), "y": Tenant("y", "top")})
            self.assertEqual("its limit" in errors_of(jobs, tree, Options(8), lines), is_error)
            fair = [one | {"policy": "fair"} for one in lines]
            self.assertEqual("its limit" in errors_of(jobs, tree, Options(8), fair, "fair"), is_error)

    def lending(self, second: int, **options) -> str:
        """u holds all 8 GPUs, 4 of them lent by t, which has a job for 4 from second 100 on."""
        jobs = [job(0, "lent", 0, 8, 5000, tenant="u", preemptible=options.pop("preemptible", True)),
                job(1, "mine", 100, 4, 100, tenant="t")]
        lines = [line(0, "start", "lent"), line(second, "preempt", "lent", "mine"), line(second, "start", "mine"),
                 line(second + 100, "finish", "mine"), line(second + 100, "start", "lent"),
                 line(5160, "finish", "lent")]
        if second > 5000:
            lines = [lines[0], line(5000, "finish", "lent"), line(5000, "start", "mine"), line(5100, "finish", "mine")]
        return errors_of(jobs, two_tenants(), Options(8, **options), lines)

    def test_lent_gpus_come_back(self) -> None:
        self.assertEqual(self.lending(100), "")
        self.assertEqual(self.lending(700), "")
        self.assertIn("still waits", self.lending(701))
        self.assertIn("still waits", self.lending(5001))
        self.assertRegex(self.lending(5001, preemptible=False), "out of reach.*waits for jobs that may not be")
        self.assertEqual(self.lending(1000, min_run_seconds=1000), "")
        self.assertIn("still waits", self.lending(1001, min_run_seconds=1000))
        self.assertIn("for 700 s only", self.lending(700, min_run_seconds=1000))
        self.assertIn("still waits", self.lending(101, reclaim_seconds=0))

    def test_guarantee_that_does_not_suffice(self) -> None:
        """The clock runs while the ancestors have room: in what they are guaranteed, or owed for the sake of jobs that
        may not be preempted."""
        tree = Tree({"u": Tenant("u", "", 2), "top": Tenant("top", "", 3), "s": Tenant("s", "top"),
                     "t": Tenant("t", "top", 3)})
        for preemptible in (True, False):
            jobs = [job(0, "lent", 0, 5, 2000, tenant="u"), job(1, "mine", 0, 3, 10, tenant="t"),
                    job(2, "side", 0, 3, 2000, tenant="s", preemptible=preemptible)]
            lines = [line(0, "start", "lent"), line(0, "start", "side"), line(2000, "finish", "lent"),
                     line(2000, "finish", "side"), line(2000, "start", "mine"), line(2010, "finish", "mine")]
            self.assertEqual("still waits" in errors_of(jobs, tree, Options(8), lines), not preemptible)

    def reach(self, tree: Tree, sizes: dict[str, int], **further) -> bool:
        """Whether jobs that may not be preempted, one of each tenant, may all start."""
        jobs = [job(row, name, 0, gpus, 10, tenant=name, preemptible=False)
                for row, (name, gpus) in enumerate(sizes.items())]
        lines = [line(0, "start", one.name) for one in jobs] + [line(10, "finish", one.name) for one in jobs]
        found = errors_of([one._replace(**further) for one in jobs], tree, Options(8), lines)
        self.assertEqual(found.replace("out of reach", "") != found, found != "")
        return found == ""

    def test_guarantees_stay_in_reach(self) -> None:
        tree = Tree({"a": Tenant("a", "", 3), "g": Tenant("g", "", 3), "x": Tenant("x", "g", 1),
                     "y": Tenant("y", "g", 2), "h": Tenant("h", "", 0, 2), "z": Tenant("z", "h")})
        kept = ({"a": 3}, {"a": 5}, {"x": 1}, {"x": 3}, {"x": 2, "y": 2}, {"z": 2}, {"z": 2, "x": 1, "a": 3},
                {"z": 1, "x": 2})
        broken = ({"a": 6}, {"x": 4}, {"x": 2, "y": 4}, {"z": 2, "x": 2})
        for sizes, is_kept in [(one, True) for one in kept] + [(one, False) for one in broken]:
            self.assertEqual(self.reach(tree, sizes), is_kept, sizes)
            self.assertTrue(self.reach(tree, sizes, preemptible=True), sizes)
        below = Tree({"g": Tenant("g", "", 1, 3), "x": Tenant("x", "g"), "y": Tenant("y", "g", 1)})
        self.assertTrue(self.reach(below, {"x": 2}))
        self.assertFalse(self.reach(below, {"x": 3}))

    def waits(self, small: int, large: int = 0, tree: Tree | None = None, **further) -> str:
        """On 4 GPUs `large` waits for all of them from second 100 on, while `old` holds 1 until 20,000; its bound is
        100 + 4 x 600 x (4 + 1 + 4) / 4 = 5,500. Small jobs, submitted later, start at the seconds given."""
        whose = further.pop("whose", "t")
        jobs = [job(0, "old", 0, 1, 20000, tenant="o", preemptible=further.pop("gives", True)),
                job(1, "large", 100, 4, 50, tenant="t", **further.pop("its", {})),
                job(2, "small", 200, 1, 50, tenant=whose, **further)]
        lines = [line(0, "start", "old"), line(small, "start", "small"), line(small + 50, "finish", "small"),
                 line(20000, "finish", "old"), line(20000, "start", "large"), line(20050, "finish", "large")]
        tree = tree or Tree({"o": Tenant("o", ""), "t": Tenant("t", ""), "u": Tenant("u", "")})
        return errors_of(jobs, tree, Options(4), lines)

    def test_nobody_starts_before_an_overdue_job(self) -> None:
        self.assertEqual(self.waits(5499), "")
        self.assertIn("which was submitted before it, with a bound of 5500", self.waits(5500))
        self.assertIn("bound of 5500", self.waits(19000))
        self.assertIn("bound of 5500", self.waits(5500, whose="u"))
        self.assertIn("bound of 5500", self.waits(5500, priority=-1))
        self.assertEqual(self.waits(5500, priority=1), "")
        self.assertEqual(self.waits(5500, its={"priority": -1}), "")
        self.assertEqual(self.waits(5500, gives=False), "")   # it cannot fit before 20,000
        self.assertEqual(self.waits(6399, its={"estimate_s": 700}), "")
        self.assertIn("bound of 6400", self.waits(6400, its={"estimate_s": 700}))
        self.assertIn("bound of 5500", self.waits(6400, estimate_s=7000))   # submitted behind it

    def test_exceptions_of_the_bound(self) -> None:
        def tree(mine: int, limit: int | None) -> Tree:
            return Tree({"o": Tenant("o", ""), "top": Tenant("top", "", mine, limit), "t": Tenant("t", "top"),
                         "u": Tenant("u", "top", mine)})
        self.assertNotIn("bound of", self.waits(5500, tree=tree(1, None), whose="u"))   # what u is guaranteed
        self.assertIn("bound of 5500", self.waits(5500, tree=tree(0, 5), whose="u"))
        limited = tree(0, 4)
        limited.tenants["o"] = limited.tenants["o"]._replace(parent="top")
        limited.tenants["free"] = Tenant("free", "")
        self.assertIn("bound of 5500", self.waits(5500, tree=limited, whose="u"))
        self.assertEqual(self.waits(5500, tree=limited, whose="free"), "")
        fixed = {"preemptible": False}
        held = Tree({"o": Tenant("o", "", 0), "t": Tenant("t", ""), "u": Tenant("u", "", 1)})
        self.assertIn("bound of 5500", self.waits(5500, tree=held))
        self.assertIn("out of reach", self.waits(5500, tree=held, its=fixed))
        self.assertNotIn("bound of", self.waits(5500, tree=held, its=fixed))
        self.assertIn("bound of", self.waits(5500, tree=held, its=fixed, preemptible=False))

    def test_nobody_preempts_an_overdue_job(self) -> None:
        """`first` runs since 0; its bound is 4 x 600 x 2 = 4,800."""
        def errors(second: int, tree: Tree | None = None, **further) -> str:
            jobs = [job(0, "first", 0, 4, 10000, tenant="u"), job(1, "second", 10, 4, 50, tenant="t", **further)]
            lines = [line(0, "start", "first"), line(second, "preempt", "first", "second"),
                     line(second, "start", "second"), line(second + 50, "finish", "second"),
                     line(second + 50, "start", "first"), line(10110, "finish", "first")]
            return errors_of(jobs, tree or Tree({"t": Tenant("t", ""), "u": Tenant("u", "")}), Options(4), lines)
        self.assertEqual(errors(4799), "")
        self.assertIn("'first' is preempted for 'second', submitted after it, though its bound was 4800", errors(4800))
        self.assertEqual(errors(4800, priority=1), "")
        self.assertEqual(errors(550, Tree({"t": Tenant("t", "", 4), "u": Tenant("u", "")})), "")

    def test_the_longest_that_is_known(self) -> None:
        """What jobs have run until a submit counts, kept or not, and what was submitted and not finished before it."""
        jobs = [job(0, "a", 0, 1, 900), job(1, "b", 800, 1, 10), job(2, "c", 850, 1, 10), job(3, "d", 950, 1, 10)]
        bounds = sched_bounds.Bounds(jobs, 2)
        bounds.submit(0, [])
        bounds.submit(1, [800])
        bounds.stop(820)   # preempted
        bounds.submit(2, [0])
        bounds.finish(0)
        bounds.finish(1)
        bounds.submit(3, [])
        self.assertEqual([bounds.of[row] for row in range(4)],
                         [4 * 600 * 3 // 2, 800 + 4 * 800 * 4 // 2, 850 + 4 * 820 * 5 // 2, 950 + 4 * 900 * 4 // 2])

    def guarantee(self, held: int, wanted: int, tree: Tree | None = None) -> str:
        jobs = [job(0, "old", 0, held, 100, tenant="u"), job(1, "new", 10, wanted, 20, tenant="t")]
        lines = [line(0, "start", "old"), line(10, "preempt", "old", "new"), line(10, "start", "new"),
                 line(30, "finish", "new"), line(30, "start", "old"), line(180, "finish", "old")]
        return errors_of(jobs, tree or two_tenants(), Options(8), lines)

    def test_guarantees_are_kept(self) -> None:
        self.assertIn("at or below its guarantee", self.guarantee(4, 5))
        self.assertEqual(self.guarantee(4, 4), "")
        self.assertEqual(self.guarantee(5, 5), "")
        above = {"up": Tenant("up", "", 4), "u": Tenant("u", "up", 0), "down": Tenant("down", "", 4)}
        tree = Tree(above | {"t": Tenant("t", "down", 4)})
        self.assertIn("at or below its guarantee", self.guarantee(4, 5, tree))   # the ancestors'
        self.assertEqual(self.guarantee(5, 5, tree), "")

    def test_turns(self) -> None:
        jobs = [job(0, "a", 0, 2, 100), job(1, "b", 10, 2, 100)]
        tree = Tree({"default": Tenant("default", "")})

        def lines(back: int) -> list[dict]:
            """b takes a's place at 10, a takes it back at 30, b again at `back`."""
            made = max(0, back - 90)   # by a since 30, behind its restart
            end = back + 60 + 80
            return [line(0, "start", "a"), line(10, "preempt", "a", "b"), line(10, "start", "b"),
                    line(30, "preempt", "b", "a"), line(30, "start", "a"), line(back, "preempt", "a", "b"),
                    line(back, "start", "b"), line(end, "finish", "b"), line(end, "start", "a"),
                    line(end + 60 + 90 - made, "finish", "a")]
        self.assertEqual(errors_of(jobs, tree, Options(2), lines(91)), "")
        self.assertIn("neither has made progress", errors_of(jobs, tree, Options(2), lines(90)))


class Rules(unittest.TestCase):
    def test_fair_by_hand(self) -> None:
        """x has twice the weight of y, z a limit of 1; one round, 1 GPU each: x, y (0 < 1/2), z, then x, x, y, ..."""
        jobs = [job(row, f"{tenant}{row}", 0, 1, 50, tenant=tenant) for row, tenant in enumerate("xxxxxyyyyyzzz")]
        tree = Tree({"x": Tenant("x", "", weight=2), "y": Tenant("y", ""), "z": Tenant("z", "", 0, 1)})
        lines = sched_rules.lines_of("fair", jobs, tree, Options(7))
        started = sorted(jobs[row].tenant for second, kind, row in lines if kind == "start" and second == 0)
        self.assertEqual("".join(started), "xxxxyyz")

    def test_easy_by_hand(self) -> None:
        """head wants 4 at 10; a ends at 100 by its estimate (really 60): 1 GPU until then, 0 beyond; short fits."""
        jobs = [job(0, "a", 0, 3, 60, estimate_s=100), job(1, "head", 10, 4, 10, estimate_s=10),
                job(2, "long", 10, 1, 91, estimate_s=91), job(3, "short", 10, 1, 20, estimate_s=90)]
        tree = Tree({"default": Tenant("default", "")})
        lines = sched_rules.lines_of("easy", jobs, tree, Options(4))
        self.assertEqual([(second, jobs[row].name) for second, kind, row in lines if kind == "start"],
                         [(0, "a"), (10, "short"), (60, "head"), (70, "long")])

    def test_endless_rounds(self) -> None:
        """las gives each its turn, and the checkpoint takes away what was made in it."""
        jobs = [job(row, name, 0, 1, 700, checkpoint_s=600) for row, name in enumerate("ab")]
        with self.assertRaises(sched_rules.EndlessError):
            sched_rules.lines_of("las", jobs, Tree({"default": Tenant("default", "")}), Options(1, 10))

    def test_learned_estimates(self) -> None:
        self.assertEqual(sched_rules.learned_estimate([5, 5]), 86400)
        self.assertEqual(sched_rules.learned_estimate([9, 1, 4, 5]), 8)
        self.assertEqual(sched_rules.learned_estimate([1000] * 100 + [1] * 51 + [3] * 49), 2)

    def test_a_changed_log_is_found(self) -> None:
        jobs, tree = Lines.JOBS, Tree({"default": Tenant("default", "")})
        for policy in sched_rules.RULED:
            lines = sched_model.log_of(policy, jobs, tree, Options(2, 10))
            self.assertEqual(sched_check.rule_differences(policy, lines, jobs, tree, Options(2, 10)), [])
            self.assertTrue(sched_check.rule_differences(policy, lines[:-1], jobs, tree, Options(2, 10)))
            lines[-1]["t_s"] += 1
            self.assertTrue(sched_check.rule_differences(policy, lines, jobs, tree, Options(2, 10)))


class RandomInputs(unittest.TestCase):
    def test_the_model_keeps_all(self) -> None:
        for seed in range(FIRST, LAST + 1):
            jobs, tree, options = random_input(seed)
            for policy in sched_input.POLICIES:
                if sched_random.make_case(seed).may_lose and policy in ("las", "fair"):
                    continue
                with self.subTest(seed=seed, policy=policy):
                    lines = sched_model.log_of(policy, jobs, tree, options)
                    self.assertEqual(errors_of(jobs, tree, options, lines, policy), "")

    def test_each_flaw_is_found(self) -> None:
        for flaw in sched_model.FLAWS:
            with self.subTest(flaw=flaw):
                self.assertTrue(any(self.is_found(seed, flaw) for seed in range(FIRST, LAST + 1)))

    def is_found(self, seed: int, flaw: str) -> bool:
        jobs, tree, options = random_input(seed)
        return errors_of(jobs, tree, options, sched_model.log_of("berth", jobs, tree, options, flaw)) != ""

    def test_swapped_names(self) -> None:
        lines, others = [line(0, "start", "a"), line(5, "preempt", "a", "b")], [line(0, "start", "b")]
        others.append(line(5, "preempt", "b", "a"))
        self.assertEqual(sched_check.swap_differences("berth", lines, others, ("a", "b")), [])
        for wrong in (lines, others[:1], [others[0], others[1] | {"for": {"job": "b"}}]):
            self.assertTrue(sched_check.swap_differences("berth", lines, wrong, ("a", "b")))


class BrokenInputs(unittest.TestCase):
    def test_each_is_refused(self) -> None:
        for broken in sched_broken.all_broken(1):
            with self.subTest(name=broken.name), tempfile.TemporaryDirectory() as folder:
                sched_broken.write_broken(broken, folder)
                with contextlib.chdir(folder):
                    self.refuse(broken)

    def refuse(self, broken: sched_broken.Broken) -> None:
        arguments = sched_broken.arguments_of(broken)
        tenants = "tenants.csv" if "--tenants" in arguments else None
        with self.assertRaises(sched_input.InputError) as caught:
            sched_input.load("jobs.csv", broken.trace_format, tenants, int(arguments[arguments.index("--gpus") + 1]))
        error = caught.exception
        self.assertEqual(error.path, broken.file)
        self.assertIn(error.line, broken.lines)
        self.assertTrue(broken.columns is None or error.column in broken.columns)
        self.assertTrue(all(word in str(error) for word in broken.words))


if __name__ == "__main__":
    unittest.main()
