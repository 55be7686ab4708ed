#!/usr/bin/env python3
"""Our declarations of NVML agree with NVIDIA's headers: names, layouts, constants, parameters.

The headers come from package registries (go-nvml by `go mod download`, nvidia-nvml-dev and nvidia-ml-py by `pip download`)
into build/third_party, where the next run finds them; nothing of them is in the tree. What cannot be had is left out and
named; without any header the test is skipped (77).
"""

import functools
import os
import re
import shutil
import subprocess
import sys
import unittest

from function_lists import exported
from third_party import BINDING, GO_NVML, Absent, fetch_go_module, file_of_package

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.environ.get("BERTH_SOURCE_DIR") or os.path.dirname(os.path.dirname(HERE))
NEWEST = "nvidia-nvml-dev==13.4.92"
COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")

# Constants that count what a header knows: they are those of the newest.
OF_NEWEST_ALONE = {"kFieldCount", "kGpmMetricCount"}
CONSTANTS = {
    "kInitNoGpus": "NVML_INIT_FLAG_NO_GPUS",
    "kInitNoAttach": "NVML_INIT_FLAG_NO_ATTACH",
    "kInitForce": "NVML_INIT_FLAG_FORCE_INIT",
    "kValueNotAvailable": "NVML_VALUE_NOT_AVAILABLE",
    "kNoInstanceId": "NVML_GPU_INSTANCE_ID_ANY",
    "kUuidBytes": "NVML_DEVICE_UUID_BUFFER_SIZE",
    "kUuidV2Bytes": "NVML_DEVICE_UUID_V2_BUFFER_SIZE",
    "kUuidAsciiBytes": "NVML_DEVICE_UUID_ASCII_LEN",
    "kUuidBinaryBytes": "NVML_DEVICE_UUID_BINARY_LEN",
    "kNameBytes": "NVML_DEVICE_NAME_BUFFER_SIZE",
    "kNameV2Bytes": "NVML_DEVICE_NAME_V2_BUFFER_SIZE",
    "kSerialBytes": "NVML_DEVICE_SERIAL_BUFFER_SIZE",
    "kPartNumberBytes": "NVML_DEVICE_PART_NUMBER_BUFFER_SIZE",
    "kVbiosVersionBytes": "NVML_DEVICE_VBIOS_VERSION_BUFFER_SIZE",
    "kInforomVersionBytes": "NVML_DEVICE_INFOROM_VERSION_BUFFER_SIZE",
    "kDriverVersionBytes": "NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE",
    "kNvmlVersionBytes": "NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE",
    "kBusIdBytes": "NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE",
    "kBusIdLegacyBytes": "NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE",
    "kGspFirmwareVersionBytes": "NVML_GSP_FIRMWARE_VERSION_BUF_SIZE",
    "kGpmMetricsVersion": "NVML_GPM_METRICS_GET_VERSION",
    "kGpmSupportVersion": "NVML_GPM_SUPPORT_VERSION",
    "kGpmGraphicsActive": "NVML_GPM_METRIC_GRAPHICS_UTIL",
    "kGpmTensorActive": "NVML_GPM_METRIC_ANY_TENSOR_UTIL",
    "kGpmDramActive": "NVML_GPM_METRIC_DRAM_BW_UTIL",
    "kGpmPcieSent": "NVML_GPM_METRIC_PCIE_TX_PER_SEC",
    "kGpmPcieReceived": "NVML_GPM_METRIC_PCIE_RX_PER_SEC",
    "kGpmMetricCount": "NVML_GPM_METRIC_MAX",
    "kPcieSent": "NVML_PCIE_UTIL_TX_BYTES",
    "kPcieReceived": "NVML_PCIE_UTIL_RX_BYTES",
    "kPcieDirectionCount": "NVML_PCIE_UTIL_COUNT",
    "kLicenceOfVgpu": "NVML_GRID_LICENSE_FEATURE_CODE_VGPU",
    "kLicenceTextBytes": "NVML_GRID_LICENSE_BUFFER_SIZE",
    "kLicencesMax": "NVML_GRID_LICENSE_FEATURE_MAX_COUNT",
    "kUuidNone": "NVML_UUID_TYPE_NONE",
    "kUuidAscii": "NVML_UUID_TYPE_ASCII",
    "kUuidBinary": "NVML_UUID_TYPE_BINARY",
    "kMigDisabled": "NVML_DEVICE_MIG_DISABLE",
    "kMigEnabled": "NVML_DEVICE_MIG_ENABLE",
    "kGpuInstanceProfile1Slice": "NVML_GPU_INSTANCE_PROFILE_1_SLICE",
    "kGpuInstanceProfile2Slice": "NVML_GPU_INSTANCE_PROFILE_2_SLICE",
    "kGpuInstanceProfile3Slice": "NVML_GPU_INSTANCE_PROFILE_3_SLICE",
    "kGpuInstanceProfile4Slice": "NVML_GPU_INSTANCE_PROFILE_4_SLICE",
    "kGpuInstanceProfile7Slice": "NVML_GPU_INSTANCE_PROFILE_7_SLICE",
    "kGpuInstanceProfile8Slice": "NVML_GPU_INSTANCE_PROFILE_8_SLICE",
    "kGpuInstanceProfile6Slice": "NVML_GPU_INSTANCE_PROFILE_6_SLICE",
    "kGpuInstanceProfile1SliceRev1": "NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV1",
    "kGpuInstanceProfile2SliceRev1": "NVML_GPU_INSTANCE_PROFILE_2_SLICE_REV1",
    "kGpuInstanceProfile1SliceRev2": "NVML_GPU_INSTANCE_PROFILE_1_SLICE_REV2",
    "kGpuInstanceProfile1SliceGfx": "NVML_GPU_INSTANCE_PROFILE_1_SLICE_GFX",
    "kGpuInstanceProfile2SliceGfx": "NVML_GPU_INSTANCE_PROFILE_2_SLICE_GFX",
    "kGpuInstanceProfile4SliceGfx": "NVML_GPU_INSTANCE_PROFILE_4_SLICE_GFX",
    "kGpuInstanceProfile1SliceNoMe": "NVML_GPU_INSTANCE_PROFILE_1_SLICE_NO_ME",
    "kGpuInstanceProfile2SliceNoMe": "NVML_GPU_INSTANCE_PROFILE_2_SLICE_NO_ME",
    "kGpuInstanceProfile1SliceAllMe": "NVML_GPU_INSTANCE_PROFILE_1_SLICE_ALL_ME",
    "kGpuInstanceProfile2SliceAllMe": "NVML_GPU_INSTANCE_PROFILE_2_SLICE_ALL_ME",
    "kGpuInstanceProfile3SliceGfx": "NVML_GPU_INSTANCE_PROFILE_3_SLICE_GFX",
    "kGpuInstanceProfileCount": "NVML_GPU_INSTANCE_PROFILE_COUNT",
    "kGpuInstanceP2p": "NVML_GPU_INSTANCE_PROFILE_CAPS_P2P",
    "kGpuInstanceGfx": "NVML_GPU_INSTANCE_PROFILE_CAPS_GFX",
    "kComputeInstanceGfx": "NVML_COMPUTE_INSTANCE_PROFILE_CAPS_GFX",
    "kComputeInstanceProfile1Slice": "NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE",
    "kComputeInstanceProfile2Slice": "NVML_COMPUTE_INSTANCE_PROFILE_2_SLICE",
    "kComputeInstanceProfile3Slice": "NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE",
    "kComputeInstanceProfile4Slice": "NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE",
    "kComputeInstanceProfile7Slice": "NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE",
    "kComputeInstanceProfile8Slice": "NVML_COMPUTE_INSTANCE_PROFILE_8_SLICE",
    "kComputeInstanceProfile6Slice": "NVML_COMPUTE_INSTANCE_PROFILE_6_SLICE",
    "kComputeInstanceProfile1SliceRev1": "NVML_COMPUTE_INSTANCE_PROFILE_1_SLICE_REV1",
    "kComputeInstanceProfile7SliceNvl": "NVML_COMPUTE_INSTANCE_PROFILE_7_SLICE_NVL",
    "kComputeInstanceProfileCount": "NVML_COMPUTE_INSTANCE_PROFILE_COUNT",
    "kComputeInstanceEngineShared": "NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED",
    "kComputeInstanceEngineCount": "NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_COUNT",
    "kRecoveryActionNone": "NVML_GPU_RECOVERY_ACTION_NONE",
    "kRecoveryActionGpuReset": "NVML_GPU_RECOVERY_ACTION_GPU_RESET",
    "kRecoveryActionNodeReboot": "NVML_GPU_RECOVERY_ACTION_NODE_REBOOT",
    "kRecoveryActionDrainP2p": "NVML_GPU_RECOVERY_ACTION_DRAIN_P2P",
    "kRecoveryActionDrainAndReset": "NVML_GPU_RECOVERY_ACTION_DRAIN_AND_RESET",
    "kRecoveryActionRecoverImexDomain": "NVML_GPU_RECOVERY_ACTION_RECOVER_IMEX_DOMAIN",
    "kRecoveryActionBusReset": "NVML_GPU_RECOVERY_ACTION_BUS_RESET",
    "kRecoveryActionSystemReboot": "NVML_GPU_RECOVERY_ACTION_SYSTEM_REBOOT",
    "kEventNone": "nvmlEventTypeNone",
    "kEventSingleBitEcc": "nvmlEventTypeSingleBitEccError",
    "kEventDoubleBitEcc": "nvmlEventTypeDoubleBitEccError",
    "kEventPerformanceState": "nvmlEventTypePState",
    "kEventXid": "nvmlEventTypeXidCriticalError",
    "kEventClock": "nvmlEventTypeClock",
    "kEventPowerSource": "nvmlEventTypePowerSourceChange",
    "kEventMigConfig": "nvmlEventMigConfigChange",
    "kEventSingleBitEccStorm": "nvmlEventTypeSingleBitEccErrorStorm",
    "kEventDramRetirement": "nvmlEventTypeDramRetirementEvent",
    "kEventDramRetirementFailure": "nvmlEventTypeDramRetirementFailure",
    "kEventNonFatalPoison": "nvmlEventTypeNonFatalPoisonError",
    "kEventFatalPoison": "nvmlEventTypeFatalPoisonError",
    "kEventGpuUnavailable": "nvmlEventTypeGpuUnavailableError",
    "kEventRecoveryAction": "nvmlEventTypeGpuRecoveryAction",
    "kEventAll": "nvmlEventTypeAll",
    "kFieldEccCurrent": "NVML_FI_DEV_ECC_CURRENT",
    "kFieldEccPending": "NVML_FI_DEV_ECC_PENDING",
    "kFieldEccSingleBitVolatile": "NVML_FI_DEV_ECC_SBE_VOL_TOTAL",
    "kFieldEccDoubleBitVolatile": "NVML_FI_DEV_ECC_DBE_VOL_TOTAL",
    "kFieldEccSingleBitAggregate": "NVML_FI_DEV_ECC_SBE_AGG_TOTAL",
    "kFieldEccDoubleBitAggregate": "NVML_FI_DEV_ECC_DBE_AGG_TOTAL",
    "kFieldRetiredSingleBit": "NVML_FI_DEV_RETIRED_SBE",
    "kFieldRetiredDoubleBit": "NVML_FI_DEV_RETIRED_DBE",
    "kFieldRetiredPending": "NVML_FI_DEV_RETIRED_PENDING",
    "kFieldMemoryTemperature": "NVML_FI_DEV_MEMORY_TEMP",
    "kFieldEnergy": "NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "kFieldRetiredPendingSingleBit": "NVML_FI_DEV_RETIRED_PENDING_SBE",
    "kFieldRetiredPendingDoubleBit": "NVML_FI_DEV_RETIRED_PENDING_DBE",
    "kFieldNvLinkSent": "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX",
    "kFieldNvLinkReceived": "NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX",
    "kFieldRemappedCorrectable": "NVML_FI_DEV_REMAPPED_COR",
    "kFieldRemappedUncorrectable": "NVML_FI_DEV_REMAPPED_UNC",
    "kFieldRemappedPending": "NVML_FI_DEV_REMAPPED_PENDING",
    "kFieldRemappedFailure": "NVML_FI_DEV_REMAPPED_FAILURE",
    "kFieldIsMigResetless": "NVML_FI_DEV_IS_RESETLESS_MIG_SUPPORTED",
    "kFieldPowerAverage": "NVML_FI_DEV_POWER_AVERAGE",
    "kFieldPowerInstant": "NVML_FI_DEV_POWER_INSTANT",
    "kFieldIsMigQueryModeIndependent": "NVML_FI_DEV_IS_MIG_MODE_INDEPENDENT_MIG_QUERY_CAPABLE",
    "kFieldRecoveryAction": "NVML_FI_DEV_GET_GPU_RECOVERY_ACTION",
    "kFieldCount": "NVML_FI_MAX",
    "kValueDouble": "NVML_VALUE_TYPE_DOUBLE",
    "kValueUnsignedInt": "NVML_VALUE_TYPE_UNSIGNED_INT",
    "kValueUnsignedLong": "NVML_VALUE_TYPE_UNSIGNED_LONG",
    "kValueUnsignedLongLong": "NVML_VALUE_TYPE_UNSIGNED_LONG_LONG",
    "kValueSignedLongLong": "NVML_VALUE_TYPE_SIGNED_LONG_LONG",
    "kValueSignedInt": "NVML_VALUE_TYPE_SIGNED_INT",
    "kValueUnsignedShort": "NVML_VALUE_TYPE_UNSIGNED_SHORT",
    "kDisabled": "NVML_FEATURE_DISABLED",
    "kEnabled": "NVML_FEATURE_ENABLED",
    "kClockGraphics": "NVML_CLOCK_GRAPHICS",
    "kClockSm": "NVML_CLOCK_SM",
    "kClockMemory": "NVML_CLOCK_MEM",
    "kClockVideo": "NVML_CLOCK_VIDEO",
    "kClockCount": "NVML_CLOCK_COUNT",
    "kClockIdCurrent": "NVML_CLOCK_ID_CURRENT",
    "kClockIdCount": "NVML_CLOCK_ID_COUNT",
    "kClockReasonNone": "nvmlClocksEventReasonNone",
    "kClockReasonIdle": "nvmlClocksEventReasonGpuIdle",
    "kClockReasonPowerCap": "nvmlClocksEventReasonSwPowerCap",
    "kClockReasonHeat": "nvmlClocksEventReasonSwThermalSlowdown",
    "kPerformanceState0": "NVML_PSTATE_0",
    "kPerformanceStateUnknown": "NVML_PSTATE_UNKNOWN",
    "kTemperatureGpu": "NVML_TEMPERATURE_GPU",
    "kTemperatureThresholdShutdown": "NVML_TEMPERATURE_THRESHOLD_SHUTDOWN",
    "kTemperatureThresholdSlowdown": "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN",
    "kTemperatureThresholdMemoryMax": "NVML_TEMPERATURE_THRESHOLD_MEM_MAX",
    "kTemperatureThresholdGpuMax": "NVML_TEMPERATURE_THRESHOLD_GPU_MAX",
    "kTemperatureThresholdCount": "NVML_TEMPERATURE_THRESHOLD_COUNT",
    "kMemoryErrorCorrected": "NVML_MEMORY_ERROR_TYPE_CORRECTED",
    "kMemoryErrorUncorrected": "NVML_MEMORY_ERROR_TYPE_UNCORRECTED",
    "kMemoryErrorCount": "NVML_MEMORY_ERROR_TYPE_COUNT",
    "kEccVolatile": "NVML_VOLATILE_ECC",
    "kEccAggregate": "NVML_AGGREGATE_ECC",
    "kEccCounterCount": "NVML_ECC_COUNTER_TYPE_COUNT",
    "kMemoryL1Cache": "NVML_MEMORY_LOCATION_L1_CACHE",
    "kMemoryL2Cache": "NVML_MEMORY_LOCATION_L2_CACHE",
    "kMemoryDram": "NVML_MEMORY_LOCATION_DRAM",
    "kMemoryRegisterFile": "NVML_MEMORY_LOCATION_REGISTER_FILE",
    "kMemoryTexture": "NVML_MEMORY_LOCATION_TEXTURE_MEMORY",
    "kMemoryTextureShared": "NVML_MEMORY_LOCATION_TEXTURE_SHM",
    "kMemoryControlBlock": "NVML_MEMORY_LOCATION_CBU",
    "kMemorySram": "NVML_MEMORY_LOCATION_SRAM",
    "kMemoryLocationCount": "NVML_MEMORY_LOCATION_COUNT",
    "kRetiredBySingleBit": "NVML_PAGE_RETIREMENT_CAUSE_MULTIPLE_SINGLE_BIT_ECC_ERRORS",
    "kRetiredByDoubleBit": "NVML_PAGE_RETIREMENT_CAUSE_DOUBLE_BIT_ECC_ERROR",
    "kRetiredCauseCount": "NVML_PAGE_RETIREMENT_CAUSE_COUNT",
    "kBrandTesla": "NVML_BRAND_TESLA",
    "kBrandNvidiaRtx": "NVML_BRAND_NVIDIA_RTX",
    "kBrandNvidia": "NVML_BRAND_NVIDIA",
    "kArchitectureVolta": "NVML_DEVICE_ARCH_VOLTA",
    "kArchitectureTuring": "NVML_DEVICE_ARCH_TURING",
    "kArchitectureAmpere": "NVML_DEVICE_ARCH_AMPERE",
    "kArchitectureAda": "NVML_DEVICE_ARCH_ADA",
    "kArchitectureHopper": "NVML_DEVICE_ARCH_HOPPER",
    "kArchitectureBlackwell": "NVML_DEVICE_ARCH_BLACKWELL",
    "kArchitectureUnknown": "NVML_DEVICE_ARCH_UNKNOWN",
    "kBusPcie": "NVML_BUS_TYPE_PCIE",
    "kProcessCompute": "NVML_PROCESS_MODE_COMPUTE",
    "kProcessGraphics": "NVML_PROCESS_MODE_GRAPHICS",
    "kProcessMps": "NVML_PROCESS_MODE_MPS",
    "kProcessAll": "NVML_PROCESS_MODE_ALL",
    "kProcessModeCount": "NVML_PROCESS_MODE_MAX",
    "kAddressingNone": "NVML_DEVICE_ADDRESSING_MODE_NONE",
    "kAddressingHmm": "NVML_DEVICE_ADDRESSING_MODE_HMM",
    "kAddressingAts": "NVML_DEVICE_ADDRESSING_MODE_ATS",
    "kComputeDefault": "NVML_COMPUTEMODE_DEFAULT",
    "kComputeProhibited": "NVML_COMPUTEMODE_PROHIBITED",
    "kComputeExclusiveProcess": "NVML_COMPUTEMODE_EXCLUSIVE_PROCESS",
    "kVirtualizationNone": "NVML_GPU_VIRTUALIZATION_MODE_NONE",
    "kVirtualizationPassthrough": "NVML_GPU_VIRTUALIZATION_MODE_PASSTHROUGH",
    "kVirtualizationVgpu": "NVML_GPU_VIRTUALIZATION_MODE_VGPU",
    "kVirtualizationHostVgpu": "NVML_GPU_VIRTUALIZATION_MODE_HOST_VGPU",
    "kVirtualizationHostVsga": "NVML_GPU_VIRTUALIZATION_MODE_HOST_VSGA",
    "kTopologyInternal": "NVML_TOPOLOGY_INTERNAL",
    "kTopologySingle": "NVML_TOPOLOGY_SINGLE",
    "kTopologyMultiple": "NVML_TOPOLOGY_MULTIPLE",
    "kTopologyHostBridge": "NVML_TOPOLOGY_HOSTBRIDGE",
    "kTopologyNode": "NVML_TOPOLOGY_NODE",
    "kTopologySystem": "NVML_TOPOLOGY_SYSTEM",
}
OWN_CONSTANTS = {"kRecoveryActionCount", "kGpmMetricsMin", "kScopeAllLinks"}  # NVIDIA has none for them

