#!/usr/bin/env python3
"""The checker of `berth place` accepts correct files and finds one mutation for each rule. Exit 0: all hold."""

import copy
import sys
from typing import Callable

from place_answer import AnswerError
from place_arrivals import Question
from place_hand import ANSWER, ANSWER_CUT, LINES, LINES_CUT, NODES_CUT, PODS, PODS_CUT, problems, question
from place_reference import answer_of

Files = tuple[list[dict], dict]
Mutation = Callable[[list[dict], dict], None]
found_count = 0


def expect(asked: Question, files: Files, name: str, mutate: Mutation, words: str, rules_every: int = 0) -> None:
    """The mutation is found, by a problem with these words."""
    global found_count
    lines, answer = copy.deepcopy(files)
    mutate(lines, answer)
    try:
        found = problems(asked, lines, answer, rules_every)
    except AnswerError as error:
        found = [str(error)]
    assert any(words in problem for problem in found), f"{name}: wanted \"{words}\", found {found}"
    found_count += 1


def accept(asked: Question, files: Files, rules_every: int = 0) -> None:
    found = problems(asked, *files, rules_every)
    assert not found, found


def change(index: int, **values) -> Mutation:
    return lambda lines, answer: lines[index].update(values)


def swap(first: int, second: int) -> Mutation:
    def mutate(lines: list[dict], _answer: dict) -> None:
        lines[first], lines[second] = lines[second], lines[first]
    return mutate


def drop(index: int, *keys: str) -> Mutation:
    def mutate(lines: list[dict], _answer: dict) -> None:
        for key in keys:
            del lines[index][key]
        if not keys:
            del lines[index]
    return mutate


def insert(index: int, *new: dict) -> Mutation:
    def mutate(lines: list[dict], _answer: dict) -> None:
        lines[index:index] = list(new)
    return mutate


def head(**values) -> Mutation:
    return lambda lines, answer: answer.update(values)


def figure(**values) -> Mutation:
    return lambda lines, answer: answer["policies"][0].update(values)


def test_given() -> None:
    asked, files = question(), (LINES, ANSWER)
    accept(asked, files)
    for name, mutate, words in [
        ("node order", change(0, node_order=[2, 0]), "node_order is not the file's"),
        ("node without GPU", change(0, node_order=[0, 1, 2]), "no permutation"),
        ("arrivals", swap(1, 2), "not those of the file"),
        ("gang apart", swap(5, 6), "not those of the file"),
        ("pod twice", change(7, pod=3), "not those of the file"),
        ("pod unknown", change(7, pod=9), "the list does not have"),
        ("arrival left out", drop(9), "not those of the file"),
        ("CPU", change(8, node=0), "CPU or memory"),
        ("model", change(1, node=2), "gpu_spec"),
        ("milli", change(9, gpus=[1]), "not free"),
        ("whole GPU taken", change(2, gpus=[0]), "not free"),
        ("GPU order", change(3, gpus=[1]), "GPU order"),
        ("GPU that does not exist", change(2, gpus=[2]), "wanted 1 GPUs"),
        ("two GPUs", change(3, gpus=[0, 1]), "wanted 1 GPUs"),
        ("GPU for CPU only", change(6, gpus=[1]), "wanted 0 GPUs"),
        ("node unknown", change(9, node=1), "no GPU"),
        ("refused", change(9, node=None, gpus=[]), "refused, but it fits on node 0"),
        ("not undone", drop(3, "undone"), "undone is False"),
        ("undone alone", change(9, undone=True), "undone without a gang"),
        ("gang member refused", lambda lines, _: lines[3].update(node=None, gpus=[], undone=False), "refused"),
        ("behind the misfit", change(5, node=2), "behind the misfit"),
        ("leaves", insert(5, {"leaves": 0}), "without churn"),
        ("moves", insert(5, {"moves": 0, "node": 2, "gpus": [0], "start": [0]}), "a slice moves"),
        ("profile", change(9, profile="1g.5gb", start=[0]), "without a slice"),
        ("further key", change(9, why=1), "wanted pod, node"),
        ("seed", change(0, seed=42), "wanted seeds unless"),
        ("run twice", lambda lines, _: lines.extend(copy.deepcopy(lines)), "one run for each"),
        ("policy", change(0, policy="fgd"), "one run for each"),
        ("berth", head(berth=2), "berth: wanted 1"), ("nodes", head(nodes=3), "nodes: wanted 2"),
        ("gpus", head(gpus=3), "gpus: wanted 4"), ("pods", head(pods=8), "pods: wanted 9"),
        ("seeds", head(seeds=[42]), "seeds: wanted []"), ("order", head(order="seeded"), "order: wanted given"),
        ("at 100", figure(allocated_percent_at_100={"mean": 1, "sd": None}), "at_100"),
        ("at 130", figure(allocated_percent_at_130={"mean": 37.583336, "sd": None}), "at_130"),
        ("at 130 none", figure(allocated_percent_at_130=None), "at_130"),
        ("churn", figure(allocated_percent_churn={"mean": 1, "sd": None}), "churn"),
        ("fragmented", figure(fragmented_percent={"mean": 55.34, "sd": None}), "fragmented"),
        ("failed", figure(failed={"mean": 3, "sd": None}), "failed"),
        ("sd", figure(failed={"mean": 4, "sd": 0}), "failed"),
        ("timings", figure(decision_us={"p50": 1}), "decision_us"),
        ("unknown policy", figure(policy="best"), "policies: wanted some"),
        ("key missing", lambda _, answer: answer["policies"][0].pop("failed"), "failed: missing"),
    ]:
        expect(asked, files, name, mutate, words)
    less_memory = question(pods=PODS.replace("i,1,1,", "i,1,100,"))
    expect(less_memory, files, "memory", lambda *_: None, "CPU or memory")


