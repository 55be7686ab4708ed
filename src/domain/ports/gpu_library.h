/// The GPUs of this machine, as their driver's library shows and changes them. Identity: a GPU is its UUID, an instance
/// is its placement.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// A call of the library that failed.
struct GpuCallFailure {
  std::string call;       ///< "nvmlDeviceGetMigMode"
  int code = 0;           ///< the library's number
  std::string code_name;  ///< "NVML_ERROR_IN_USE"
  bool is_gpu_lost = false;
  bool is_in_use = false;
  friend bool operator==(const GpuCallFailure&, const GpuCallFailure&) = default;
};

template <class T>
using GpuAnswer = tl::expected<T, GpuCallFailure>;

/// The library and the driver behind it.
struct GpuLibraryFacts {
  std::string path;  ///< of the library that was loaded
  std::string library_version;
  std::string driver_version;
  friend bool operator==(const GpuLibraryFacts&, const GpuLibraryFacts&) = default;
};

/// A GPU instance profile, as the device describes it.
struct GpuProfileFacts {
  std::uint32_t id = 0;  ///< the device's id
  std::string name;      ///< "3g.40gb"; empty if the library does not say
  int compute_slices = 0;
  int instances_max = 0;
  int sms = 0;
  std::int64_t memory_mib = 0;
  int length = 0;           ///< placement units
  std::vector<int> starts;  ///< ascending
  friend bool operator==(const GpuProfileFacts&, const GpuProfileFacts&) = default;
};

/// The constant properties of a GPU: they do not change while the library is open.
struct GpuFacts {
  std::string uuid;
  std::string name;                 ///< "NVIDIA A100-SXM4-80GB"
  std::string pci_bus_id;           ///< "00000000:07:00.0"
  std::uint16_t pci_device_id = 0;  ///< 0x20B2, without the vendor
  std::int64_t memory_mib = 0;
  bool is_mig_capable = false;
  std::vector<GpuProfileFacts> profiles;  ///< empty without MIG; in the order of the library's numbers
  friend bool operator==(const GpuFacts&, const GpuFacts&) = default;
};

struct ComputeInstanceSeen {
  std::uint32_t id = 0;
  int start = 0;                ///< first compute slice within its GPU instance
  int slices = 0;               ///< of its placement, which some GPUs round up: 4 for 3
  std::string uuid;             ///< of the MIG device; empty if the library does not say
  bool is_whole = false;        ///< it has all compute slices of its GPU instance
  std::int64_t memory_mib = 0;  ///< of the MIG device, which is that of its GPU instance; 0: the library does not say
  friend bool operator==(const ComputeInstanceSeen&, const ComputeInstanceSeen&) = default;
};

struct GpuInstanceSeen {
  std::uint32_t id = 0;
  std::uint32_t profile_id = 0;
  int start = 0;
  int length = 0;
  std::vector<ComputeInstanceSeen> compute_instances;  ///< by id
  friend bool operator==(const GpuInstanceSeen&, const GpuInstanceSeen&) = default;
};

struct GpuProcessSeen {
  std::uint32_t pid = 0;
  std::string name;  ///< argv[0]; empty if it cannot be read
  std::int64_t memory_mib = 0;
  std::optional<std::uint32_t> gpu_instance;  ///< absent: on the whole GPU
  std::optional<std::uint32_t> compute_instance;
  std::string user = {};  ///< who runs it: a name, or a number without one; empty: it cannot be read
  friend bool operator==(const GpuProcessSeen&, const GpuProcessSeen&) = default;
};

/// The state of a GPU at one time.
struct GpuReading {
  bool is_mig_on = false;
  bool is_mig_pending_on = false;
  std::string recovery_action = "none";    ///< "none", "gpu_reset", "node_reboot" ...: what the driver asks for
  std::vector<GpuInstanceSeen> instances;  ///< by start
  std::vector<GpuProcessSeen> processes;   ///< by pid
  friend bool operator==(const GpuReading&, const GpuReading&) = default;
};

/// What a GPU measures about itself at one time. Absent: the driver does not say, as for the utilisation of a GPU in
/// MIG mode.
struct GpuMeasurement {
  std::optional<std::int64_t> memory_total_mib = std::nullopt;
  std::optional<std::int64_t> memory_used_mib =
      std::nullopt;                                       ///< includes the driver's reserve only if that is unknown
  std::optional<int> utilization_percent = std::nullopt;  ///< of the time: some kernel ran
  std::optional<int> memory_utilization_percent = std::nullopt;  ///< of the time: memory was read or written
  std::optional<int> temperature_celsius = std::nullopt;
  std::optional<int> memory_temperature_celsius = std::nullopt;
  std::optional<std::int64_t> power_milliwatts = std::nullopt;
  std::optional<std::int64_t> power_limit_milliwatts = std::nullopt;  ///< the one in force
  std::optional<int> sm_clock_mhz = std::nullopt;
  std::optional<int> memory_clock_mhz = std::nullopt;
  friend bool operator==(const GpuMeasurement&, const GpuMeasurement&) = default;
};