# Tables of names.cc and the prefix of their names in C.
NAME_TABLES = {
    "kGpuInstanceProfiles": "NVML_GPU_INSTANCE_PROFILE_",
    "kComputeInstanceProfiles": "NVML_COMPUTE_INSTANCE_PROFILE_",
    "kRecoveryActions": "NVML_GPU_RECOVERY_ACTION_",
}

PCI = "domain=domain bus=bus device=device device_id=pciDeviceId subsystem_id=pciSubSystemId "
BYTES = "total_bytes=total free_bytes=free used_bytes=used "
PROCESS = "pid=pid memory_bytes=usedGpuMemory "
INSTANCE_IDS = "gpu_instance_id=gpuInstanceId compute_instance_id=computeInstanceId "
SHARED_ENGINES = ("multiprocessors=multiprocessorCount copy_engines=sharedCopyEngineCount decoders=sharedDecoderCount "
                  "encoders=sharedEncoderCount jpeg_engines=sharedJpegCount ofa_engines=sharedOfaCount ")
GPU_SLICES = ("slices=sliceCount instances_max=instanceCount multiprocessors=multiprocessorCount "
              "copy_engines=copyEngineCount decoders=decoderCount encoders=encoderCount jpeg_engines=jpegCount "
              "ofa_engines=ofaCount memory_mib=memorySizeMB ")