def test_cut() -> None:
    asked, files = question(NODES_CUT, PODS_CUT), (LINES_CUT, ANSWER_CUT)
    accept(asked, files, rules_every=1)
    for name, mutate, words in [
        ("default profile", change(1, profile="4g.20gb"), "wanted 1 x 3g.20gb"),
        ("default with attributes", change(1, profile="1g.10gb"), "wanted 1 x 3g.20gb"),
        ("illegal start", change(1, start=[2]), "no legal start"),
        ("overlap", change(2, start=[2, 4]), "overlaps"),
        ("slices overlap each other", change(2, start=[4, 4]), "overlaps"),
        ("count", change(2, start=[4]), "takes 1 x 1g.10gb"),
        ("whole GPU with slices", change(3, gpus=[0]), "not free"),
        ("profile on an uncut GPU", change(8, profile="1g.5gb", start=[0]), "without a slice"),
        ("no slice", drop(1, "profile", "start"), "wanted 1 x 3g.20gb"),
        ("start missing", drop(1, "start"), "profile and start together"),
        ("fragmented", figure(fragmented_percent={"mean": 1, "sd": None}), "fragmented"),
        ("units", figure(units_percent_at_130={"mean": 1, "sd": None}), "units"),
        ("move", insert(2, {"moves": 0, "node": 0, "gpus": [0], "start": [4]}), "a slice moves"),
        ("refused", change(8, node=None, gpus=[]), "refused"),
    ]:
        expect(asked, files, name, mutate, words)
    counted = copy.deepcopy(LINES_CUT)
    counted[2]["profile"] = "2x1g.10gb"
    accept(asked, (counted, ANSWER_CUT), rules_every=1)
    expect(asked, files, "rule", lambda lines, _: lines[1].update(start=[4]) or lines[2].update(start=[0, 2]),
           "the rule gives", rules_every=1)


