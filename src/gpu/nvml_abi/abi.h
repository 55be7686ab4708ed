/// The NVML interface that is simulated or called: handles and structures; `simulated.inc` has the functions.
///
/// The layouts are those of C on 64-bit Linux, for every version that a simulated function accepts. Members have our
/// names and units; their order, sizes and offsets are NVIDIA's. A member `version` must be set to `version_of` before
/// each call, as libraries overwrite it. Text is zero-terminated.
///
/// Old functions were made for shorter structures than today's header declares for them, and old callers still have the
/// shorter ones: `PciPlaceV2`, `EventV1`, `AttributesV1`, `ComputeInstanceDescriptionV1`, `GpmMetrics`. Nothing may be
/// written beyond their end.
#pragma once

#include <cstdint>

#include "gpu/nvml_abi/codes.h"
#include "gpu/nvml_abi/constants.h"

namespace berth::nvml_abi {

/// The types behind handles are opaque. A handle of a MIG device is a `Device`, too.
struct DeviceObject;
struct GpuInstanceObject;
struct ComputeInstanceObject;
struct EventSetObject;
struct GpmSampleObject;
using Device = DeviceObject*;
using GpuInstance = GpuInstanceObject*;
using ComputeInstance = ComputeInstanceObject*;
using EventSet = EventSetObject*;
using GpmSample = GpmSampleObject*;

/// The value of `version` for version n of this structure, the N in its name.
template <typename T>
constexpr std::uint32_t version_of(std::uint32_t n) {
  return static_cast<std::uint32_t>(sizeof(T)) | n << 24U;
}

// Where a GPU is on the PCI bus. `device_id` is device << 16 | vendor.

/// Of nvmlDeviceGetPciInfo and nvmlDeviceGetPciInfo_v2. Callers of the first may have no space after `device_id`.
struct PciPlaceV2 {
  char bus_id[kBusIdLegacyBytes] = {};  ///< "0000:07:00.0"
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t device_id = 0;
  std::uint32_t subsystem_id = 0;
  std::uint32_t reserved[4] = {};
};

/// Of nvmlDeviceGetPciInfo_v3.
struct PciPlaceV3 {
  char bus_id_legacy[kBusIdLegacyBytes] = {};  ///< "0000:07:00.0"
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t device_id = 0;
  std::uint32_t subsystem_id = 0;
  char bus_id[kBusIdBytes] = {};  ///< "00000000:07:00.0"
};

struct PciPlaceExtendedV1 {
  std::uint32_t version = 0;
  std::uint32_t domain = 0;
  std::uint32_t bus = 0;
  std::uint32_t device = 0;
  std::uint32_t device_id = 0;
  std::uint32_t subsystem_id = 0;
  std::uint32_t base_class = 0;
  std::uint32_t sub_class = 0;
  char bus_id[kBusIdBytes] = {};  ///< "00000000:07:00.0"
};

union UuidValue {
  char ascii[kUuidAsciiBytes] = {};  ///< "GPU-..."
  unsigned char binary[kUuidBinaryBytes];
};

struct UuidV1 {
  std::uint32_t version = 0;
  std::uint32_t type = kUuidNone;
  UuidValue value = {};
};

// State of a GPU.

struct MemoryV1 {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t used_bytes = 0;  ///< including the driver's reserve
};

struct MemoryV2 {
  std::uint32_t version = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t used_bytes = 0;  ///< without `reserved_bytes`
};

struct Bar1Memory {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t used_bytes = 0;
};

struct Utilization {
  std::uint32_t gpu_percent = 0;
  std::uint32_t memory_percent = 0;
};

struct TemperatureV1 {
  std::uint32_t version = 0;
  std::uint32_t sensor = kTemperatureGpu;
  std::int32_t celsius = 0;
};

/// The number of memory banks by remaining spare rows.
struct RowRemapHistogram {
  std::uint32_t max = 0;
  std::uint32_t high = 0;
  std::uint32_t partial = 0;
  std::uint32_t low = 0;
  std::uint32_t none = 0;
};

struct RemappedRowsV2 {
  std::uint32_t correctable_active = 0;
  std::uint32_t correctable_inactive = 0;
  std::uint32_t uncorrectable_active = 0;
  std::uint32_t uncorrectable_inactive = 0;
  std::uint32_t is_pending = 0;
  std::uint32_t has_failed = 0;
};

struct AddressingModeV1 {
  std::uint32_t version = 0;
  std::uint32_t mode = 0;
};

struct DriverBranchV1 {
  std::uint32_t version = 0;
  char branch[kDriverVersionBytes] = {};
};

union Value {
  double real = 0;
  std::int32_t signed_int;
  std::uint32_t unsigned_int;
  unsigned long unsigned_long;
  std::uint64_t unsigned_long_long;
  std::int64_t signed_long_long;
  std::uint16_t unsigned_short;
};

/// A question and its answer; each has a code of its own.
struct FieldValue {
  std::uint32_t field_id = 0;
  std::uint32_t scope_id = 0;
  std::int64_t measured_us = 0;  ///< since 1970
  std::int64_t latency_us = 0;
  std::uint32_t value_type = kValueDouble;
  Code code = Code::kSuccess;
  Value value = {};
};

// Processes.

struct ProcessV1 {
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = 0;
};

/// Of the functions _v2 and _v3.
struct ProcessV2 {
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t gpu_instance_id = kNoInstanceId;
  std::uint32_t compute_instance_id = kNoInstanceId;
};

struct ProcessDetailV1 {
  std::uint32_t pid = 0;
  std::uint64_t memory_bytes = 0;
  std::uint32_t gpu_instance_id = kNoInstanceId;
  std::uint32_t compute_instance_id = kNoInstanceId;
  std::uint64_t protected_memory_bytes = 0;
};

struct ProcessDetailListV1 {
  std::uint32_t version = 0;
  std::uint32_t mode = 0;   ///< kProcessCompute and others
  std::uint32_t count = 0;  ///< in: capacity; out: number of processes
  ProcessDetailV1* processes = nullptr;
};

// Licences of virtual GPUs.

struct LicenceExpiry {
  std::uint32_t year = 0;
  std::uint16_t month = 0;
  std::uint16_t day = 0;
  std::uint16_t hour = 0;
  std::uint16_t minute = 0;
  std::uint16_t second = 0;
  std::uint8_t status = 0;
};

struct LicensableFeature {
  std::uint32_t feature = 0;      ///< kLicenceOfVgpu and others
  std::uint32_t is_licensed = 0;  ///< not 0: it is
  char info[kLicenceTextBytes] = {};
  char product[kLicenceTextBytes] = {};
  std::uint32_t is_enabled = 0;
  LicenceExpiry expiry = {};
};

struct LicensableFeatures {
  std::int32_t is_supported = 0;
  std::uint32_t count = 0;
  LicensableFeature features[kLicencesMax] = {};
};

// Events.

/// Of nvmlEventSetWait.
struct EventV1 {
  Device device = nullptr;
  std::uint64_t type = kEventNone;
  std::uint64_t data = 0;  ///< the code of an XID
};

/// Of nvmlEventSetWait_v2.
struct EventV2 {
  Device device = nullptr;
  std::uint64_t type = kEventNone;
  std::uint64_t data = 0;  ///< the code of an XID
  std::uint32_t gpu_instance_id = kNoInstanceId;
  std::uint32_t compute_instance_id = kNoInstanceId;
};

// GPU performance monitoring (GPM): figures from two samples of a device's counters, from Hopper on.

/// The library's texts about a metric; null: it has none.
struct GpmMetricInfo {
  char* short_name = nullptr;
  char* long_name = nullptr;
  char* unit = nullptr;
};

/// A question and its answer; each has a code of its own.
struct GpmMetric {
  std::uint32_t id = 0;  ///< kGpmGraphicsActive and others
  Code code = Code::kSuccess;
  double value = 0;
  GpmMetricInfo info = {};
};

/// Of nvmlGpmMetricsGet, which uses the first `count` metrics.
struct GpmMetrics {
  std::uint32_t version = kGpmMetricsVersion;
  std::uint32_t count = 0;
  GpmSample first = nullptr;
  GpmSample second = nullptr;
  GpmMetric metrics[kGpmMetricsMin] = {};
};

struct GpmSupport {
  std::uint32_t version = kGpmSupportVersion;
  std::uint32_t is_supported = 0;
};

// MIG. Sizes of GPU instances are in memory slices, those of compute instances in compute slices. `instances_max`
// counts those of one GPU, or of one GPU instance.

/// Of nvmlDeviceGetAttributes.
struct AttributesV1 {
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
};

/// Of nvmlDeviceGetAttributes_v2.
struct AttributesV2 {
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  std::uint32_t gpu_instance_slices = 0;
  std::uint32_t compute_instance_slices = 0;
  std::uint64_t memory_mib = 0;
};

struct GpuInstancePlacement {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
};

struct ComputeInstancePlacement {
  std::uint32_t start = 0;
  std::uint32_t size = 0;
};

struct GpuInstanceProfileV1 {
  std::uint32_t id = 0;
  std::uint32_t is_p2p_supported = 0;
  std::uint32_t slices = 0;
  std::uint32_t instances_max = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  std::uint64_t memory_mib = 0;
};

struct GpuInstanceProfileV2 {
  std::uint32_t version = 0;
  std::uint32_t id = 0;
  std::uint32_t is_p2p_supported = 0;
  std::uint32_t slices = 0;
  std::uint32_t instances_max = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  std::uint64_t memory_mib = 0;
  char name[kNameV2Bytes] = {};  ///< "MIG 1g.10gb"
};

/// As in NVIDIA's header, with `name` at byte 48. Driver 580 writes `name` at byte 56, as in version 2
/// (docs/reference/nvml.md), so a caller should read names by version 2.
struct GpuInstanceProfileV3 {
  std::uint32_t version = 0;
  std::uint32_t id = 0;
  std::uint32_t slices = 0;
  std::uint32_t instances_max = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  std::uint64_t memory_mib = 0;
  char name[kNameV2Bytes] = {};
  std::uint32_t capabilities = 0;  ///< kGpuInstanceP2p, kGpuInstanceGfx
};

struct GpuInstanceDescription {
  Device device = nullptr;
  std::uint32_t id = 0;
  std::uint32_t profile_id = 0;
  GpuInstancePlacement placement = {};
};

struct ComputeInstanceProfileV1 {
  std::uint32_t id = 0;
  std::uint32_t slices = 0;
  std::uint32_t instances_max = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
};

struct ComputeInstanceProfileV2 {
  std::uint32_t version = 0;
  std::uint32_t id = 0;
  std::uint32_t slices = 0;
  std::uint32_t instances_max = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  char name[kNameV2Bytes] = {};  ///< "MIG 1c.3g.40gb"
};

struct ComputeInstanceProfileV3 {
  std::uint32_t version = 0;
  std::uint32_t id = 0;
  std::uint32_t slices = 0;
  std::uint32_t instances_max = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t copy_engines = 0;
  std::uint32_t decoders = 0;
  std::uint32_t encoders = 0;
  std::uint32_t jpeg_engines = 0;
  std::uint32_t ofa_engines = 0;
  char name[kNameV2Bytes] = {};
  std::uint32_t capabilities = 0;  ///< kComputeInstanceGfx
};

/// Of nvmlComputeInstanceGetInfo.
struct ComputeInstanceDescriptionV1 {
  Device device = nullptr;
  GpuInstance gpu_instance = nullptr;
  std::uint32_t id = 0;
  std::uint32_t profile_id = 0;
};

/// Of nvmlComputeInstanceGetInfo_v2.
struct ComputeInstanceDescriptionV2 {
  Device device = nullptr;
  GpuInstance gpu_instance = nullptr;
  std::uint32_t id = 0;
  std::uint32_t profile_id = 0;
  ComputeInstancePlacement placement = {};
};

}  // namespace berth::nvml_abi