COMPUTE_SLICES = "slices=sliceCount instances_max=instanceCount " + SHARED_ENGINES
EVENT = "device=device type=eventType data=eventData "
DESCRIPTION = "device=device gpu_instance=gpuInstance id=id profile_id=profileId "
# Our structure -> NVIDIA's, and each member of ours = NVIDIA's.
STRUCTURES = {
    "PciPlaceV3": ("nvmlPciInfo_t", "bus_id_legacy=busIdLegacy " + PCI + "bus_id=busId"),
    "PciPlaceExtendedV1": ("nvmlPciInfoExt_v1_t",
                           "version=version " + PCI + "base_class=baseClass sub_class=subClass bus_id=busId"),
    "UuidValue": ("nvmlUUIDValue_t", "ascii=str binary=bytes"),
    "UuidV1": ("nvmlUUID_v1_t", "version=version type=type value=value"),
    "MemoryV1": ("nvmlMemory_t", BYTES),
    "MemoryV2": ("nvmlMemory_v2_t", "version=version reserved_bytes=reserved " + BYTES),
    "Bar1Memory": ("nvmlBAR1Memory_t", "total_bytes=bar1Total free_bytes=bar1Free used_bytes=bar1Used"),
    "Utilization": ("nvmlUtilization_t", "gpu_percent=gpu memory_percent=memory"),
    "TemperatureV1": ("nvmlTemperature_v1_t", "version=version sensor=sensorType celsius=temperature"),
    "RowRemapHistogram": ("nvmlRowRemapperHistogramValues_t", "max=max high=high partial=partial low=low none=none"),
    "RemappedRowsV2": ("nvmlRemappedRowsInfo_v2_t",
                       "correctable_active=corrActiveRemaps correctable_inactive=corrInactiveRemaps "
                       "uncorrectable_active=uncActiveRemaps uncorrectable_inactive=uncInactiveRemaps "
                       "is_pending=bPending has_failed=bFailureOccurred"),
    "AddressingModeV1": ("nvmlDeviceAddressingMode_v1_t", "version=version mode=value"),
    "DriverBranchV1": ("nvmlSystemDriverBranchInfo_v1_t", "version=version branch=branch"),
    "Value": ("nvmlValue_t", "real=dVal signed_int=siVal unsigned_int=uiVal unsigned_long=ulVal "
                             "unsigned_long_long=ullVal signed_long_long=sllVal unsigned_short=usVal"),
    "FieldValue": ("nvmlFieldValue_t", "field_id=fieldId scope_id=scopeId measured_us=timestamp latency_us=latencyUsec "
                                       "value_type=valueType code=nvmlReturn value=value"),
    "ProcessV1": ("nvmlProcessInfo_v1_t", PROCESS),
    "ProcessV2": ("nvmlProcessInfo_t", PROCESS + INSTANCE_IDS),
    "ProcessDetailV1": ("nvmlProcessDetail_v1_t",
                        PROCESS + INSTANCE_IDS + "protected_memory_bytes=usedGpuCcProtectedMemory"),
    "ProcessDetailListV1": ("nvmlProcessDetailList_v1_t",
                            "version=version mode=mode count=numProcArrayEntries processes=procArray"),
    "LicenceExpiry": ("nvmlGridLicenseExpiry_t",
                      "year=year month=month day=day hour=hour minute=min second=sec status=status"),
    "LicensableFeature": ("nvmlGridLicensableFeature_t",
                          "feature=featureCode is_licensed=featureState info=licenseInfo product=productName "
                          "is_enabled=featureEnabled expiry=licenseExpiry"),
    "LicensableFeatures": ("nvmlGridLicensableFeatures_t",
                           "is_supported=isGridLicenseSupported count=licensableFeaturesCount "
                           "features=gridLicensableFeatures"),
    "EventV2": ("nvmlEventData_t", EVENT + INSTANCE_IDS),
    "GpmMetricInfo": ("decltype(nvmlGpmMetric_t::metricInfo)", "short_name=shortName long_name=longName unit=unit"),
    "GpmMetric": ("nvmlGpmMetric_t", "id=metricId code=nvmlReturn value=value info=metricInfo"),
    "GpmSupport": ("nvmlGpmSupport_t", "version=version is_supported=isSupportedDevice"),
    "AttributesV2": ("nvmlDeviceAttributes_t",
                     SHARED_ENGINES + "gpu_instance_slices=gpuInstanceSliceCount "
                     "compute_instance_slices=computeInstanceSliceCount memory_mib=memorySizeMB"),
    "GpuInstancePlacement": ("nvmlGpuInstancePlacement_t", "start=start size=size"),
    "ComputeInstancePlacement": ("nvmlComputeInstancePlacement_t", "start=start size=size"),
    "GpuInstanceProfileV1": ("nvmlGpuInstanceProfileInfo_t", "id=id is_p2p_supported=isP2pSupported " + GPU_SLICES),
    "GpuInstanceProfileV2": ("nvmlGpuInstanceProfileInfo_v2_t",
                             "version=version id=id is_p2p_supported=isP2pSupported " + GPU_SLICES + "name=name"),
    "GpuInstanceProfileV3": ("nvmlGpuInstanceProfileInfo_v3_t",
                             "version=version id=id " + GPU_SLICES + "name=name capabilities=capabilities"),
    "GpuInstanceDescription": ("nvmlGpuInstanceInfo_t", "device=device id=id profile_id=profileId placement=placement"),
    "ComputeInstanceProfileV1": ("nvmlComputeInstanceProfileInfo_t", "id=id " + COMPUTE_SLICES),
    "ComputeInstanceProfileV2": ("nvmlComputeInstanceProfileInfo_v2_t",
                                 "version=version id=id " + COMPUTE_SLICES + "name=name"),
    "ComputeInstanceProfileV3": ("nvmlComputeInstanceProfileInfo_v3_t",
                                 "version=version id=id " + COMPUTE_SLICES + "name=name capabilities=capabilities"),
    "ComputeInstanceDescriptionV2": ("nvmlComputeInstanceInfo_t", DESCRIPTION + "placement=placement"),
}
# Shorter structures that old functions were made for; the header has only their successors, which begin in the same way. A
# member that is no longer there has no name; [] marks an array that has become longer.
OLD_STRUCTURES = {
    "PciPlaceV2": ("nvmlPciInfo_t", "bus_id=busIdLegacy " + PCI + "reserved="),
    "EventV1": ("nvmlEventData_t", EVENT),
    "AttributesV1": ("nvmlDeviceAttributes_t", SHARED_ENGINES),
    "ComputeInstanceDescriptionV1": ("nvmlComputeInstanceInfo_t", DESCRIPTION),
    "GpmMetrics": ("nvmlGpmMetricsGet_t",
                   "version=version count=numMetrics first=sample1 second=sample2 metrics=metrics[]"),
}

