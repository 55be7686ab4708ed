/// Lists of pods: the resources that batch jobs and notebooks request, as CSV.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// Slices of one profile on one GPU: "2x2g.20gb".
struct SliceRequest {
  int count = 1;
  std::string profile;
  friend bool operator==(const SliceRequest&, const SliceRequest&) = default;
};

/// The resources that a pod requests. `gpu_count` 0: CPU only. With one GPU it may request a share of it.
struct Pod {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpu_count = 0;
  int gpu_milli = 0;                      ///< of each GPU, 1 to 1000; 0 without GPUs
  std::vector<std::string> gpu_models;    ///< one of these, as written; empty: any
  std::string gang;                       ///< pods of one gang run together; empty: none
  std::int64_t gpu_memory_mib = 0;        ///< the least memory of each GPU; 0: any
  std::string gpu_spec = {};              ///< `gpu_models` as the file has them
  std::vector<SliceRequest> slices = {};  ///< one of these, the first that fits; empty: no profile is named

  /// Whether it requests a part of one GPU, which other pods may share.
  [[nodiscard]] bool is_shared() const { return gpu_count == 1 && gpu_milli < 1000; }
};

/// Options of the reader beyond the usual columns.
struct PodListForm {
  int gpu_count_max = 1'000'000;
  /// Whether a name is that of a MIG profile. With it the optional column `profile` is read: alternatives in order of
  /// preference, joined by `|`, each a profile or `2x` and a profile. Only a pod with num_gpu 1 may have one; its
  /// gpu_milli may then be empty, which leaves it 0.
  std::function<bool(std::string_view)> is_profile = nullptr;
  /// Whether some GPU can hold these slices: asked about a pod's first alternative where its gpu_milli is empty.
  std::function<bool(const SliceRequest&)> fits_one_gpu = nullptr;
};

/// The columns `name,cpu_milli,memory_mib,num_gpu,gpu_milli` and optionally `gpu_spec` (models joined by `|`), `gang`
/// and `gpu_memory_mib`, in any order; others are ignored. Rows keep their order. Errors, as FILE:LINE:COLUMN:
/// unreadable fields, CPU or memory above 10^9, too many GPUs, a repeated name, gpu_milli below 1000 with more than one
/// GPU, an unknown profile, no row.
[[nodiscard]] Result<std::vector<Pod>> read_pods(std::string_view text, std::string_view file,
                                                 const PodListForm& form = {});

}  // namespace berth
