/// The catalogue's data as plain rows, from which `catalogue.cc` builds the GpuModel values.
///
/// Sources, by the key that the notes of a device name:
/// - guide: NVIDIA MIG User Guide, docs.nvidia.com/datacenter/tesla/mig-user-guide
/// - go-nvml: github.com/NVIDIA/go-nvml @2f9e261, nvml.h and the mocks (whose Hopper placements are wrong and unused)
/// - mig-parted: github.com/NVIDIA/mig-parted, deployments/systemd/config-default.yaml; issues 120, 227, pulls 139,
///   166, 187
/// - gpu-operator: github.com/NVIDIA/gpu-operator pulls 1303, 1351
/// - DRA driver: github.com/NVIDIA/k8s-dra-driver-gpu, cmd/gpu-kubelet-plugin/nvlib.go, pull 1018
/// - initialization: GoogleCloudDataproc/initialization-actions, comment with a listing of an H100, 2024-12-20
/// - transcripts: public listings of `nvidia-smi mig -lgip` and `-lgipp` of the model, obtained second-hand
///
/// Values marked unverified come from a sister model, or from one observation only.
#pragma once

#include <cstdint>
#include <span>

namespace berth::mig::detail {

/// A value that no source states.
inline constexpr int kUnknown = -1;

/// Fields of a profile that no primary source confirms: bits of `ProfileRow::unverified`.
enum UnverifiedField : unsigned {
  kSms = 1U << 0,
  kMemory = 1U << 1,
  kStarts = 1U << 2,
  kLength = 1U << 3,
  kCopyEngines = 1U << 4,
  kDecoders = 1U << 5,
  kJpeg = 1U << 6,
  kPlaces = kStarts | kLength,
};

/// Where profiles of one size can be placed on a GPU.
struct Shape {
  int length = 0;
  std::span<const int> starts;
};

/// One line of `nvidia-smi mig -lgip`.
struct ProfileRow {
  const char* name;
  const char* nvml_enum;
  const Shape* shape;
  int device_profile_id;
  int compute_slices;
  int centigib;  ///< the memory column x 100, or kUnknown; one driver's value, others differ by up to 3 %
  int sms;       ///< or kUnknown
  int instances_max;
  unsigned unverified;
};

/// One GPU model.
struct DeviceRow {
  const char* name;
  int units;
  int compute_slices;
  int sms;
  bool is_sms_unverified;
  int gigabytes;  ///< nominal
  std::span<const ProfileRow> profiles;
  std::span<const std::uint16_t> pci_device_ids;
  std::span<const char* const> notes;
};

/// A GPU with MIG whose placements no source states.
struct NamedDeviceRow {
  const char* name;
  std::span<const char* const> profiles;
  std::span<const std::uint16_t> pci_device_ids;
};

/// A name that some drivers give to a profile instead of the one in the device's rows.
struct OtherNameRow {
  const char* device;
  const char* profile;
  const char* other_name;
};

/// Every model, those with MIG first.
[[nodiscard]] std::span<const DeviceRow> device_rows();
/// Models that are known by name only.
[[nodiscard]] std::span<const NamedDeviceRow> named_device_rows();
[[nodiscard]] std::span<const OtherNameRow> other_name_rows();

}  // namespace berth::mig::detail