# Compares functions by the parameters that the calling conventions of C see, and what these point to.
CHECKS = """
#include <concepts>
#include <cstddef>
#include <type_traits>

#include "gpu/nvml_abi/abi.h"

namespace berth::nvml_abi {

template <typename T>
concept Complete = requires { sizeof(T); };

template <typename T>
concept Old = std::same_as<T, PciPlaceV2> || std::same_as<T, EventV1> || std::same_as<T, AttributesV1> ||
              std::same_as<T, ComputeInstanceDescriptionV1> || std::same_as<T, GpmMetrics>;

template <typename Ours, typename Theirs>
constexpr bool agree() {
  if constexpr (std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>) {
    using OurTarget = std::remove_pointer_t<Ours>;
    using TheirTarget = std::remove_pointer_t<Theirs>;
    if (std::is_const_v<OurTarget> != std::is_const_v<TheirTarget>) return false;
    if constexpr (Old<OurTarget>) return sizeof(OurTarget) < sizeof(TheirTarget);
    if constexpr (Complete<OurTarget> != Complete<TheirTarget>) return false;
    if constexpr (Complete<OurTarget>) return agree<std::remove_const_t<OurTarget>, std::remove_const_t<TheirTarget>>();
    return true;
  } else {
    if (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs> || sizeof(Ours) != sizeof(Theirs)) return false;
    if (std::is_integral_v<Ours> && std::is_integral_v<Theirs>) return std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
    return std::is_class_v<Ours> == std::is_class_v<Theirs>;
  }
}

template <typename Ours, typename Theirs>
struct AgreeAll : std::false_type {};
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct AgreeAll<OurResult (*)(Ours...), TheirResult (*)(Theirs...)>
    : std::bool_constant<(agree<OurResult, TheirResult>() && ... && agree<Ours, Theirs>())> {};

"""


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def header_of_go():
    return os.path.join(fetch_go_module(GO_NVML), "gen", "nvml", "nvml.h")