def test_alternatives_and_counts() -> None:
    """The second alternative where the first fits; two 1g.5gb+me on one GPU."""
    nodes = "sn,cpu_milli,memory_mib,gpu,model\nm,9,9,1,A100-40GB\n"
    pods = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,profile\na,1,1,1,,4g.20gb|2x1g.5gb\nb,1,1,1,,1g.5gb+me\n"
            "c,1,1,1,,1g.5gb+me|3g.20gb\n")
    asked = question(nodes, pods)
    lines, answer = answer_of(asked, [None], ["first"])
    assert [line.get("profile") for line in lines[1:]] == ["4g.20gb", "1g.5gb+me", None], lines
    expect(asked, (lines, answer), "alternative", change(1, profile="1g.5gb", start=[0, 1]),
           "first of its alternatives")
    expect(asked, (lines, answer), "max_instances",
           change(3, node=0, gpus=[0], profile="1g.5gb+me", start=[5]), "fits nowhere")
    single = question(nodes, pods.replace("1g.5gb+me|3g.20gb", "1g.5gb+me"))
    expect(single, (lines, answer), "max_instances", change(3, node=0, gpus=[0], profile="1g.5gb+me", start=[5]),
           "more than 1 slices")


def test_media() -> None:
    """One slice with extended media engines a GPU, over all profiles: c takes the other GPU, d none."""
    nodes = "sn,cpu_milli,memory_mib,gpu,model\nm,9,9,2,A30-24GB\n"
    pods = ("name,cpu_milli,memory_mib,num_gpu,gpu_milli,profile\na,1,1,1,,1g.6gb+me\nb,1,1,1,,1g.6gb\n"
            "c,1,1,1,,2g.12gb+me\nd,1,1,1,,1g.6gb+me\n")
    asked = question(nodes, pods)
    lines, answer = answer_of(asked, [None], ["first"])
    assert [line["gpus"] for line in lines[1:]] == [[0], [0], [1], []], lines
    accept(asked, (lines, answer), rules_every=1)
    expect(asked, (lines, answer), "media", change(3, gpus=[0], start=[2]), "extended or all media engines")


def test_moves() -> None:
    """Two 1g slices, at 0 and 4 of two GPUs; 7g fits once one of them moves."""
    nodes = "sn,cpu_milli,memory_mib,gpu,model\nm,9,9,2,A100-40GB\n"
    pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,profile\na,1,1,1,,1g.5gb\nb,1,1,1,,1g.5gb\nc,1,1,1,,7g.40gb\n"
    asked = question(nodes, pods, moves_max=1)
    one = {"node": 0, "profile": "1g.5gb"}
    lines = [{"policy": "berth", "seed": None, "node_order": [0]},
             {"pod": 0, **one, "gpus": [0], "start": [0]}, {"pod": 1, **one, "gpus": [1], "start": [4]},
             {"moves": 1, "node": 0, "gpus": [0], "start": [3]},
             {"pod": 2, "node": 0, "gpus": [1], "profile": "7g.40gb", "start": [0]}]
    entry = {"policy": "berth", "allocated_percent_at_100": None, "allocated_percent_at_130": None,
             "allocated_percent_churn": None, "units_percent_at_130": None, "fragmented_percent": None,
             "failed": {"mean": 0, "sd": None}, "moves": {"mean": 1, "sd": None}, "decision_us": None}
    files = lines, {**ANSWER_CUT, "nodes": 1, "gpus": 2, "pods": 3, "policies": [entry]}
    accept(asked, files)
    for name, mutate, words in [
        ("no move needed", insert(2, {"moves": 0, "node": 0, "gpus": [1], "start": [0]}), "although pod 1 fits"),
        ("too many", insert(3, {"moves": 0, "node": 0, "gpus": [0], "start": [5]}), "2 slices move"),
        ("nothing there", change(3, moves=2), "holds no slice"),
        ("same place", change(3, gpus=[1], start=[4]), "to where it is"),
        ("overlap", change(3, start=[0]), "overlaps"),
        ("illegal", change(3, start=[7]), "no legal start"),
        ("for nothing", lambda lines, _: lines[4].update(node=None, gpus=[], profile=None, start=None), "refused"),
        ("count", figure(moves={"mean": 2, "sd": None}), "moves"),
        ("left out", figure(moves=None), "moves"),
        ("not enough", drop(3), "overlaps"),
    ]:
        expect(asked, files, name, mutate, words)
    expect(question(nodes, pods), files, "not allowed", lambda *_: None, "a slice moves")


