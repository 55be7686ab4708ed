#!/usr/bin/env python3
"""Every function of NVIDIA's binding for Python (nvidia-ml-py), called once with plausible arguments, and then with
handles of the wrong kind, old ones and nonsense: what is simulated answers, the rest is not supported, and nothing ends the
program."""

import inspect
import json
import os
import sys
import unittest
from ctypes import byref, c_ubyte, c_uint, c_void_p, cast
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from ml_py import ClientCase, binding  # noqa: E402
from simulated import ROOT  # noqa: E402

sys.path.insert(0, str(ROOT / "src/gpu/nvml_abi"))
from function_lists import simulated  # noqa: E402

nvml = binding()

FLEET = "fleet: [{gpu: A100-80GB, mig: true, count: 2}]\n"
HALF, SEVENTH, C3 = 9, 19, nvml.NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE
HALF_ID = 2  # of the GPU instance at 4
SUCCESS, FAILED_BEFORE = 0, -1  # the second: Python refused the arguments

FUNCTIONS = {name: function for name, function in sorted(vars(nvml).items())
             if name.startswith("nvml") and inspect.isfunction(function)}
HANDLES = ("handle", "handle1", "handle2", "device", "device1", "device2", "migDevice", "gpuInstance", "computeInstance", "eventSet")
# The binding converts something, or refuses these arguments itself.
WITHOUT_LIBRARY = {"nvmlExceptionClass", "nvmlFriendlyObjectToStruct", "nvmlStructToFriendlyObject", "nvmlSystemEventSetCreate",
                   "nvmlSystemEventSetFree", "nvmlSystemEventSetWait", "nvmlSystemRegisterEvents",
                   "nvmlDeviceGetConfComputeGpuAttestationReport", "nvmlGpuInstanceGetVgpuTypeCreatablePlacements"}

# What simulated functions refuse all the same, of an A100 with MIG on and an instance on it. It has no GPM.
REFUSED = {
    "nvmlDeviceGetAttributes": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetAttributes_v2": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetComputeInstanceId": nvml.NVML_ERROR_INVALID_ARGUMENT,
    "nvmlDeviceGetDecoderUtilization": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetEncoderUtilization": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetGpuInstanceId": nvml.NVML_ERROR_INVALID_ARGUMENT,
    "nvmlDeviceGetRemappedRows": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetRemappedRows_v2": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetRetiredPages": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetRetiredPagesPendingStatus": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetRetiredPages_v2": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceGetUtilizationRates": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlDeviceSetMigMode": nvml.NVML_ERROR_IN_USE,
    "nvmlEventSetWait": nvml.NVML_ERROR_TIMEOUT,
    "nvmlEventSetWait_v2": nvml.NVML_ERROR_TIMEOUT,
    "nvmlGpmMetricsGet": nvml.NVML_ERROR_INVALID_ARGUMENT,
    "nvmlGpmMigSampleGet": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlGpmSampleGet": nvml.NVML_ERROR_NOT_SUPPORTED,
    "nvmlGpuInstanceDestroy": nvml.NVML_ERROR_IN_USE,
}


def instances():
    """The two GPUs, and an instance on the first with its compute instance, made again if a call has destroyed them."""
    device, other = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
    try:
        gpu_instance = nvml.nvmlDeviceGetGpuInstanceById(device, HALF_ID)
    except nvml.NVMLError_NotFound:
        gpu_instance = nvml.nvmlDeviceCreateGpuInstanceWithPlacement(device, HALF, byref(nvml.c_nvmlGpuInstancePlacement_t(4, 4)))
    try:
        compute_instance = nvml.nvmlGpuInstanceGetComputeInstanceById(gpu_instance, 0)
    except nvml.NVMLError_NotFound:
        compute_instance = nvml.nvmlGpuInstanceCreateComputeInstance(gpu_instance, C3)
    return device, other, gpu_instance, compute_instance


def plausible(function):
    """Arguments by name. What is not here is a small number or room for a structure."""
    device, other, gpu_instance, compute_instance = instances()
    known = {"handle": device, "handle1": device, "handle2": other, "device": device, "device1": device, "device2": other,
             "migDevice": nvml.nvmlComputeInstanceGetInfo_v2(compute_instance).device, "gpuInstance": gpu_instance,
             "computeInstance": compute_instance, "eventSet": nvml.nvmlEventSetCreate(), "gpuInstanceId": HALF_ID,
             "locationType": nvml.NVML_MEMORY_LOCATION_DRAM,
             "uuid": nvml.nvmlDeviceGetUUID(device), "serial": nvml.nvmlDeviceGetSerial(device),
             "pciBusId": nvml.nvmlDeviceGetPciInfo(device).busId, "pid": os.getpid(), "profileId": SEVENTH, "profile": C3,
             "fieldIds": [nvml.NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED, 9999], "version": nvml.nvmlProcessDetailList_v1,
             "placement": byref(nvml.c_nvmlGpuInstancePlacement_t(3, 1)), "countRef": byref(c_uint(32)),
             "placementsRef": (nvml.c_nvmlGpuInstancePlacement_t * 32)(), "gpuInstancesRef": (c_void_p * 32)(),
             "computeInstancesRef": (c_void_p * 32)(), "gpmSample": nvml.nvmlGpmSampleAlloc(),
             "metricsGet": nvml.c_nvmlGpmMetricsGet_t(version=nvml.NVML_GPM_METRICS_GET_VERSION)}
    own = {}
    if function.__name__.startswith("nvmlGpuInstance"):
        own = {"profileId": C3, "placement": byref(nvml.c_nvmlComputeInstancePlacement_t(0, 3)), "device": gpu_instance}
    if function.__name__.startswith("nvmlGpuInstanceCreate"):
        nvml.nvmlComputeInstanceDestroy(compute_instance)
    if function is nvml.nvmlDeviceGetHandleByUUIDV:
        own = {"uuid": known["uuid"].encode(), "type": nvml.NVML_UUID_TYPE_ASCII}
    if function is nvml.nvmlDeviceGetRemappedRows_v2:
        own = {"info": byref(nvml.c_nvmlRemappedRowsInfo_v2_t())}
    if function is nvml.nvmlDeviceGetPciInfoExt:
        own = {"c_info": byref(nvml.nvmlPciInfoExt_v1_t(version=nvml.nvmlPciInfoExt_v1))}
    return known | own