@functools.cache
def sources():
    """What could be had: name -> path; and the reasons for the others."""
    found, reasons = {}, []
    for name, fetch in ((GO_NVML, header_of_go),
                        (NEWEST, lambda: file_of_package(NEWEST, "/nvml.h")),
                        (BINDING, lambda: file_of_package(BINDING, "pynvml.py"))):
        try:
            found[name] = fetch()
        except Absent as reason:
            reasons.append(f"{name}: {reason}")
    return found, reasons


def headers():
    found, _ = sources()
    return {name: found[name] for name in (GO_NVML, NEWEST) if name in found}


@functools.cache
def code_of(path):
    """A C file without comments, each space one blank, lines joined where they are continued."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", read(path), flags=re.DOTALL).replace("\\\n", " ")
    return re.sub(r"[ \t]+", " ", text)


def functions_of(path):
    """The names that a header declares as functions, and those that it only makes other names of (old -> new)."""
    code = code_of(path)
    declared = set(re.findall(r"\bDECLDIR (?:char ?\* ?)?(nvml\w+) ?\(", code))
    defined = re.findall(r"^ ?# ?define (nvml\w+) (nvml\w+) ?$", code, re.MULTILINE)
    return declared, {old: new for old, new in defined if new in declared}


def members_of_structures():
    """Each structure of abi.h and its members."""
    code = code_of(os.path.join(HERE, "abi.h"))
    return {name: re.findall(r"(\w+)(?:\[\w+\])?(?: = [^;]*)?;", body)
            for name, body in re.findall(r"^(?:struct|union) (\w+) \{\n(.*?)^\};", code, re.DOTALL | re.MULTILINE)}


def table_of(name):
    """The texts of a table in names.cc, in order."""
    body = re.search(rf"constexpr std::array {name} = \{{(.*?)\}};", code_of(os.path.join(HERE, "names.cc")), re.DOTALL)[1]
    return re.findall(r'"(\w+)"sv', body)


def codes():
    """Our enumerator and the name in C of each return code."""
    return re.findall(r"\{Code::(k\w+), \"(NVML_\w+)\"", code_of(os.path.join(HERE, "codes.cc")))


class Names(unittest.TestCase):
    def test_nothing_is_missing(self):
        for name, path in headers().items():
            with self.subTest(header=name):
                declared, renamed = functions_of(path)
                self.assertGreater(len(declared), 400)
                self.assertIn("nvmlErrorString", declared)
                self.assertIn("nvmlGetBlacklistDeviceCount", renamed)
                self.assertEqual(sorted(declared.union(renamed) - exported()), [])

    def test_nothing_is_invented(self):
        if NEWEST not in headers():
            self.skipTest(f"only {NEWEST} knows all names")
        known = set().union(*(names for path in headers().values() for names in functions_of(path)))
        self.assertEqual(sorted(exported() - known), [])

    def test_the_binding_of_python_finds_all(self):
        found, _ = sources()
        if BINDING not in found:
            self.skipTest(f"{BINDING} is not there")
        wanted = set(re.findall(r"_nvmlGetFunctionPointer\([\"'](nvml\w+)[\"']", read(found[BINDING])))
        self.assertGreater(len(wanted), 300)
        self.assertEqual(sorted(wanted - exported()), [])


class Tables(unittest.TestCase):
    """The tables above cover all that is declared, so that nothing escapes the comparison with the headers."""

    def test_constants(self):
        ours = re.findall(r"inline constexpr \S+ (k\w+) =", code_of(os.path.join(HERE, "constants.h")))
        self.assertEqual(sorted(ours), sorted([*CONSTANTS, *OWN_CONSTANTS]))

    def test_structures(self):
        table = {name: re.findall(r"(\w+)=", pairs) for name, (_, pairs) in (STRUCTURES | OLD_STRUCTURES).items()}
        ours = members_of_structures()
        self.assertEqual(sorted(ours), sorted(table))
        for name, members in ours.items():
            self.assertEqual(sorted(members), sorted(table[name]), name)

    def test_codes(self):
        path = list(headers().values())[-1]
        theirs = re.search(r"enum nvmlReturn_enum\s*\{(.*?)\}", code_of(path), re.DOTALL)[1]
        names = [name for _, name in codes() if name != "NVML_ERROR_UNKNOWN"]
        self.assertEqual(re.findall(r"\bNVML_\w+", theirs), [*names, "NVML_ERROR_UNKNOWN"])

    def test_recovery_actions(self):
        path = list(headers().values())[-1]
        theirs = set(re.findall(r"\bNVML_GPU_RECOVERY_ACTION_(\w+)", code_of(path)))
        self.assertEqual(sorted(theirs - set(table_of("kRecoveryActions"))), [])


def assertions(path, is_newest, structures):
    """The C++ that compares abi.h with one header. Names that an older header does not have are left out."""
    known = set(re.findall(r"\w+", code_of(path)))

    def is_known(name):
        return is_newest or name in known

    declared, renamed = functions_of(path)
    # Then the header also declares the old functions that have a successor, and renames none.
    lines = ["#define NVML_NO_UNVERSIONED_FUNC_DEFS", f'#include "{path}"']
    lines += [f"#define {old} {new}" for old, new in renamed.items() if old not in declared]
    lines.append(CHECKS)
    for ours, theirs in CONSTANTS.items():
        if is_known(theirs) and (is_newest or ours not in OF_NEWEST_ALONE):
            lines.append(f'static_assert({ours} == static_cast<decltype({ours})>({theirs}), "{ours}");')
    for ours, theirs in codes():
        if is_known(theirs):
            lines.append(f'static_assert(static_cast<int>(Code::{ours}) == {theirs}, "{ours}");')
    for table, prefix in NAME_TABLES.items():
        lines += [f'static_assert({prefix}{end} == {number}, "{end} of {table}");'
                  for number, end in enumerate(table_of(table)) if is_known(prefix + end)]
    for ours, (theirs, pairs) in structures.items():
        lines += layout_assertions(ours, theirs, pairs)
    lines += ['#define BERTH_NVML_FUNCTION(name, parameters) \\',
              "  static_assert(AgreeAll<Code(*) parameters, decltype(&::name)>::value, #name);",
              '#define BERTH_NVML_TEXT_FUNCTION(name, parameters) \\',
              "  static_assert(AgreeAll<const char*(*) parameters, decltype(&::name)>::value, #name);",
              '#include "gpu/nvml_abi/simulated.inc"', "}  // namespace berth::nvml_abi", ""]
    return "\n".join(lines)


def layout_assertions(ours, theirs, pairs):
    relation = "<" if ours in OLD_STRUCTURES else "=="
    yield f'static_assert(sizeof({ours}) {relation} sizeof({theirs}), "size of {ours}");'
    yield f'static_assert(alignof({ours}) <= alignof({theirs}), "alignment of {ours}");'
    for our, their, is_longer in re.findall(r"(\w+)=(\w+)(\[\])?", pairs):
        yield f'static_assert(offsetof({ours}, {our}) == offsetof({theirs}, {their}), "place of {ours}.{our}");'
        one = "[0]" if is_longer else ""
        yield f'static_assert(sizeof({ours}::{our}{one}) == sizeof({theirs}::{their}{one}), "size of {ours}.{our}");'


def compile_text(text):
    """What the compiler says; empty if nothing is wrong."""
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-Wno-deprecated-declarations", "-I", os.path.join(ROOT, "src")]
    result = subprocess.run([*command, "-x", "c++", "-"], input=text, capture_output=True, text=True, timeout=60, check=False)
    return "" if result.returncode == 0 else result.stderr


class Layouts(unittest.TestCase):
    def setUp(self):
        if not COMPILER:
            self.skipTest("there is no C++ compiler")

    def test_each_header(self):
        for name, path in headers().items():
            with self.subTest(header=name):
                self.assertEqual(compile_text(assertions(path, name == NEWEST, STRUCTURES | OLD_STRUCTURES)), "")

    def test_a_difference_is_seen(self):
        name, path = list(headers().items())[-1]
        wrong = {"MemoryV1": ("nvmlMemory_t", "free_bytes=used"), "EventV2": ("nvmlEventData_t", "type=gpuInstanceId")}
        said = compile_text(assertions(path, name == NEWEST, wrong))
        for complaint in ("place of MemoryV1.free_bytes", "place of EventV2.type", "size of EventV2.type"):
            self.assertIn(complaint, said)
        self.assertNotIn("place of EventV2.data", said)


def main():
    found, reasons = sources()
    for reason in reasons:
        print(f"not there: {reason}")
    if not headers():
        print("skipped: no header can be had")
        return 77
    unittest.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
