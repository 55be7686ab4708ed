"""Answers to `--why` and `--slot` made wrong in one place each, which sched_why.py must find."""

import copy
from typing import Callable, Iterator

from sched_moment import Run
from sched_rules import AT_EVENTS

Made = tuple[str, dict]


def whys(run: Run, answer: dict) -> Iterator[Made]:
    """Changes of `berth` are not among them: only whole runs show these (sched_why_test.py)."""
    def wrong(name: str, change: Callable[[dict], object]) -> Made:
        made = copy.deepcopy(answer)
        change(made)
        return name, made

    verdicts = ("not_submitted", "waiting", "running", "finished")
    yield wrong("verdict", lambda one: one.update(verdict=verdicts[verdicts.index(one["verdict"]) - 1])
                if one["verdict"] in verdicts else one.update(verdict="finished"))
    yield wrong("as_of", lambda one: one.update(as_of=one["as_of"] + 1))
    yield wrong("policy_version", lambda one: one.pop("policy_version"))
    for at, blocker in enumerate(answer["blockers"]):
        if blocker["code"] in ("capacity", "limit"):
            yield wrong(f"{blocker['code']} left out", lambda one: one["blockers"].pop(at))
            yield wrong(f"{blocker['code']} needed", lambda one: one["blockers"][at].update(needed=0))
        yield wrong(f"{blocker['code']} available",
                    lambda one: one["blockers"][at].update(available=blocker["available"] + 1))
        if blocker["code"] == "guarantee":
            yield wrong("guarantee of nobody", lambda one: one["blockers"][at].update(where=""))
    if answer["ahead"]["jobs"]:
        yield wrong("ahead, itself", lambda one: one["ahead"]["jobs"].append(one["job"]))
        if run.policy in AT_EVENTS and answer["verdict"] == "waiting":
            yield wrong("ahead, one left out", lambda one: one["ahead"]["jobs"].pop())
    if answer["verdict"] == "waiting":
        yield wrong("eta", lambda one: one["eta"].update(p50=one["as_of"]))
    if answer["counterfactuals"]:
        yield wrong("by 0", lambda one: one["counterfactuals"][0].update(by=0))
    for at, change in enumerate(answer["counterfactuals"] if run.policy != "berth" else []):
        yield wrong(f"{change['change']} left out", lambda one: one["counterfactuals"].pop(at))
        yield wrong(f"{change['change']} + 1", lambda one: one["counterfactuals"][at].update(by=change["by"] + 1))
        if change["by"] > 1:
            yield wrong(f"{change['change']} - 1", lambda one: one["counterfactuals"][at].update(by=change["by"] - 1))
    preempts = [one for one in answer["counterfactuals"] if one["change"] == "preempt"]
    if preempts:
        at = answer["counterfactuals"].index(preempts[0])
        yield wrong("preempt, itself", lambda one: one["counterfactuals"][at]["jobs"].__setitem__(0, one["job"]))


def slots(answer: dict) -> Iterator[Made]:
    yield "slot + 1", answer | {"start_s": answer["start_s"] + 1}
    yield "slot - 1", answer | {"start_s": answer["start_s"] - 1}
    yield "slot null", {"start_s": None, "confidence": None}
    yield "slot too sure", answer | {"confidence": 1.01}
    yield "slot, another key", {"start": answer["start_s"], "confidence": answer["confidence"]}
