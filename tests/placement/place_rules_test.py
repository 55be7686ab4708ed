#!/usr/bin/env python3
"""Scores, choices and figures of `berth place` worked out by hand. Exit 0: all hold."""

import sys

from place_devices import WHOLE_MILLI
from place_hand import question
from place_lists import Pod
from place_reference import answer_of
from place_rules import Option, Shape, Typical, best_fit, clustering, dot_product, fgd_with, in_percent, packing
from place_state import View

NODE = "sn,cpu_milli,memory_mib,gpu,model\n"
POD = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,profile\n"


def view(free: tuple[int, ...], cpu_milli: int = 64000, *classes: str | int) -> View:
    return View("T4", cpu_milli, free, frozenset(classes))


def pod(row: int, cpu_milli: int, milli: int, gpus: int = 1, spec: str = "") -> Pod:
    return Pod(row, f"p{row}", cpu_milli, 1, gpus, milli, spec, "", ())


def same(found: object, wanted: object) -> None:
    assert found == wanted, f"wanted {wanted}, found {found}"


def test_dot_product() -> None:
    # 32768000000 - 64000 x 16000 - 256 x 2000 x 1000 = 31232000000; / 327680000 = 95.3
    same(dot_product(view((1000, 1000)), Shape(16000, 1000, 1, "")), Option(95, (0,)))
    # 100 - 10^18 / 327680000 = -3051757712.5, rounded down
    same(dot_product(view((0,), 10**9), Shape(10**9, 0, 0, "")), Option(-3051757713, ()))
    same(dot_product(view((1000, 400, 400, 300)), Shape(0, 350, 1, "")).gpus, (1,))


def test_best_fit() -> None:
    # (256000 - 48000 - 16 x 1000) / 2560 = 75
    same(best_fit(view((1000, 1000)), Shape(16000, 1000, 1, "")), Option(75, (0,)))
    # (256000 - 300000 - 0) / 2560 = -17.2, rounded down
    same(best_fit(view((0,), 300000), Shape(0, 0, 0, "")).score, -18)
    scores = [(3, Option(75, ())), (1, Option(70, ())), (2, Option(72, ()))]
    same([option.score for _, option in in_percent(scores)], [100, 0, 40])
    same([option.score for _, option in in_percent(scores[:1] * 2)], [0, 0])


def test_packing() -> None:
    for free, shape, score, gpus in [
        ((1000, 1000), (300, 1), 31, (0,)), ((1000,) * 16, (1000, 8), 17, tuple(range(8))),
        ((1000,) * 17, (1000, 1), 17, (0,)), ((500, 1000), (1000, 1), 49, (1,)),
        ((0, *(1000,) * 7), (1000, 4), 46, (1, 2, 3, 4)), ((0, *(1000,) * 20), (1000, 18), 33, tuple(range(1, 19))),
        ((400, 1000, 359), (300, 1), 97, (2,)), ((299, 1000), (300, 1), 49, (1,)), ((999, 1000), (5, 1), 91, (0,)),
        ((700, 700, 1000), (500, 1), 93, (0,)), ((700,), (0, 0), 0, ()),
    ]:
        same(packing(view(free), Shape(0, *shape, "")), Option(score, gpus))


def test_clustering() -> None:
    shared = Shape(0, 400, 1, "")
    # 25 x (8000 - 1500) / 8000 = 20.3
    for classes, score in [((), 45), (("shared",), 95), (("shared", 1), 70), ((1,), 20), ((1, 2), 20)]:
        same(clustering(view((1000, 500), 0, *classes), shared), Option(score, (1,)))
    same(clustering(view((1000, 500), 0, 1), Shape(0, 1000, 1, "")), Option(95, (0,)))
    same(clustering(view((1000,) * 15 + (500,)), shared).score, 25 - 24)   # 25 x -7500 / 8000 = -23.4
    same(clustering(view((1000,)), Shape(0, 0, 0, "")), Option(0, ()))


