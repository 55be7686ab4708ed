"""What must hold on a machine whose troubles are over, and at any time. The answers are texts: what is wrong."""

import itertools
import json
import subprocess

from auditor import usage_faults
from local_up import PROGRAM

UNDER_WAY = ("creating", "draining")


class Foreign:
    """The instances that others have made and not taken away again, as `show` has them."""

    def __init__(self, fleet):
        self.fleet = fleet
        self.known = {}  # (gpu, id of the instance) to (profile, start, generation)

    def learn(self, devices):
        """Takes down what stands there with a profile that berth does not use, or where berth changes nothing."""
        for gpu, device in enumerate(devices):
            for each in device["gpu_instances"]:
                if gpu not in self.fleet.managed or not self.fleet.is_ours(gpu, each["profile"]):
                    self.add(gpu, each)

    def add(self, gpu, instance):
        """One that others have made."""
        self.known.setdefault((gpu, instance["id"]), self.seen(instance))

    @staticmethod
    def seen(instance):
        """What tells an instance from all others."""
        return instance["profile"], instance["start"], instance["generation"]

    def forget_gpu(self, gpu):
        """It was reset."""
        for key in [key for key in self.known if key[0] == gpu]:
            del self.known[key]

    def faults(self, devices):
        """Those that are not as they were."""
        there = {(gpu, each["id"]): self.seen(each)
                 for gpu, device in enumerate(devices) for each in device["gpu_instances"]}
        return [f"gpu-{gpu}: instance {number} of others was {known}, found {there.get((gpu, number))}"
                for (gpu, number), known in self.known.items() if there.get((gpu, number)) != known]

    def places(self, gpu):
        """(profile, start) of those on a GPU."""
        return {known[:2] for (index, _), known in self.known.items() if index == gpu}


def overlap_faults(slices, fleet):
    """Slices of the API that share a place, though neither is to come or to go."""
    places, faults = {}, []
    for each in (item["status"] | {"name": item["metadata"]["name"]} for item in slices):
        gpu = int(each["gpu"].removeprefix("gpu-"))
        profile = fleet.profiles[fleet.models[gpu]].get(each["profile"])
        length = profile.length if profile else 1
        places.setdefault(gpu, []).append((each["start"], each["start"] + length, each["state"], each["name"]))
    for found in places.values():
        for one, other in itertools.combinations(found, 2):
            if one[0] < other[1] and other[0] < one[1] and not {one[2], other[2]} & set(UNDER_WAY):
                faults.append(f"{one[3]} ({one[2]}) and {other[3]} ({other[2]}) share a place")
    return faults


def difference_faults(up, machine, fleet, foreign):
    """Between the devices and the API, or what is still under way. Empty once all is quiet."""
    before = machine.show()
    slices = [item["status"] for item in up.items("slices")]
    gpus = [item["status"] for item in up.items("gpus")]
    devices = machine.show()
    faults = ["the devices change"] if before != devices else []
    for gpu, (device, said) in enumerate(zip(devices, gpus, strict=True)):
        there = {(each["profile"], each["start"]) for each in device["gpu_instances"]}
        listed = [each for each in slices if each["gpu"] == f"gpu-{gpu}" and each["profile"] != "full"]
        shown = {is_foreign: {(each["profile"], each["start"]) for each in listed
                              if (each["state"] == "foreign") == is_foreign} for is_foreign in (False, True)}
        faults += [f"gpu-{gpu}: {each['profile']}@{each['start']} is {each['state']}" for each in listed
                   if each["state"] in (*UNDER_WAY, "lost")]
        if shown[True] != foreign.places(gpu):
            faults.append(f"gpu-{gpu}: wanted as foreign {foreign.places(gpu)}, found {shown[True]}")
        if shown[False] != there - foreign.places(gpu):
            faults.append(f"gpu-{gpu}: on the device {there - foreign.places(gpu)}, in the API {shown[False]}")
        faults += state_faults(gpu, said, device, gpu in fleet.managed)
        faults += [f"gpu-{gpu}: instance {each['id']} has no compute instance" for each in device["gpu_instances"]
                   if (each["profile"], each["start"]) in shown[False] and not each["compute_instances"]]
    return faults


def state_faults(gpu, said, device, is_managed):
    """Of a GPU that has no troubles any more."""
    wanted = {"uuid": device["uuid"], "health": "ok", "managed": is_managed, "differences": [],
              "scheduling": "open" if is_managed else "cordoned"}
    reasons = ", ".join(str(said[key]) for key in ("managed_reason", "scheduling_reason", "health_reason"))
    return [f"gpu-{gpu}: wanted {key} {value!r}, found {said[key]!r} ({reasons})" for key, value in wanted.items()
            if said[key] != value]


def call_faults(devices, fleet, others):
    """GPUs that only others may change, with calls that are not theirs."""
    return [f"gpu-{gpu}: not listed, and had {device['changing_calls']} changing calls, {others.calls[gpu]} of others"
            for gpu, device in enumerate(devices)
            if gpu not in fleet.managed and device["changing_calls"] != others.calls[gpu]]


def history_faults(up):
    """What is told of the past: nothing had two owners, and no number was used twice."""
    until = up.get("v1/status")["time"]
    rows, page = [], {"metadata": {"continue": None}, "items": []}
    while True:
        following = page["metadata"]["continue"]
        page = up.get(f"v1/usage?to={until}&limit=500" + (f"&continue={following}" if following else ""))
        rows += page["items"]
        if not page["metadata"]["continue"]:
            break
    first = min((row["from"] for row in rows), default=until)
    return usage_faults(rows, first, until, up.items("gpus"))


def event_faults(up):
    """Slices that came twice, or went twice."""
    faults, numbers = [], {}
    for event in up.events():
        name = event["object"]["name"]
        if event["kind"] in ("SliceCreated", "SliceGone", "SliceMissing") and not name.endswith("-foreign"):
            numbers.setdefault((event["kind"], name), []).append(event["sequence"])
    for (kind, name), told in numbers.items():
        if len(told) > 1:
            faults.append(f"{kind} of {name} is told by events {told}")
    return faults


def journal_faults(folder):
    """Of a folder whose `berth up` has ended: it is whole; each intent ends at most once; a generation of a GPU is one
    slice's."""
    verified = subprocess.run([PROGRAM, "journal", "verify", folder], capture_output=True, text=True, check=False)
    if verified.returncode != 0:
        return [f"berth journal verify: {verified.stdout}{verified.stderr}"]
    exported = subprocess.run([PROGRAM, "journal", "export", folder], capture_output=True, text=True, check=True)
    faults, slices, intents, ended = [], {}, set(), set()
    for row in map(json.loads, exported.stdout.splitlines()):
        body = row.get("body")
        if row["kind"] == "DeviceIntended":
            place = tuple(sorted(body["slice"].items()))
            if body["intent"] in intents:
                faults.append(f"intent {body['intent']} is recorded twice")
            intents.add(body["intent"])
            if slices.setdefault((body["slice"]["gpu"], body["generation"]), place) != place:
                faults.append(f"generation {body['generation']} of gpu-{body['slice']['gpu']} is of two slices")
        elif row["kind"] == "DeviceEnded":
            if body["intent"] in ended or body["intent"] not in intents:
                faults.append(f"intent {body['intent']} ended twice, or never began")
            ended.add(body["intent"])
    return faults
