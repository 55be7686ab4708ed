"""The simulated machines of the driver tests, and somebody else who changes their GPUs."""

import contextlib
import ctypes
import dataclasses
import json
import subprocess

from local_up import LIBRARY, PROGRAM, Machine
from simulated import Nvml

MODELS = ("A100-80GB", "A100-40GB", "A30-24GB", "H100-80GB-SXM5", "H200-141GB", "T4-16GB")
CALLS = ("create_gpu_instance", "create_compute_instance", "destroy_compute_instance", "destroy_gpu_instance")
INVALID_ARGUMENT = 2  # the code of a call that did not reach a GPU


@dataclasses.dataclass(frozen=True)
class Profile:
    """`number`: of the driver. `slices`: of computing."""
    name: str
    number: int
    length: int
    starts: tuple
    slices: int


def profiles_of(model):
    """Of a model, by `berth mig`; none without MIG."""
    run = subprocess.run([PROGRAM, "mig", "profiles", "--gpu", model, "--format", "json"], capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        return []
    return [Profile(each["profile"], each["device_profile_id"], each["length"], tuple(each["starts"]),
                    each["compute_slices"]) for each in json.loads(run.stdout)["profiles"]]


class Fleet:
    """1 to 4 GPUs of a machine, and which of them berth may change (at least one). Of each model some profiles are
    those of services, the others those of others: so an instance says who made it."""

    def __init__(self, rng, models=None):
        self.models = models or [rng.choice(MODELS) for _ in range(rng.randint(1, 4))]
        if all(model == "T4-16GB" for model in self.models):
            self.models.append("A100-80GB")
        able = [index for index, model in enumerate(self.models) if model != "T4-16GB"]
        chosen = rng.choice(able)
        self.managed = {index for index in range(len(self.models)) if index == chosen or rng.random() < 0.6}
        self.profiles, self.ours = {}, {}
        for model in sorted(set(self.models)):
            profiles = profiles_of(model)
            self.profiles[model] = {profile.name: profile for profile in profiles}
            names = [profile.name for profile in profiles]
            self.ours[model] = set(rng.sample(names, max(1, len(names) // 2))) if names else set()

    def text(self):
        """The value of `fleet`."""
        return "[" + ", ".join(f"{{gpu: {model}}}" for model in self.models) + "]"

    def is_able(self, gpu):
        """Whether the GPU can be partitioned."""
        return bool(self.profiles[self.models[gpu]])

    def is_ours(self, gpu, name):
        """Whether services use the profile there."""
        return name in self.ours[self.models[gpu]]

    def foreign_profiles(self, gpu):
        """Those that only others use."""
        model = self.models[gpu]
        return [profile for name, profile in self.profiles[model].items() if name not in self.ours[model]]


class Placement(ctypes.Structure):
    """nvmlGpuInstancePlacement_t."""
    _fields_ = [("start", ctypes.c_uint), ("size", ctypes.c_uint)]


class Others:
    """Another client of the driver in this process, which knows the machine by BERTH_NVML_SIM_STATE. `calls`: how many
    that change a GPU have reached it, by GPU; whether they did what they were to do is not looked at."""

    def __init__(self, fleet):
        self.nvml = Nvml(str(LIBRARY))
        self.fleet = fleet
        self.calls = [0] * len(fleet.models)

    def close(self):
        """No call may follow."""
        self.nvml.library.nvmlShutdown()

    def change(self, gpu, name, *arguments):
        """A call that changes something."""
        code = getattr(self.nvml.library, name)(*arguments)
        self.calls[gpu] += code != INVALID_ARGUMENT
        return code

    def device(self, gpu):
        """Its handle; None while it is lost."""
        with contextlib.suppress(RuntimeError):
            return self.nvml.device(gpu)
        return None

    def create(self, gpu, profile, start):
        """A GPU instance with its compute instance."""
        device, instance = self.device(gpu), ctypes.c_void_p()
        place = Placement(start, profile.length)
        if device is None or self.change(gpu, "nvmlDeviceCreateGpuInstanceWithPlacement", device, profile.number,
                                         ctypes.byref(place), ctypes.byref(instance)) != 0:
            return
        kind = {1: 0, 2: 1, 3: 2, 4: 3, 7: 4}.get(profile.slices, 0)  # NVML_COMPUTE_INSTANCE_PROFILE_*
        self.change(gpu, "nvmlGpuInstanceCreateComputeInstance", instance, kind, ctypes.byref(ctypes.c_void_p()))

    def instance(self, gpu, number):
        """The handle of the GPU instance with that id; None: it is not there."""
        device, instance = self.device(gpu), ctypes.c_void_p()
        if device is None:
            return None
        code = self.nvml.library.nvmlDeviceGetGpuInstanceById(device, number, ctypes.byref(instance))
        return instance if code == 0 else None

    def destroy_compute(self, gpu, number):
        """The compute instance of the GPU instance with that id. Returns the handle of the latter, or None."""
        instance, compute = self.instance(gpu, number), ctypes.c_void_p()
        if instance is None:
            return None
        if self.nvml.library.nvmlGpuInstanceGetComputeInstanceById(instance, 0, ctypes.byref(compute)) == 0:
            self.change(gpu, "nvmlComputeInstanceDestroy", compute)
        return instance

    def destroy(self, gpu, number):
        """The GPU instance with that id, and what is in it."""
        if (instance := self.destroy_compute(gpu, number)) is not None:
            self.change(gpu, "nvmlGpuInstanceDestroy", instance)

    def turn_mig_on(self, gpu):
        """As an administrator does after a reboot that has turned it off."""
        if (device := self.device(gpu)) is not None:
            self.change(gpu, "nvmlDeviceSetMigMode", device, 1, ctypes.byref(ctypes.c_uint()))


def new_machine(folder, fleet, rng):
    """A machine whose driver takes 0 to 20 ms for a change."""
    latencies = ", ".join(f"{call}: {rng.choice((0, 0, 2, 20))}" for call in CALLS)
    return Machine(folder, fleet.text(), "{" + latencies + "}")
