#!/usr/bin/env python3
"""NVIDIA's own binding for Python (nvidia-ml-py) through the whole life of MIG on simulated machines, and what goes wrong."""

import os
import struct
import subprocess
import sys
import time
import unittest
from ctypes import byref, c_uint, create_string_buffer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from ml_py import ClientCase, binding  # noqa: E402
from simulated import NOBODY  # noqa: E402

nvml = binding()

A100 = "fleet: [{gpu: A100-80GB, mig: true}]\n"
A100_OFF = "fleet: [{gpu: A100-80GB, mig: false}]\n"
MIXED = "fleet: [{gpu: A100-80GB, mig: true}, {gpu: H100-80GB, mig: false}, {gpu: T4}]\n"

# Ids of an A100's profiles, and numbers of profiles of compute instances.
WHOLE, HALF, QUARTER, SEVENTH = 0, 9, 14, 19
C1, C2, C3 = (getattr(nvml, f"NVML_COMPUTE_INSTANCE_PROFILE_{slices}_SLICE") for slices in (1, 2, 3))
NO_INSTANCE = 0xFFFFFFFF
MIB = 1 << 20

# Creates as many 1g as it can get, one after the other, and prints where they are.
GREEDY = f"""
from pynvml import *
nvmlInit()
device = nvmlDeviceGetHandleByIndex(0)
try:
    while True:
        instance = nvmlDeviceCreateGpuInstance(device, {SEVENTH})
        nvmlGpuInstanceCreateComputeInstance(instance, 0)
        print(nvmlGpuInstanceGetInfo(instance).placement.start)
except NVMLError_InsufficientResources:
    pass
"""


def place(start, size):
    return byref(nvml.c_nvmlGpuInstancePlacement_t(start, size))


def placements(device, profile):
    found, count = (nvml.c_nvmlGpuInstancePlacement_t * 32)(), c_uint(32)
    nvml.nvmlDeviceGetGpuInstancePossiblePlacements(device, profile, found, byref(count))
    return [(one.start, one.size) for one in found[: count.value]]


def instances(device, profile):
    """The ids of the GPU instances of a profile."""
    found, count = (nvml.c_nvmlGpuInstance_t * 16)(), c_uint(16)
    nvml.nvmlDeviceGetGpuInstances(device, profile, found, byref(count))
    return [nvml.nvmlGpuInstanceGetInfo(one).id for one in found[: count.value]]


def compute_instances(instance, profile):
    found, count = (nvml.c_nvmlComputeInstance_t * 16)(), c_uint(16)
    nvml.nvmlGpuInstanceGetComputeInstances(instance, profile, found, byref(count))
    return [nvml.nvmlComputeInstanceGetInfo_v2(one).id for one in found[: count.value]]


def mig_devices(device):
    """As every client walks them."""
    found = []
    for index in range(nvml.nvmlDeviceGetMaxMigDeviceCount(device)):
        try:
            found.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, index))
        except nvml.NVMLError_NotFound:
            break
    return found


def slice_of(device, profile, compute_profile, placement=None):
    """A GPU instance with one compute instance: their handles, and the MIG device's."""
    if placement is None:
        instance = nvml.nvmlDeviceCreateGpuInstance(device, profile)
    else:
        instance = nvml.nvmlDeviceCreateGpuInstanceWithPlacement(device, profile, place(*placement))
    compute = nvml.nvmlGpuInstanceCreateComputeInstance(instance, compute_profile)
    return instance, compute, nvml.nvmlComputeInstanceGetInfo_v2(compute).device


def next_event(events, timeout_ms=20_000):
    event = nvml.nvmlEventSetWait_v2(events, timeout_ms)
    return nvml.nvmlDeviceGetIndex(event.device), event.eventType, event.eventData


def code_of(function, *arguments):
    try:
        function(*arguments)
    except nvml.NVMLError as error:
        return error.value
    return nvml.NVML_SUCCESS


