/// Lists of nodes: the resources of a cluster's machines, as CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth {

/// The most GPUs of one node.
inline constexpr int kNodeGpusMax = 16;

/// A machine of a cluster. All of its GPUs are of one model.
struct ListedNode {
  std::string name;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int gpu_count = 0;      ///< 0 to kNodeGpusMax
  std::string gpu_model;  ///< may be empty without GPUs
};

/// The columns `sn,cpu_milli,memory_mib,gpu,model`, in any order; others are ignored. Rows keep their order. Errors, as
/// FILE:LINE:COLUMN: unreadable fields, CPU or memory above 10^9, more than 16 GPUs, GPUs without a model, a repeated
/// name, no GPU in the whole list.
[[nodiscard]] Result<std::vector<ListedNode>> read_nodes(std::string_view text, std::string_view file);

}  // namespace berth