def arguments_of(function, handle, otherwise):
    """`handle` stands for all handles, if it is one; `otherwise` for what has no plausible value."""
    known = plausible(function)
    if handle is not None:
        known |= dict.fromkeys(HANDLES, handle)
    return [known.get(parameter.name, otherwise) for parameter in inspect.signature(function).parameters.values()
            if parameter.default is inspect.Parameter.empty]


def call(function, arguments):
    """The code, and the functions of the library that the binding looked up for it."""
    find, looked_up = nvml._nvmlGetFunctionPointer, []

    def find_and_note(name):
        looked_up.append(name)
        return find(name)

    nvml._nvmlGetFunctionPointer = find_and_note
    try:
        function(*arguments)
        return SUCCESS, looked_up
    except nvml.NVMLError as error:
        return error.value, looked_up
    except (TypeError, AttributeError, ValueError):
        return FAILED_BEFORE, looked_up
    finally:
        nvml._nvmlGetFunctionPointer = find


def is_simulated(looked_up):
    return bool(looked_up) and set(looked_up) <= set(simulated())


def call_all(functions, handle_now, report):
    """Calls them one after the other, and reports the name of each before, code and look-ups after its call."""
    nvml.nvmlInit()
    for name, function in functions.items():
        os.write(report, f"{name} ".encode())
        answer = call(function, arguments_of(function, handle_now(), 0))
        if answer[0] == FAILED_BEFORE:  # a structure is wanted where the number was
            answer = call(function, arguments_of(function, handle_now(), (c_ubyte * 65536)()))
        os.write(report, (json.dumps(answer) + "\n").encode())


def old_handle():
    """Of a GPU instance whose place another has taken."""
    device, half = nvml.nvmlDeviceGetHandleByIndex(1), byref(nvml.c_nvmlGpuInstancePlacement_t(4, 4))
    try:
        old = nvml.nvmlDeviceGetGpuInstanceById(device, HALF_ID)
    except nvml.NVMLError_NotFound:
        old = nvml.nvmlDeviceCreateGpuInstanceWithPlacement(device, HALF, half)
    nvml.nvmlGpuInstanceDestroy(old)
    nvml.nvmlDeviceCreateGpuInstanceWithPlacement(device, HALF, half)
    return old


OF_SOMETHING_ELSE = c_uint(7)
WRONG_HANDLES = {
    "null": c_void_p,
    "small number": lambda: c_void_p(0x1234),
    "address of something else": lambda: cast(byref(OF_SOMETHING_ELSE), c_void_p),
    "old": old_handle,
}
OTHER_HANDLES = {
    "MIG device": lambda: nvml.nvmlComputeInstanceGetInfo_v2(instances()[3]).device,
    "GPU": lambda: instances()[0],
    "GPU instance": lambda: instances()[2],
    "compute instance": lambda: instances()[3],
    "event set": nvml.nvmlEventSetCreate,
}


class EveryFunction(ClientCase):
    def setUp(self):
        super().setUp()
        self.machine(FLEET)

    def answers(self, functions, handle_now=lambda: None):
        """Name -> code and look-ups, from a child of this process, which a call may end."""
        path = self.folder / "report"
        child = os.fork()
        if child == 0:
            status = 1
            try:
                call_all(functions, handle_now, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
                status = 0
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        lines = path.read_text().splitlines()
        self.assertEqual(status, 0, f"the last call was {lines[-1]}")
        return {name: json.loads(answer) for name, answer in (line.split(" ", 1) for line in lines)}

    def test_plausible_arguments(self):
        answers = self.answers(FUNCTIONS)
        self.assertEqual(set(answers), set(FUNCTIONS))
        self.assertEqual({name for name, (_, looked_up) in answers.items() if not looked_up}, WITHOUT_LIBRARY)
        for name, (code, looked_up) in answers.items():
            if is_simulated(looked_up):
                self.assertEqual(code, REFUSED.get(name, SUCCESS), name)
            elif name not in WITHOUT_LIBRARY:  # the binding ignores some codes
                self.assertIn(code, (nvml.NVML_ERROR_NOT_SUPPORTED, SUCCESS, FAILED_BEFORE), name)

    def test_wrong_handles(self):
        taking = {name: function for name, function in FUNCTIONS.items()
                  if set(HANDLES) & set(inspect.signature(function).parameters)}
        for kind, handle_now in WRONG_HANDLES.items():
            for name, (code, looked_up) in self.answers(taking, handle_now).items():
                if is_simulated(looked_up):
                    self.assertEqual(code, nvml.NVML_ERROR_INVALID_ARGUMENT, f"{name} with {kind}")

    def test_handles_of_other_kinds(self):
        for handle_now in OTHER_HANDLES.values():
            self.assertGreater(len(self.answers(FUNCTIONS, handle_now)), 400)


if __name__ == "__main__":
    unittest.main()