def in_a_child(work):
    """The number that `work` returns in a fork of this process; 255 if it raises."""
    child = os.fork()
    if child == 0:
        status = 255
        try:
            status = work()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Enumeration(ClientCase):
    def test_a_gpu_is_found_by_all_its_names(self):
        state = self.machine(MIXED)
        shown = self.show(state)["devices"]
        self.assertEqual(nvml.nvmlDeviceGetCount(), len(shown))
        for index, gpu in enumerate(shown):
            device = nvml.nvmlDeviceGetHandleByIndex(index)
            self.assertEqual(nvml.nvmlDeviceGetIndex(device), index)
            self.assertEqual(nvml.nvmlDeviceGetUUID(device), gpu["uuid"])
            self.assertEqual(nvml.nvmlDeviceGetPciInfo(device).busId, gpu["pci"])
            binary = bytes.fromhex(gpu["uuid"].removeprefix("GPU-").replace("-", ""))
            others = [nvml.nvmlDeviceGetHandleByUUID(gpu["uuid"]),
                      nvml.nvmlDeviceGetHandleByUUIDV(gpu["uuid"].encode(), nvml.NVML_UUID_TYPE_ASCII),
                      nvml.nvmlDeviceGetHandleByUUIDV(binary, nvml.NVML_UUID_TYPE_BINARY),
                      nvml.nvmlDeviceGetHandleBySerial(nvml.nvmlDeviceGetSerial(device))]
            others += [nvml.nvmlDeviceGetHandleByPciBusId(address) for address in (
                gpu["pci"], gpu["pci"].lower(), gpu["pci"][4:], gpu["pci"][9:], gpu["pci"].removesuffix(".0"))]
            for other in others:
                self.assertEqual(nvml.nvmlDeviceGetIndex(other), index)
        self.assertEqual([nvml.nvmlDeviceGetName(nvml.nvmlDeviceGetHandleByIndex(index)) for index in range(3)],
                         ["NVIDIA A100-SXM4-80GB", "NVIDIA H100 80GB HBM3", "Tesla T4"])
        self.assertEqual(nvml.nvmlSystemGetDriverVersion(), "580.95.05")

    def test_architectures(self):
        models = {"V100-16GB": nvml.NVML_DEVICE_ARCH_VOLTA, "T4": nvml.NVML_DEVICE_ARCH_TURING, "A30": nvml.NVML_DEVICE_ARCH_AMPERE,
                  "L4-": nvml.NVML_DEVICE_ARCH_ADA, "H200": nvml.NVML_DEVICE_ARCH_HOPPER, "B200": nvml.NVML_DEVICE_ARCH_BLACKWELL}
        self.machine("fleet: [" + ", ".join(f"{{gpu: {model}}}" for model in models) + "]\n")
        found = [nvml.nvmlDeviceGetArchitecture(nvml.nvmlDeviceGetHandleByIndex(index)) for index in range(len(models))]
        self.assertEqual(found, list(models.values()))

    def test_what_is_not_there(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        uuid = nvml.nvmlDeviceGetUUID(device)
        for code, function, name in [
                (nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceGetHandleByIndex, 1),
                (nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetHandleByUUID, uuid.upper()),
                (nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetHandleByUUID, "MIG-" + uuid[4:]),
                (nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetHandleByUUID, "nonsense"),
                (nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetHandleBySerial, "1"),
                (nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetHandleByPciBusId, "0000:FE:00.0"),
                (nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceGetHandleByPciBusId, "nonsense")]:
            self.assert_refused(code, function, name)

    def test_inits_are_counted_and_a_fork_has_none(self):
        self.machine(A100)
        nvml.nvmlInitWithFlags(0)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        nvml.nvmlShutdown()
        self.assertEqual(nvml.nvmlDeviceGetIndex(device), 0)
        self.assertEqual(in_a_child(lambda: code_of(nvml.nvmlDeviceGetIndex, device)), nvml.NVML_ERROR_UNINITIALIZED)
        nvml.nvmlShutdown()
        for function in (nvml.nvmlDeviceGetCount, nvml.nvmlShutdown):
            self.assert_refused(nvml.NVML_ERROR_UNINITIALIZED, function)
        nvml.nvmlInit()
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceGetIndex, device)
        self.assertEqual(nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByIndex(0)), 0)
        self.assertEqual(nvml.nvmlDeviceGetIndex(device), 0)

    def test_without_a_machine_there_is_no_driver(self):
        os.environ["BERTH_NVML_SIM_STATE"] = str(self.folder / "none")
        self.assert_refused(nvml.NVML_ERROR_DRIVER_NOT_LOADED, nvml.nvmlInit)
        (self.folder / "none").write_text("no state of a machine")
        self.assert_refused(nvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, nvml.nvmlInit)


