/// Lists of pods: what batch jobs and notebooks ask for, as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth {

/// What a pod asks for. `gpu_count` 0: CPU only. With one GPU it may ask for a share of it.
struct Pod {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpu_count = 0;
  int gpu_milli = 0;                    ///< of each GPU, 1 to 1000; 0 without GPUs
  std::vector<std::string> gpu_models;  ///< one of these, as written; empty: any
  std::string gang;                     ///< pods of one gang run together; empty: none
  std::int64_t gpu_memory_mib = 0;      ///< that each GPU must have; 0: any

  /// A part of one GPU, that others may share.
  [[nodiscard]] bool is_shared() const { return gpu_count == 1 && gpu_milli < 1000; }
};

/// The columns `name,cpu_milli,memory_mib,num_gpu,gpu_milli` and optionally `gpu_spec` (models joined by `|`), `gang`
/// and `gpu_memory_mib`, in any order; others are ignored. Rows keep their order. Errors, as
/// FILE:LINE:COLUMN: what cannot be read, CPU or memory above 10^9, more than 10^6 GPUs, a name twice, gpu_milli below
/// 1000 with more than one GPU, no row.
[[nodiscard]] Result<std::vector<Pod>> read_pods(std::string_view text, std::string_view file);

}  // namespace berth