/// How busy a device was since it was asked last, as shares of that time from 0 to 1.
struct GpuActivity {
  std::optional<double> graphics = std::nullopt;  ///< any engine for compute or graphics
  std::optional<double> tensor = std::nullopt;    ///< tensor cores
  std::optional<double> dram = std::nullopt;      ///< of the memory's bandwidth
  friend bool operator==(const GpuActivity&, const GpuActivity&) = default;
};

struct GpuMemory {
  std::optional<std::int64_t> free_mib = std::nullopt;
  std::optional<std::int64_t> used_mib = std::nullopt;  ///< includes the driver's reserve only if that is unknown
  std::optional<std::int64_t> reserved_mib = std::nullopt;
  friend bool operator==(const GpuMemory&, const GpuMemory&) = default;
};

struct GpuInstanceFigures {
  std::uint32_t id = 0;
  GpuMemory memory = {};
  GpuActivity activity = {};
  friend bool operator==(const GpuInstanceFigures&, const GpuInstanceFigures&) = default;
};

/// What monitoring systems collect of a GPU in addition to its measurement. Absent: the driver does not say.
struct GpuFigures {
  std::optional<std::uint32_t> index = std::nullopt;  ///< in the library's order
  GpuMemory memory = {};
  GpuActivity activity = {};
  std::optional<int> encoder_percent = std::nullopt;
  std::optional<int> decoder_percent = std::nullopt;
  std::optional<std::uint64_t> energy_millijoules = std::nullopt;  ///< since the driver was loaded
  std::optional<std::uint64_t> pcie_replays = std::nullopt;
  std::optional<double> pcie_sent_bytes = std::nullopt;      ///< per second, from the GPU, with headers
  std::optional<double> pcie_received_bytes = std::nullopt;  ///< likewise, to the GPU
  std::optional<double> nvlink_megabytes = std::nullopt;     ///< of data per second, over all links, both ways
  std::optional<bool> is_vgpu_licensed = std::nullopt;
  std::optional<std::uint64_t> correctable_remapped_rows = std::nullopt;
  std::optional<std::uint64_t> uncorrectable_remapped_rows = std::nullopt;
  std::optional<bool> has_row_remap_failed = std::nullopt;
  std::vector<GpuInstanceFigures> instances = {};
  friend bool operator==(const GpuFigures&, const GpuFigures&) = default;
};

/// A change made by another process, or an error of the device.
struct GpuNotice {
  enum class Kind { kMigChange, kXid };
  Kind kind = Kind::kMigChange;
  std::uint64_t xid = 0;
  std::optional<std::uint32_t> gpu_instance = std::nullopt;  ///< that an XID is attributed to; absent: to the GPU
  friend bool operator==(const GpuNotice&, const GpuNotice&) = default;
};

/// Thread-safe. Calls on one GPU may be slow or hang; they do not block calls on other GPUs.
class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;

  [[nodiscard]] virtual const GpuLibraryFacts& facts() const = 0;
  /// A GPU with its facts, or why they cannot be read. `list` returns every GPU in the library's order.
  struct Listed {
    std::string uuid;  ///< empty if it cannot be read, either
    GpuAnswer<GpuFacts> facts;
  };
  [[nodiscard]] virtual GpuAnswer<std::vector<Listed>> list() = 0;
  /// About 2.5 ms on an H100 (docs/reference/nvml.md).
  [[nodiscard]] virtual GpuAnswer<GpuReading> read(const std::string& uuid) = 0;
  /// Asks for each figure once; figures that the driver does not give are absent. Error: the GPU cannot be found, or is
  /// lost.
  [[nodiscard]] virtual GpuAnswer<GpuMeasurement> measure(const std::string& uuid) = 0;
  /// The figures of the GPU and of those of its GPU instances, in the order given. Activity is known from the second
  /// call on, at least 0.1 s after the first. By default nothing is known. Error: as `measure`.
  [[nodiscard]] virtual GpuAnswer<GpuFigures> figures(const std::string& /*uuid*/,
                                                      const std::vector<GpuInstanceSeen>& /*instances*/) {
    return GpuFigures();
  }
  /// Waits until something happens to the GPU, at most `millis_max`. Nothing: no notice in that time.
  [[nodiscard]] virtual GpuAnswer<std::optional<GpuNotice>> wait(const std::string& uuid, std::int64_t millis_max) = 0;
};

}  // namespace berth
