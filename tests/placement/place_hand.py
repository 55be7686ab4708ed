"""Inputs and answers of `berth place` that were worked out by hand, for the tests of the checker."""

import json
import os
import tempfile
from fractions import Fraction

import place_check
from place_answer import read_answer, read_decisions
from place_arrivals import Question

NODES = """sn,cpu_milli,memory_mib,gpu,model
n0,10,10,2,T4
n1,50,50,0,
n2,10,10,2,P100
"""
# c, e and k are a gang; e needs two whole GPUs, which no node has when it is decided.
PODS = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,gang
a,2,2,1,500,T4,
b,2,2,1,1000,,
c,2,2,1,1000,,g
d,3,1,0,0,P100,
e,2,2,2,1000,,g
f,2,2,1,700,T4,
h,9,1,0,0,,
i,1,1,1,10,,
k,1,1,0,0,,g
"""
LINES = [
    {"policy": "berth", "seed": None, "node_order": [0, 2]},
    {"pod": 0, "node": 0, "gpus": [0]},
    {"pod": 1, "node": 0, "gpus": [1]},
    {"pod": 2, "node": 2, "gpus": [0], "undone": True},
    {"pod": 4, "node": None, "gpus": []},
    {"pod": 8, "node": None, "gpus": []},
    {"pod": 3, "node": 0, "gpus": []},
    {"pod": 5, "node": None, "gpus": []},
    {"pod": 6, "node": 2, "gpus": []},
    {"pod": 7, "node": 0, "gpus": [0]},
]
# C 4000. Demand 500, 1500, 4500 thrice (the gang), 4500, 5200, 5200, 5210: 130 % for the last three, never 100 %.
# In use at those 1500, 1500, 1510: 37.5, 37.5, 37.75 %. At the end n0 has CPU 2, GPUs 490 and 0; n2 CPU 1, 1000, 1000.
# Typical are all nine rows, of them b and c one group. F of n0: a 490, bc 980, d, e, f, h, k 490 each, i 0: 3920.
# F of n2: a 2000 (model), bc 4000 (CPU), d, e, f, h, k 2000 each, i 0: 16000. 100 x 19920 / (9 x 4000) = 55.3333.
ANSWER = {"berth": 1, "nodes": 2, "gpus": 4, "pods": 9, "seeds": [], "order": "given", "policies": [{
    "policy": "berth", "allocated_percent_at_100": None,
    "allocated_percent_at_130": {"mean": 37.583333, "sd": None}, "allocated_percent_churn": None,
    "fragmented_percent": {"mean": 55.333333, "sd": None}, "failed": {"mean": 4, "sd": None}, "decision_us": None}]}

NODES_CUT = """sn,cpu_milli,memory_mib,gpu,model
m0,100,100,2,A100-40GB
m1,100,100,1,A30-24GB
m2,100,100,1,T4
"""
PODS_CUT = """name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,gang,profile
a,1,1,1,300,A100-40GB,,
b,1,1,1,,,,2x1g.10gb
c,1,1,1,1000,A100-40GB,,
d,1,1,1,600,A30-24GB|T4,,
e,1,1,1,1000,A100-40GB,,7g.40gb|2x2g.10gb|1g.5gb
f,1,1,1,100,A100-40GB,,1g.5gb+me
g,1,1,1,100,A100-40GB,,1g.5gb+me
h,1,1,1,400,,,
"""
# a takes 3g.20gb at 0 (300 milli are 2.4 of 8 units), b both halves of the rest of GPU 0, c all of GPU 1, d 4g.24gb of
# the A30 (2.4 of 4 units). So nothing of an A100-40GB is free for the alternatives of e, nor for f and g; h fits on T4.
LINES_CUT = [
    {"policy": "first", "seed": None, "node_order": [0, 1, 2]},
    {"pod": 0, "node": 0, "gpus": [0], "profile": "3g.20gb", "start": [0]},
    {"pod": 1, "node": 0, "gpus": [0], "profile": "1g.10gb", "start": [4, 6]},
    {"pod": 2, "node": 0, "gpus": [1]},
    {"pod": 3, "node": 1, "gpus": [0], "profile": "4g.24gb", "start": [0]},
    {"pod": 4, "node": None, "gpus": []},
    {"pod": 5, "node": None, "gpus": []},
    {"pod": 6, "node": None, "gpus": []},
    {"pod": 7, "node": 2, "gpus": [0]},
]
# Asked behind h: 300 + 500 + 1000 + 600 + 400 = 2800 of 4000; demand behind h: 300 + 500 + 1000 + 600 + 1000 + 100 +
# 100 + 400 = 4000, 100 %. No arrival at 130 %, so units have no figure.
ANSWER_CUT = {"berth": 1, "nodes": 3, "gpus": 4, "pods": 8, "seeds": [], "order": "given", "policies": [{
    "policy": "first", "allocated_percent_at_100": {"mean": 70, "sd": None}, "allocated_percent_at_130": None,
    "allocated_percent_churn": None, "fragmented_percent": None, "failed": {"mean": 3, "sd": None},
    "units_percent_at_130": None, "decision_us": None}]}


def written(folder: str, name: str, text: str) -> str:
    file = os.path.join(folder, name)
    with open(file, "w", encoding="utf-8") as handle:
        handle.write(text)
    return file


def question(nodes: str = NODES, pods: str = PODS, is_given: bool = True, demand: str = "1.3", **options) -> Question:
    with tempfile.TemporaryDirectory() as folder:
        return place_check.question_of(written(folder, "nodes.csv", nodes), written(folder, "pods.csv", pods),
                                       is_given=is_given, demand=Fraction(demand), **options)


def problems(asked: Question, lines: list[dict], answer: dict, rules_every: int = 0) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        decisions = written(folder, "decisions", "".join(json.dumps(line) + "\n" for line in lines))
        runs = read_decisions(decisions)
        figures = read_answer(written(folder, "json", json.dumps(answer)))
    return list(place_check.Check(asked, runs, figures, rules_every, False).problems())