class Mode(ClientCase):
    def test_ampere_waits_for_a_reset(self):
        self.machine(A100_OFF)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        self.assertEqual(nvml.nvmlDeviceGetMigMode(device), [0, 0])
        self.assertEqual(nvml.nvmlDeviceGetMaxMigDeviceCount(device), 0)
        self.assertEqual(nvml.nvmlDeviceGetGpuInstanceRemainingCapacity(device, SEVENTH), 7)
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceCreateGpuInstance, device, SEVENTH)
        self.assertEqual(nvml.nvmlDeviceSetMigMode(device, 1), nvml.NVML_ERROR_RESET_REQUIRED)
        self.assertEqual(nvml.nvmlDeviceGetMigMode(device), [0, 1])
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceCreateGpuInstance, device, SEVENTH)
        self.assertEqual(nvml.nvmlDeviceSetMigMode(device, 0), nvml.NVML_SUCCESS)
        self.assertEqual(nvml.nvmlDeviceSetMigMode(device, 1), nvml.NVML_ERROR_RESET_REQUIRED)
        subprocess.run(["nvidia-smi", "-r", "-i", "0"], stdout=subprocess.DEVNULL, check=True)
        self.assertEqual(nvml.nvmlDeviceGetMigMode(device), [1, 1])
        self.assertEqual(nvml.nvmlDeviceGetMaxMigDeviceCount(device), 7)

    def test_hopper_changes_at_once(self):
        self.machine(MIXED)
        device = nvml.nvmlDeviceGetHandleByIndex(1)
        for mode in (1, 0):
            self.assertEqual(nvml.nvmlDeviceSetMigMode(device, mode), nvml.NVML_SUCCESS)
            self.assertEqual(nvml.nvmlDeviceGetMigMode(device), [mode, mode])

    def test_turing_has_none(self):
        self.machine(MIXED)
        device = nvml.nvmlDeviceGetHandleByIndex(2)
        self.assertEqual(nvml.nvmlDeviceGetMaxMigDeviceCount(device), 0)
        for function, *arguments in [(nvml.nvmlDeviceGetMigMode,), (nvml.nvmlDeviceSetMigMode, 1),
                                     (nvml.nvmlDeviceGetGpuInstanceProfileInfo, 0), (nvml.nvmlDeviceCreateGpuInstance, WHOLE),
                                     (nvml.nvmlDeviceGetGpuInstanceRemainingCapacity, WHOLE)]:
            self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, function, device, *arguments)

    def test_fields_say_which_gpu_needs_a_reset(self):
        self.machine(MIXED)
        for index, wanted in enumerate([(0, 1), (1, 1), (0, 0)]):
            fields = nvml.nvmlDeviceGetFieldValues(nvml.nvmlDeviceGetHandleByIndex(index), [
                nvml.NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED, nvml.NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE])
            self.assertEqual([(one.nvmlReturn, one.value.uiVal) for one in fields], [(0, value) for value in wanted])

    def test_the_mode_is_in_use(self):
        state = self.machine("fleet: [{gpu: H100-80GB, mig: true, count: 2}]\n")
        device, other = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
        nvml.nvmlDeviceCreateGpuInstance(device, SEVENTH)
        self.assert_refused(nvml.NVML_ERROR_IN_USE, nvml.nvmlDeviceSetMigMode, device, 0)
        self.assertEqual(nvml.nvmlDeviceGetMigMode(device), [1, 1])
        nvml.nvmlDeviceSetMigMode(other, 0)
        self.verb("process", "add", "--uuid", nvml.nvmlDeviceGetUUID(other), "--pid", 7)
        self.assertEqual(nvml.nvmlDeviceSetMigMode(other, 1), nvml.NVML_ERROR_IN_USE)
        self.assertEqual(nvml.nvmlDeviceGetMigMode(other), [0, 1])
        self.assertEqual([gpu["changing_calls"] for gpu in self.show(state)["devices"]], [2, 2])
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceSetMigMode, other, 2)


