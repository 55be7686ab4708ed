/// The whole state of the simulated machine as plain records, so that it can be in a file that processes map: no
/// pointers, no constructors that do work, every text zero-terminated. All rules of the devices are functions over it.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "domain/values/gpu.h"
#include "gpu/nvml_sim/event_ring.h"

namespace berth::nvml_sim {

inline constexpr int kGpusMax = 64;
inline constexpr int kGpuInstancesMax = 16;     ///< ids of GPU instances are below it
inline constexpr int kComputeInstancesMax = 8;  ///< of one GPU instance
inline constexpr int kProcessesMax = 64;        ///< of one GPU
inline constexpr int kFaultsMax = 32;           ///< of one GPU
inline constexpr std::uint32_t kNoInstance = 0xFFFFFFFFU;
inline constexpr std::uint32_t kNotSet = 0xFFFFFFFFU;

/// Figures of load that were set by hand (`berth-nvml-sim load`), in percent. kNotSet: they follow the processes.
struct SetActivityRecord {
  std::uint32_t graphics = kNotSet;
  std::uint32_t tensor = kNotSet;
  std::uint32_t dram = kNotSet;
};

/// A compute instance. Its id is its place in the array.
struct ComputeInstanceRecord {
  std::uint8_t is_there = 0;
  std::uint8_t start = 0;   ///< first compute slice, counted within its GPU instance
  std::uint8_t slices = 0;  ///< compute slices
  std::uint8_t unused = 0;
  std::uint32_t generation = 0;  ///< of the GPU when it was created: distinguishes it from an earlier one with its id
};

/// A GPU instance. Its id is its place in the array.
struct GpuInstanceRecord {
  std::uint8_t is_there = 0;
  std::uint8_t profile = 0;  ///< number in `GpuModel::profiles`
  std::uint8_t start = 0;    ///< first placement unit
  std::uint8_t unused = 0;
  std::uint32_t generation = 0;
  std::uint32_t memory_mib = 0;  ///< as this one has it: two of one profile can differ
  SetActivityRecord set_activity;
  ComputeInstanceRecord compute_instances[kComputeInstancesMax];
};

/// A process on a GPU, or on a compute instance. None: pid 0.
struct ProcessRecord {
  std::uint32_t pid = 0;
  std::uint32_t gpu_instance = kNoInstance;
  std::uint32_t compute_instance = kNoInstance;
  std::uint32_t memory_mib = 0;
};

/// A fault of calls on one GPU. None: `kind` is kNone.
struct FaultRecord {
  enum Kind : std::uint8_t { kNone, kAnswer, kXid };
  std::uint8_t kind = kNone;
  std::uint8_t is_done = 0;  ///< kAnswer: the call is carried out, and only then answered with the error
  std::uint16_t unused = 0;
  std::int32_t error = 0;        ///< kAnswer: the code, 0: the call is only slow. kXid: the XID
  char call[72] = {};            ///< kAnswer: a name as `faults.h` reads it
  std::int64_t after = 0;        ///< calls that still pass before
  std::int64_t times = 0;        ///< calls that are still hit
  std::int64_t delay_ms = 0;     ///< the delay of each
  std::int64_t interval_us = 0;  ///< kXid: between two
  std::int64_t since_us = 0;     ///< kXid: when the next is due
};

/// The counters of a GPU.
struct CountersRecord {
  std::uint64_t ecc_corrected = 0;  ///< volatile and aggregate counts are the same here: nothing clears them
  std::uint64_t ecc_uncorrected = 0;
  std::uint32_t remapped_corrected = 0;  ///< rows remapped because of corrected errors
  std::uint32_t remapped_uncorrected = 0;
  std::uint32_t is_remapping_pending = 0;
  std::uint32_t has_remapping_failed = 0;
  std::uint64_t energy_mj = 0;  ///< millijoules until `energy_at_us`
  std::int64_t energy_at_us = 0;
};

/// One GPU.
struct GpuRecord {
  char model[48] = {};  ///< a name of `mig::gpu_models()`
  char uuid[48] = {};   ///< "GPU-..."
  char serial[24] = {};
  char bus_id[32] = {};  ///< "00000000:07:00.0"
  std::uint32_t index = 0;
  std::uint32_t pci_domain = 0;
  std::uint32_t pci_bus = 0;
  std::uint32_t pci_device_id = 0;  ///< device << 16 | vendor, as NVML has it
  std::uint32_t is_mig_on = 0;
  std::uint32_t is_mig_pending_on = 0;  ///< the value of `is_mig_on` after the next reset
  std::uint32_t is_lost = 0;
  std::uint32_t recovery_action = 0;  ///< a `nvml_abi` recovery action
  std::uint32_t is_before_r510 = 0;   ///< the driver refuses 4g next to 3g on an A100
  std::uint32_t generations = 0;      ///< instances made so far, of both kinds
  std::uint32_t fault_clears = 0;     ///< how often the faults were cleared: a call that hangs checks it
  std::uint32_t fault_count = 0;      ///< of `faults` that are not kNone: every call looks at it
  std::uint64_t resets = 0;
  std::uint64_t changing_calls = 0;  ///< calls to change this GPU, refused ones included
  GpuInstanceRecord gpu_instances[kGpuInstancesMax];
  ProcessRecord processes[kProcessesMax];
  FaultRecord faults[kFaultsMax];
  CountersRecord counters;
  SetActivityRecord set_activity;  ///< of the whole GPU
  std::uint32_t set_temperature_c = kNotSet;
  std::uint32_t set_power_mw = kNotSet;
  std::uint32_t unused_end = 0;
};

/// Kinds of calls with a configurable latency (the keys of `latency_ms`).
enum class Latency {
  kInit,
  kRead,
  kSetMigMode,
  kCreateGpuInstance,
  kDestroyGpuInstance,
  kCreateComputeInstance,
  kDestroyComputeInstance,
};
inline constexpr int kLatencies = 7;

/// The machine: its GPUs in the order of NVML, which is that of their PCI addresses.
struct MachineRecord {
  char driver[80] = {};  ///< "580.95.05"
  char boot_id[40] = {};
  std::uint64_t boots = 1;
  std::int64_t booted_at_us = 0;
  std::int64_t latency_us[kLatencies] = {};
  std::uint32_t gpu_count = 0;
  std::uint32_t unused = 0;
  GpuRecord gpus[kGpusMax];
  EventRing events;
};

static_assert(std::is_trivially_copyable_v<MachineRecord>);
static_assert(std::has_unique_object_representations_v<GpuRecord>,
              "no padding: copies of a record are equal byte by byte");

/// The initial state of a GPU of the fleet.
struct GpuSetup {
  const GpuModel* model = nullptr;
  std::uint32_t index = 0;
  bool is_mig_on = false;  ///< requires a model with MIG
  bool is_before_r510 = false;
};
/// A GPU without instances; UUID, serial and address follow from model and index. Requires: index < kGpusMax.
[[nodiscard]] GpuRecord make_gpu(const GpuSetup& setup);

/// The model of a record. Requires: a record of `make_gpu`, of this version of the catalogue.
[[nodiscard]] const GpuModel& model_of(const GpuRecord& gpu);

/// Whether any instance exists.
[[nodiscard]] bool has_instances(const GpuRecord& gpu);

/// Copies a text into a record's field, truncated to its size.
void put_text(char* field, std::size_t size, std::string_view text);
template <std::size_t Size>
void put_text(char (&field)[Size], std::string_view text) {
  put_text(field, Size, text);
}

}  // namespace berth::nvml_sim
