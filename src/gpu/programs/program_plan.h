/// An order of `berth up`, checked against the rules of the agent, becomes what is executed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "domain/ports/process_hands.h"
#include "gpu/programs/program_rules.h"

namespace berth::programs {

/// "gpu-3-1g.10gb-2-17": slice and generation, as the name of a file.
[[nodiscard]] std::string program_name(std::string_view slice, std::uint64_t generation);

/// Error (kInvalidInput): field, wanted and found: an unknown template or repository, one that is not for this
/// tenant, a parameter that is missing, unknown, or does not match its expression, a slice or UUID that cannot be
/// one.
[[nodiscard]] Result<void> check_order(const ProcessOrder& order, const ProgramRules& rules);

/// Where a start is to happen.
struct StartPlaces {
  int port = 0;
  std::string model_folder = {};                          ///< of `serve`: a repository of one model
  std::optional<std::string> device_file = std::nullopt;  ///< of `serve` in a simulated machine
  std::optional<std::string> engine = std::nullopt;       ///< of `serve`; absent: that of the repository
};

/// What is executed for an order.
struct ProgramPlan {
  bool is_serve = false;
  std::vector<std::string> words = {};  ///< program and arguments; of `serve` the program is this one
  std::string ready = {};       ///< path of a GET that answers 200; of `serve`: of the POST that loads its model
  std::string model_path = {};  ///< of `serve`
  ProgramLimits limits = {};
  friend bool operator==(const ProgramPlan&, const ProgramPlan&) = default;
};

/// Requires: check_order accepted it.
[[nodiscard]] ProgramPlan plan_of(const ProcessOrder& order, const ProgramRules& rules, const StartPlaces& places);

/// The limits alone. Requires: check_order accepted it.
[[nodiscard]] const ProgramLimits& limits_of(const ProcessOrder& order, const ProgramRules& rules);

}  // namespace berth::programs