def test_fgd() -> None:
    typical = Typical([pod(0, 1, 500), pod(1, 1, 500), pod(2, 1, 1000), pod(3, 1, 500)])
    same(typical.groups, [(Shape(1, 500, 1, ""), 3), (Shape(1, 1000, 1, ""), 1)])
    # F (1000, 500) = 500; on GPU 0: (500, 500), F = 1000, 100 / (1 + exp(500 / 4000)) = 46.9; on GPU 1: F = 0, 53.1
    score = fgd_with(typical)
    same(score(view((1000, 500), 10), Shape(1, 500, 1, "")), Option(53, (1,)))
    # No CPU is left for any typical pod: F goes from 0 to 3 x 500 + 500 on either; 100 / (1 + exp(0.5)) = 37.8
    same(score(view((1000,), 1), Shape(1, 500, 1, "")), Option(37, (0,)))
    # CPU only: F from 0 to 4 x 1000; 100 / (1 + exp(1)) = 26.9
    same(score(view((1000,), 1), Shape(1, 0, 0, "")), Option(26, ()))
    same(score(view((500, 1000, 1000), 9), Shape(1, 1000, 2, "")).gpus, (1, 2))


def test_typical() -> None:
    rows = [pod(i, 1, 500) for i in range(19)] + [pod(19, 1, 100)]
    same(Typical(rows).total, 19)                                    # 19 of 20 are 95 %
    same(Typical(rows[1:]).total, 19)                                # 18 of 19 are less
    ties = [pod(0, 2, 10), pod(1, 1, 20), pod(2, 1, 10, spec="b"), pod(3, 1, 10, spec="a|b"), pod(4, 1, 1000, 2)]
    same([shape for shape, _ in Typical(ties).groups],
         [(1, 10, 1, "a|b"), (1, 10, 1, "b"), (1, 20, 1, ""), (1, 1000, 2, ""), (2, 10, 1, "")])


def lines_of(policy: str, nodes: str, pods: str) -> tuple[list[dict], dict]:
    lines, answer = answer_of(question(NODE + nodes, POD + pods), [None], [policy])
    return lines[1:], answer["policies"][0]


def test_first_and_best() -> None:
    nodes = "t,9,9,1,T4\nm,9,9,2,A100-40GB\nn,9,9,1,A30-24GB\n"
    pods = "a,1,1,1,300,,\nb,1,1,1,200,A100-40GB,\nc,1,1,1,100,,\nd,1,1,1,100,A100-40GB,\ne,1,1,1,1000,,\n"
    first, _ = lines_of("first", nodes, pods)
    same([(line["node"], line["gpus"], line.get("start")) for line in first],
         [(0, [0], None), (1, [0], [0]), (0, [0], None), (1, [0], [2]), (1, [1], None)])
    best, _ = lines_of("best", nodes, pods)
    # a: A30 with 4 free units is least. b: GPU 0 of A100. c: T4 8, A100 6 and 8, A30 2 free: A30. e as first: T4.
    same([(line["node"], line["gpus"], line.get("profile"), line.get("start")) for line in best],
         [(2, [0], "2g.12gb", [0]), (1, [0], "2g.10gb", [0]), (2, [0], "1g.6gb", [2]), (1, [0], "1g.5gb", [2]),
          (0, [0], None, None)])


def test_units() -> None:
    """300 milli take 3g, half of the GPU; b fails and brings the demand to 130 %."""
    lines, entry = lines_of("first", "m,9,9,1,A100-40GB\n", "a,1,1,1,300,,\nb,1,1,1,1000,,\n")
    same(lines[1]["node"], None)
    same(entry["allocated_percent_at_130"], {"mean": 30, "sd": None})
    same(entry["units_percent_at_130"], {"mean": 50, "sd": None})


def test_empty_milli() -> None:
    asked = question(NODE + "m,9,9,1,A30-24GB\n", POD + "a,1,1,1,,,2x1g.6gb|4g.24gb\nb,1,1,1,,,7g.80gb\n")
    same([one.milli for one in asked.pods], [500, WHOLE_MILLI])
    same(asked.pods[0].alternatives, ((2, "1g.6gb"), (1, "4g.24gb")))


def main() -> int:
    tests = [test for name, test in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
