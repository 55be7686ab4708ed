/// Checks that outputs replace neither inputs nor each other.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::cli {

/// A path that an option names; absent: not given.
struct NamedPath {
  std::string_view option;
  std::optional<std::string> path;
};

/// Refuses an output that is an input or another output, even if it is so through links. Devices and pipes may be named
/// more than once.
[[nodiscard]] Result<void> check_outputs_are_distinct(const std::vector<NamedPath>& inputs,
                                                      const std::vector<NamedPath>& outputs);

}  // namespace berth::cli
