/// The data of boards and engines as plain rows, from which `board.cc` makes its values.
///
/// Sources beyond those of device_tables.h:
/// - names and PCI device ids: NVIDIA/open-gpu-kernel-modules @df1c9a3 (595.45.04),
///   src/nvidia/generated/g_nv_name_released.h; of the V100, which these modules do not drive, a public copy of
///   NVIDIA/nvidia-installer (misc.c)
/// - compute capabilities: developer.nvidia.com/cuda-gpus
/// - memory of the whole GPU: measured, docs/reference/nvml.md; with kBoardMemory, from public outputs of nvidia-smi
#pragma once

#include <cstdint>
#include <span>

#include "domain/mig/board.h"
#include "domain/mig/detail/device_tables.h"

namespace berth::mig::detail {

/// Fields of a board that no primary source confirms: bits of `BoardRow::unverified`.
enum UnverifiedBoardField : unsigned {
  kBoardName = 1U << 0,
  kPciDeviceId = 1U << 1,
  kBoardMemory = 1U << 2,
  kNeedsReset = 1U << 3,
  kModeSurvives = 1U << 4,
};

/// Counts, or kUnknown. The uncertain ones are bits of `ProfileRow::unverified`.
struct EnginesRow {
  int copy;
  int decoders;
  int encoders;
  int jpeg;
  int optical_flow;
};

struct BoardRow {
  const char* model;  ///< as in its DeviceRow
  const char* name;
  std::span<const EnginesRow> engines;  ///< of the model's profiles, in their order
  Architecture architecture;
  int compute_capability_major;
  int compute_capability_minor;
  int memory_mib;  ///< or kUnknown: then the nominal one
  unsigned unverified;
  std::uint16_t pci_device_id;
};

/// One row for each row of `device_rows`.
[[nodiscard]] std::span<const BoardRow> board_rows();
/// In the same order.
[[nodiscard]] std::span<const BoardPower> board_powers();

}  // namespace berth::mig::detail