class Profiles(ClientCase):
    def test_all_versions_agree(self):
        self.machine(MIXED)
        for index in range(2):
            device = nvml.nvmlDeviceGetHandleByIndex(index)
            names = {}
            for number in range(nvml.NVML_GPU_INSTANCE_PROFILE_COUNT):
                try:
                    first = nvml.nvmlDeviceGetGpuInstanceProfileInfo(device, number, version=1)
                except nvml.NVMLError_NotSupported:
                    continue
                second = nvml.nvmlDeviceGetGpuInstanceProfileInfo(device, number, version=2)
                by_id = nvml.nvmlDeviceGetGpuInstanceProfileInfoByIdV(device, first.id)
                for field, *_ in first._fields_:
                    self.assertEqual(getattr(first, field), getattr(second, field))
                for field, *_ in second._fields_:
                    self.assertEqual(getattr(by_id, field), getattr(second, field))
                self.assertEqual(self.newest(device, number),
                                 (first.id, first.sliceCount, first.instanceCount, first.multiprocessorCount,
                                  first.copyEngineCount, first.decoderCount, first.encoderCount, first.jpegCount, first.ofaCount,
                                  first.memorySizeMB, second.name))
                names[first.id] = second.name
            self.assertEqual(names, {19: "MIG 1g.10gb", 20: "MIG 1g.10gb+me", 15: "MIG 1g.20gb", 14: "MIG 2g.20gb",
                                     9: "MIG 3g.40gb", 5: "MIG 4g.40gb", 0: "MIG 7g.80gb"})

    def newest(self, device, number):
        """Version 3, which the binding does not know."""
        layout = "<IIIIIIIIIIQ96sI4x"
        size = struct.calcsize(layout)
        profile = create_string_buffer(size)
        struct.pack_into("<I", profile, 0, size | 3 << 24)
        self.assertEqual(nvml.nvmlLib.nvmlDeviceGetGpuInstanceProfileInfoV(device, number, profile), nvml.NVML_SUCCESS)
        _, *figures, name, _ = struct.unpack(layout, profile)
        return (*figures, name.rstrip(b"\0").decode())

    def test_numbers_that_name_no_profile(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        graphics, unknown = nvml.NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX, 99
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceGetGpuInstanceProfileInfo, device, graphics)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceGetGpuInstanceProfileInfo, device, unknown)
        for function in (nvml.nvmlDeviceGetGpuInstanceProfileInfoByIdV, nvml.nvmlDeviceGetGpuInstanceRemainingCapacity,
                         placements, instances, nvml.nvmlDeviceCreateGpuInstance):
            self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, function, device, unknown)

    def test_wrong_versions(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        self.assertEqual(nvml.nvmlDeviceGetMemoryInfo(device, version=nvml.nvmlMemory_v2).total,
                         nvml.nvmlDeviceGetMemoryInfo(device).total)
        self.assert_refused(nvml.NVML_ERROR_FUNCTION_NOT_FOUND, nvml.nvmlDeviceGetMemoryInfo, device, 1)
        temperature = nvml.c_nvmlTemperature_v1_t(version=0)
        self.assertEqual(nvml.nvmlLib.nvmlDeviceGetTemperatureV(device, byref(temperature)),
                         nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH)
        self.assert_refused(nvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nvml.nvmlDeviceGetRunningProcessDetailList, device, 9, 0)
        instance = nvml.nvmlDeviceCreateGpuInstance(device, SEVENTH)
        gpu_profile, compute_profile = nvml.c_nvmlGpuInstanceProfileInfo_v2_t(), nvml.c_nvmlComputeInstanceProfileInfo_v2_t()
        gpu_profile.version = compute_profile.version = 9 << 24
        self.assertEqual(nvml.nvmlLib.nvmlDeviceGetGpuInstanceProfileInfoV(device, 0, byref(gpu_profile)),
                         nvml.NVML_ERROR_INVALID_ARGUMENT)
        self.assertEqual(nvml.nvmlLib.nvmlGpuInstanceGetComputeInstanceProfileInfoV(instance, 0, 0, byref(compute_profile)),
                         nvml.NVML_ERROR_INVALID_ARGUMENT)


class LifeCycle(ClientCase):
    def test_gpu_instances(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        self.assertEqual(placements(device, HALF), [(0, 4), (4, 4)])
        self.assertEqual(placements(device, SEVENTH), [(start, 1) for start in range(7)])
        half = nvml.nvmlDeviceCreateGpuInstanceWithPlacement(device, HALF, place(0, 4))
        info = nvml.nvmlGpuInstanceGetInfo(half)
        self.assertEqual((info.profileId, info.placement.start, info.placement.size), (HALF, 0, 4))
        self.assertEqual(nvml.nvmlDeviceGetIndex(info.device), 0)
        chosen = nvml.nvmlGpuInstanceGetInfo(nvml.nvmlDeviceCreateGpuInstance(device, QUARTER))  # the driver's choice
        self.assertEqual((chosen.placement.start, chosen.placement.size), (4, 2))
        self.assertEqual(nvml.nvmlGpuInstanceGetInfo(nvml.nvmlDeviceGetGpuInstanceById(device, info.id)).placement.start, 0)
        self.assertEqual((instances(device, HALF), instances(device, QUARTER), instances(device, SEVENTH)),
                         ([info.id], [chosen.id], []))
        self.assertEqual([nvml.nvmlDeviceGetGpuInstanceRemainingCapacity(device, profile)
                          for profile in (WHOLE, HALF, QUARTER, SEVENTH)], [0, 0, 0, 1])
        for code, profile, start, size in [(nvml.NVML_ERROR_INSUFFICIENT_RESOURCES, QUARTER, 4, 2),
                                           (nvml.NVML_ERROR_INSUFFICIENT_RESOURCES, SEVENTH, 0, 1),
                                           (nvml.NVML_ERROR_INVALID_ARGUMENT, SEVENTH, 7, 1),
                                           (nvml.NVML_ERROR_INVALID_ARGUMENT, SEVENTH, 6, 2),
                                           (nvml.NVML_ERROR_INVALID_ARGUMENT, HALF, 2, 4)]:
            self.assert_refused(code, nvml.nvmlDeviceCreateGpuInstanceWithPlacement, device, profile, place(start, size))
        self.assert_refused(nvml.NVML_ERROR_INSUFFICIENT_RESOURCES, nvml.nvmlDeviceCreateGpuInstance, device, HALF)
        self.assert_refused(nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetGpuInstanceById, device, 13)
        nvml.nvmlGpuInstanceDestroy(half)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlGpuInstanceGetInfo, half)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlGpuInstanceDestroy, half)

    def test_compute_instances(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        instance = nvml.nvmlDeviceCreateGpuInstance(device, HALF)
        first = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, C1, 0, version=1)
        second = nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, C1, 0, version=2)
        for field, *_ in first._fields_:
            self.assertEqual(getattr(first, field), getattr(second, field))
        self.assertEqual((second.name, second.sliceCount, second.instanceCount), ("MIG 1c.3g.40gb", 1, 3))
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo, instance,
                            nvml.NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE, 0)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlGpuInstanceGetComputeInstanceProfileInfo, instance, 99, 0)
        two = nvml.nvmlGpuInstanceCreateComputeInstance(instance, C2)
        self.assertEqual(nvml.nvmlGpuInstanceGetComputeInstanceRemainingCapacity(instance, C1), 1)
        self.assert_refused(nvml.NVML_ERROR_INSUFFICIENT_RESOURCES, nvml.nvmlGpuInstanceCreateComputeInstance, instance, C3)
        one = nvml.nvmlGpuInstanceCreateComputeInstanceWithPlacement(instance, C1,
                                                                     byref(nvml.c_nvmlComputeInstancePlacement_t(2, 1)))
        self.assertEqual((compute_instances(instance, C2), compute_instances(instance, C1), compute_instances(instance, C3)),
                         ([0], [1], []))
        info = nvml.nvmlComputeInstanceGetInfo_v2(nvml.nvmlGpuInstanceGetComputeInstanceById(instance, 1))
        self.assertEqual((info.id, info.profileId, info.placement.start, info.placement.size), (1, C1, 2, 1))
        self.assertEqual(nvml.nvmlGpuInstanceGetInfo(info.gpuInstance).profileId, HALF)
        self.assertEqual(nvml.nvmlDeviceGetName(info.device), "NVIDIA A100-SXM4-80GB MIG 1c.3g.40gb")
        self.assert_refused(nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlGpuInstanceGetComputeInstanceById, instance, 2)
        self.assert_refused(nvml.NVML_ERROR_INSUFFICIENT_RESOURCES, nvml.nvmlGpuInstanceCreateComputeInstance, instance, C1)
        self.assert_refused(nvml.NVML_ERROR_IN_USE, nvml.nvmlGpuInstanceDestroy, instance)
        nvml.nvmlComputeInstanceDestroy(one)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlComputeInstanceDestroy, one)
        nvml.nvmlComputeInstanceDestroy(two)
        nvml.nvmlGpuInstanceDestroy(instance)

    def test_mig_devices(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for profile, compute_profile in [(HALF, C3), (QUARTER, C1), (SEVENTH, C1)]:
            slice_of(device, profile, compute_profile)
        shown = {compute["uuid"]: (gpu_instance["id"], compute["id"], gpu_instance["memory_mib"])
                 for gpu_instance in self.show(os.environ["BERTH_NVML_SIM_STATE"])["devices"][0]["gpu_instances"]
                 for compute in gpu_instance["compute_instances"]}
        found = mig_devices(device)
        self.assertEqual([nvml.nvmlDeviceGetName(one).removeprefix("NVIDIA A100-SXM4-80GB MIG ") for one in found],
                         ["3g.40gb", "1c.2g.20gb", "1g.10gb"])
        for index, one in enumerate(found):
            uuid = nvml.nvmlDeviceGetUUID(one)
            self.assertTrue(nvml.nvmlDeviceIsMigDeviceHandle(one).value)
            self.assertEqual(nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByUUID(uuid)), index)
            self.assertEqual(nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle(one)),
                             nvml.nvmlDeviceGetUUID(device))
            attributes = nvml.nvmlDeviceGetAttributes_v2(one)
            self.assertEqual((nvml.nvmlDeviceGetGpuInstanceId(one), nvml.nvmlDeviceGetComputeInstanceId(one),
                              attributes.memorySizeMB), shown.pop(uuid))
            self.assertEqual(nvml.nvmlDeviceGetMemoryInfo(one).total, attributes.memorySizeMB * MIB)
            self.assertEqual((attributes.gpuInstanceSliceCount, attributes.computeInstanceSliceCount,
                              attributes.multiprocessorCount), [(3, 3, 42), (2, 1, 14), (1, 1, 14)][index])
            self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceGetUtilizationRates, one)
        self.assertEqual(shown, {})
        self.assertFalse(nvml.nvmlDeviceIsMigDeviceHandle(device).value)
        for function in (nvml.nvmlDeviceGetGpuInstanceId, nvml.nvmlDeviceGetComputeInstanceId,
                         nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle):
            self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, function, device)
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceGetAttributes_v2, device)
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceGetUtilizationRates, device)

    def test_a_uuid_comes_back_but_not_its_handle(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        instance, compute, mig_device = slice_of(device, HALF, C3, (4, 4))
        uuid = nvml.nvmlDeviceGetUUID(mig_device)
        nvml.nvmlComputeInstanceDestroy(compute)
        self.assert_refused(nvml.NVML_ERROR_NOT_FOUND, nvml.nvmlDeviceGetHandleByUUID, uuid)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceGetUUID, mig_device)
        nvml.nvmlGpuInstanceDestroy(instance)
        slice_of(device, HALF, C1, (4, 4))
        self.assertEqual(nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetHandleByUUID(uuid)), uuid)
        for function, handle in [(nvml.nvmlDeviceGetUUID, mig_device), (nvml.nvmlGpuInstanceGetInfo, instance),
                                 (nvml.nvmlComputeInstanceGetInfo_v2, compute)]:
            self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, function, handle)

    def test_a_reset_takes_the_handles_below_the_gpu(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        instance, compute, mig_device = slice_of(device, HALF, C3)
        self.verb("reset", "--gpu", 0)
        for function, handle in [(nvml.nvmlGpuInstanceGetInfo, instance), (nvml.nvmlComputeInstanceGetInfo_v2, compute),
                                 (nvml.nvmlDeviceGetUUID, mig_device)]:
            self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, function, handle)
        self.assertEqual((nvml.nvmlDeviceGetIndex(device), mig_devices(device)), (0, []))
        self.verb("reset", "--reboot")
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlDeviceGetIndex, device)
        self.assertEqual(nvml.nvmlDeviceGetMigMode(nvml.nvmlDeviceGetHandleByIndex(0)), [1, 1])

    def test_a_user_may_look_and_not_change(self):
        state = self.machine(A100)
        slice_of(nvml.nvmlDeviceGetHandleByIndex(0), HALF, C3)

        def change():
            nvml.nvmlInit()
            try:
                os.setuid(NOBODY)
            except OSError:
                return 77
            device = nvml.nvmlDeviceGetHandleByIndex(0)
            instance = nvml.nvmlDeviceGetGpuInstanceById(device, instances(device, HALF)[0])
            compute = nvml.nvmlGpuInstanceGetComputeInstanceById(instance, 0)
            codes = [code_of(nvml.nvmlDeviceSetMigMode, device, 0), code_of(nvml.nvmlDeviceCreateGpuInstance, device, SEVENTH),
                     code_of(nvml.nvmlGpuInstanceDestroy, instance), code_of(nvml.nvmlComputeInstanceDestroy, compute),
                     code_of(nvml.nvmlGpuInstanceCreateComputeInstance, instance, C1)]
            return 0 if codes == [nvml.NVML_ERROR_NO_PERMISSION] * 5 else 1

        status = in_a_child(change)
        if status == 77:
            self.skipTest("wanted root, who can become another user")
        self.assertEqual(status, 0)
        [gpu] = self.show(state)["devices"]
        self.assertEqual((gpu["mig"]["pending"], gpu["changing_calls"]), (True, 2 + 5))
        self.assertEqual([len(one["compute_instances"]) for one in gpu["gpu_instances"]], [1])

    def test_two_programs_share_a_gpu(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for _ in range(3):
            programs = [subprocess.Popen([sys.executable, "-c", GREEDY], stdout=subprocess.PIPE, text=True) for _ in range(2)]
            starts = [line for program in programs for line in program.communicate(timeout=60)[0].split()]
            self.assertEqual([program.returncode for program in programs], [0, 0])
            self.assertEqual(sorted(starts), list("0123456"))
            self.assertEqual(len({nvml.nvmlDeviceGetUUID(one) for one in mig_devices(device)}), 7)
            for one in mig_devices(device):
                instance = nvml.nvmlDeviceGetGpuInstanceById(device, nvml.nvmlDeviceGetGpuInstanceId(one))
                nvml.nvmlComputeInstanceDestroy(nvml.nvmlGpuInstanceGetComputeInstanceById(instance, 0))
                nvml.nvmlGpuInstanceDestroy(instance)


class Processes(ClientCase):
    def test_on_a_mig_device(self):
        self.machine(A100)
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        instance, compute, mig_device = slice_of(device, HALF, C3)
        _, _, other = slice_of(device, SEVENTH, C1)
        self.assertEqual(nvml.nvmlDeviceGetComputeRunningProcesses(device), [])
        self.verb("process", "add", "--uuid", nvml.nvmlDeviceGetUUID(mig_device), "--pid", os.getpid(), "--memory-mib", 1000)
        for where in (mig_device, device):
            for listed in (nvml.nvmlDeviceGetComputeRunningProcesses_v2, nvml.nvmlDeviceGetComputeRunningProcesses_v3):
                [process] = listed(where)
                self.assertEqual((process.pid, process.usedGpuMemory, process.gpuInstanceId, process.computeInstanceId),
                                 (os.getpid(), 1000 * MIB, nvml.nvmlDeviceGetGpuInstanceId(mig_device), 0))
        self.assertEqual(nvml.nvmlDeviceGetComputeRunningProcesses(other), [])
        [detail] = nvml.nvmlDeviceGetRunningProcessDetailList(device, nvml.nvmlProcessDetailList_v1, 0)
        self.assertEqual((detail.pid, detail.usedGpuMemory), (os.getpid(), 1000 * MIB))
        for none in (nvml.nvmlDeviceGetGraphicsRunningProcesses, nvml.nvmlDeviceGetMPSComputeRunningProcesses):
            self.assertEqual(none(device), [])
        self.assertEqual(nvml.nvmlDeviceGetMemoryInfo(mig_device).used, 1000 * MIB)
        self.assertIn("python", nvml.nvmlSystemGetProcessName(os.getpid()))
        self.assert_refused(nvml.NVML_ERROR_IN_USE, nvml.nvmlComputeInstanceDestroy, compute)
        self.assert_refused(nvml.NVML_ERROR_IN_USE, nvml.nvmlGpuInstanceDestroy, instance)
        self.verb("process", "remove", "--uuid", nvml.nvmlDeviceGetUUID(mig_device), "--pid", os.getpid())
        nvml.nvmlComputeInstanceDestroy(compute)
        nvml.nvmlGpuInstanceDestroy(instance)

    def test_on_a_whole_gpu(self):
        self.machine(MIXED)
        device = nvml.nvmlDeviceGetHandleByIndex(1)
        idle = nvml.nvmlDeviceGetPowerUsage(device), nvml.nvmlDeviceGetTemperature(device, 0)
        before = nvml.nvmlDeviceGetTotalEnergyConsumption(device)
        self.verb("process", "add", "--uuid", nvml.nvmlDeviceGetUUID(device), "--pid", 4711, "--memory-mib", 2000)
        [process] = nvml.nvmlDeviceGetComputeRunningProcesses(device)
        self.assertEqual((process.pid, process.gpuInstanceId, process.computeInstanceId), (4711, NO_INSTANCE, NO_INSTANCE))
        self.assertGreater(nvml.nvmlDeviceGetUtilizationRates(device).gpu, 0)
        self.assertGreater(nvml.nvmlDeviceGetPowerUsage(device), idle[0])
        self.assertGreater(nvml.nvmlDeviceGetTemperature(device, 0), idle[1])
        self.assertGreaterEqual(nvml.nvmlDeviceGetTotalEnergyConsumption(device), before)


class Trouble(ClientCase):
    def test_events(self):
        self.machine("fleet: [{gpu: A100-80GB, mig: true, count: 2}]\n")
        device, other = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(2))
        events = nvml.nvmlEventSetCreate()
        self.assert_refused(nvml.NVML_ERROR_TIMEOUT, nvml.nvmlEventSetWait, events, 0)
        supported = nvml.nvmlDeviceGetSupportedEventTypes(device)
        self.assert_refused(nvml.NVML_ERROR_NOT_SUPPORTED, nvml.nvmlDeviceRegisterEvents, device, 1 << 40, events)
        nvml.nvmlDeviceRegisterEvents(device, supported, events)
        self.verb("fault", "--gpu", 1, "--xid", 31)  # of a GPU that nobody asked about
        self.verb("fault", "--gpu", 0, "--xid", 31, "--times", 2)
        for _ in range(2):
            event = nvml.nvmlEventSetWait_v2(events, 20_000)
            self.assertEqual((event.eventType, event.eventData, event.gpuInstanceId, event.computeInstanceId),
                             (nvml.nvmlEventTypeXidCriticalError, 31, NO_INSTANCE, NO_INSTANCE))
        self.assert_refused(nvml.NVML_ERROR_TIMEOUT, nvml.nvmlEventSetWait_v2, events, 1)
        nvml.nvmlDeviceRegisterEvents(other, nvml.nvmlEventMigConfigChange, events)
        subprocess.run([sys.executable, "-c", GREEDY], stdout=subprocess.DEVNULL, check=True)
        for _ in range(14):  # seven GPU instances, seven compute instances
            self.assertEqual(next_event(events)[:2], (0, nvml.nvmlEventMigConfigChange))
        nvml.nvmlDeviceCreateGpuInstance(other, SEVENTH)
        self.assertEqual(next_event(events)[:2], (1, nvml.nvmlEventMigConfigChange))
        nvml.nvmlEventSetFree(events)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlEventSetWait_v2, events, 1)

    def test_an_event_ends_the_wait(self):
        self.machine(A100)
        events = nvml.nvmlEventSetCreate()
        nvml.nvmlDeviceRegisterEvents(nvml.nvmlDeviceGetHandleByIndex(0), nvml.nvmlEventMigConfigChange, events)
        other = subprocess.Popen([sys.executable, "-c", GREEDY], stdout=subprocess.DEVNULL)
        self.assertEqual(next_event(events, 60_000)[:2], (0, nvml.nvmlEventMigConfigChange))
        self.assertEqual(other.wait(60), 0)

    def test_a_lost_gpu(self):
        self.machine(MIXED)
        devices = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(3)]
        instance = nvml.nvmlDeviceCreateGpuInstance(devices[0], HALF)
        events = nvml.nvmlEventSetCreate()
        nvml.nvmlDeviceRegisterEvents(devices[0], nvml.nvmlEventTypeXidCriticalError, events)
        self.verb("fault", "--gpu", 0, "--xid", 79)
        self.assertEqual(nvml.nvmlEventSetWait_v2(events, 20_000).eventData, 79)
        for function, *arguments in [(nvml.nvmlDeviceGetMemoryInfo, devices[0]), (nvml.nvmlDeviceGetMigMode, devices[0]),
                                     (nvml.nvmlDeviceGetHandleByIndex, 0), (nvml.nvmlGpuInstanceGetInfo, instance),
                                     (nvml.nvmlDeviceCreateGpuInstance, devices[0], SEVENTH),
                                     (nvml.nvmlGpuInstanceDestroy, instance)]:
            self.assert_refused(nvml.NVML_ERROR_GPU_IS_LOST, function, *arguments)
        self.assertEqual(nvml.nvmlDeviceGetCount(), 3)
        self.assertEqual([nvml.nvmlDeviceGetIndex(device) for device in devices[1:]], [1, 2])
        self.verb("reset", "--gpu", 0)
        self.assertEqual(nvml.nvmlDeviceGetGpuInstanceRemainingCapacity(devices[0], HALF), 2)
        self.assert_refused(nvml.NVML_ERROR_INVALID_ARGUMENT, nvml.nvmlGpuInstanceGetInfo, instance)

    def test_faults(self):
        self.machine(A100 + "faults: [{gpu: 0, call: nvmlDeviceGetMemoryInfo, error: UNKNOWN, times: 2}]\n")
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        for _ in range(2):
            self.assert_refused(nvml.NVML_ERROR_UNKNOWN, nvml.nvmlDeviceGetMemoryInfo, device)
        nvml.nvmlDeviceGetMemoryInfo(device)
        self.verb("fault", "--gpu", 0, "--call", "create_gpu_instance", "--error", "IN_USE", "--after", 1)
        nvml.nvmlDeviceCreateGpuInstance(device, SEVENTH)
        self.assert_refused(nvml.NVML_ERROR_IN_USE, nvml.nvmlDeviceCreateGpuInstance, device, SEVENTH)
        self.assertEqual(len(instances(device, SEVENTH)), 1)
        self.verb("fault", "--gpu", 0, "--call", "create_gpu_instance", "--error", "UNKNOWN", "--done")
        self.assert_refused(nvml.NVML_ERROR_UNKNOWN, nvml.nvmlDeviceCreateGpuInstance, device, SEVENTH)
        self.assertEqual(len(instances(device, SEVENTH)), 2)
        self.verb("fault", "--gpu", 0, "--call", "destroy_gpu_instance", "--error", "UNKNOWN", "--done")
        made = nvml.nvmlDeviceGetGpuInstanceById(device, instances(device, SEVENTH)[0])
        self.assert_refused(nvml.NVML_ERROR_UNKNOWN, nvml.nvmlGpuInstanceDestroy, made)
        self.assertEqual(len(instances(device, SEVENTH)), 1)

    def test_latencies(self):
        self.machine(A100 + "latency_ms: {create_gpu_instance: 200, destroy_gpu_instance: 100, create_compute_instance: 150}\n")
        device = nvml.nvmlDeviceGetHandleByIndex(0)
        begun = time.monotonic()
        instance, compute, _ = slice_of(device, SEVENTH, C1)
        created = time.monotonic()
        self.assertGreaterEqual(created - begun, 0.35)
        nvml.nvmlComputeInstanceDestroy(compute)
        nvml.nvmlGpuInstanceDestroy(instance)
        self.assertGreaterEqual(time.monotonic() - created, 0.1)


if __name__ == "__main__":
    unittest.main()