def test_removed() -> None:
    """5210 milli are asked for, 3600 allowed."""
    asked = question(is_given=False, demand="0.9", pods=PODS.replace(",g\n", ",\n"))
    files = answer_of(asked, [1, 2], ["best-fit", "fgd"])
    accept(asked, files, rules_every=1)
    last = next(i for i in range(len(files[0]) - 1, 0, -1) if files[0][i]["pod"] in (0, 1, 2, 4, 5))
    gone = next(row for row in (0, 1, 2, 4, 5) if all(line.get("pod") != row for line in files[0][-8:]))

    def cut(lines: list[dict], _answer: dict) -> None:
        del lines[last:]
    expect(asked, files, "removed too many", cut, "more pods are removed")
    expect(asked, files, "too few removed", lambda lines, _: lines.append({"pod": gone, "node": None, "gpus": []}),
           "more than 3600")
    expect(asked, files, "order depends", lambda lines, _: lines[0]["node_order"].reverse(), "is not that of")
    expect(asked, files, "sd", figure(failed={"mean": 4, "sd": None}), "failed")


def test_drawn() -> None:
    asked = question(is_given=False, demand="4")
    files = answer_of(asked, [3], ["clustering"])
    accept(asked, files, rules_every=1)
    assert len(files[0]) > len(asked.pods) + 3
    refused = {"pod": 1, "node": None, "gpus": []}
    cpu_only = {"pod": 8, "node": None, "gpus": []}
    expect(asked, files, "drawn too many", lambda lines, _: lines.extend([refused] * 5), "drawn behind")
    expect(asked, files, "drawn too few", lambda lines, _: [lines.pop() for _ in range(5)], "ends before")
    expect(asked, files, "pod missing", change(1, pod=files[0][2]["pod"]), "arrives twice")
    expect(asked, files, "gang torn", lambda lines, _: lines.insert(1, lines.pop(position(lines, 8))), "together")
    expect(asked, files, "only CPU behind", lambda lines, _: lines.extend([refused] * 5 + [cpu_only]), "drawn behind")
    expect(asked, files, "gang of drawn ones", change(len(files[0]) - 1, undone=True), "")


def position(lines: list[dict], pod: int) -> int:
    return next(i for i, line in enumerate(lines) if line.get("pod") == pod)


def test_churn() -> None:
    asked = question(is_given=False, has_churn=True, demand="8")
    files = answer_of(asked, [5], ["packing", "dot-product"])
    accept(asked, files, rules_every=1)
    leave = next(i for i, line in enumerate(files[0]) if "leaves" in line)
    expect(asked, files, "leaves twice", insert(leave, files[0][leave]), "not there")
    expect(asked, files, "leaves ahead", change(leave, leaves=10**6), "not there")
    expect(asked, files, "leaves later", lambda lines, _: lines.insert(leave + 1, lines.pop(leave)), "")
    expect(asked, files, "arrivals", lambda lines, _: lines.pop(), "churn: wanted")
    expect(asked, files, "departure behind the end", lambda lines, _: lines.append({"leaves": alive(lines)}),
           "ends with a departure")
    expect(asked, files, "figure", figure(allocated_percent_churn={"mean": 1, "sd": None}), "churn")
    without = [line for line in files[0] if "leaves" not in line][:1 + asked_count(asked)]
    for line in without[1:]:
        line.update(node=None, gpus=[])
    expect(asked, (without, files[1]), "nothing placed", lambda *_: None, "refused")


def asked_count(asked: Question) -> int:
    return int(5 * asked.lifetime_mean)


def alive(lines: list[dict]) -> int:
    """A decision of the last run that has not left."""
    run = lines[max(i for i, line in enumerate(lines) if "policy" in line):]
    left = {line["leaves"] for line in run if "leaves" in line}
    placed = [line for line in run if "pod" in line]
    return next(i for i, line in enumerate(placed) if line["node"] is not None and i not in left)


def main() -> int:
    for test in (test_given, test_cut, test_alternatives_and_counts, test_media, test_moves, test_removed, test_drawn,
                 test_churn):
        test()
    print(f"{found_count} mutations found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
