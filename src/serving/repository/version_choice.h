/// Which versions of a model a policy chooses.
#pragma once

#include <cstdint>
#include <vector>

#include "serving/model_config/model_config.h"

namespace berth::serving {

/// The versions in a model's folder, ascending.
struct VersionsOnDisk {
  std::vector<std::int64_t> complete = {};  ///< with a model.onnx that is not being written
  std::vector<std::int64_t> broken = {};    ///< without one, or unreadable
};

/// Ascending. The latest ones are those of the complete ones, so that a folder that was just made hides none. With
/// other policies broken ones are chosen, too, and so are specific ones that are in no list.
[[nodiscard]] std::vector<std::int64_t> choose_versions(const VersionPolicy& policy, const VersionsOnDisk& versions);

}  // namespace berth::serving
