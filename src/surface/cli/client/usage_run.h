/// `berth usage`: who held which slice from when to when.
#pragma once

#include <string>
#include <vector>

#include "base/yaml/document.h"
#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct UsageWords {
  ServerWords server;
  std::string from;  ///< RFC 3339; empty: since the world began
  std::string to;    ///< empty: until now
  std::string format = "table";
};

/// All intervals, by GPU, first unit and time.
[[nodiscard]] VerbOutcome run_usage(const UsageWords& words, const VerbContext& context);

/// RFC 4180 with LF: a header, then a line for each interval; unknown values are empty. Several holders are separated
/// by spaces.
[[nodiscard]] std::string usage_csv(const std::vector<yaml::Node>& intervals);

}  // namespace berth::cli
