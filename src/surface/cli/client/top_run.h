/// `berth top`: the running world at a glance.
#pragma once

#include <string>
#include <vector>

#include "base/yaml/document.h"
#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct TopWords {
  ServerWords server;
  bool is_once = false;
};

/// Prints once with --once or if `out` is not a terminal; otherwise redraws every second until it is interrupted or the
/// server does not answer.
void run_top(const TopWords& words, VerbContext& context);

/// The screen at one instant. `status` is /v1/status.
[[nodiscard]] std::string top_text(const yaml::Node& status, const std::vector<yaml::Node>& gpus,
                                   const std::vector<yaml::Node>& services);

}  // namespace berth::cli
