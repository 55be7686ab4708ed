/// The options of `berth serve simulate`: as typed, and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "serving/dispatch/terms.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct SimulateWords {
  std::string device;
  std::string requests;
  std::optional<std::string> config = std::nullopt;
  std::string policies = "berth,eager,aimd";
  std::string evict = "value";
  std::string format = "table";
  std::optional<std::string> log = std::nullopt;
};

[[nodiscard]] OptionTable simulate_option_rows(SimulateWords& words);

/// Checked, as far as possible without the files.
struct SimulateRequest {
  std::string device_path;
  std::string requests_path;
  std::optional<std::string> config_path;
  std::vector<serving::DispatchPolicy> policies;
  serving::EvictionRule eviction = serving::EvictionRule::kValue;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> log_path;
};

/// Refuses unknown and repeated policies, unknown words, and a log of several policies.
[[nodiscard]] Result<SimulateRequest> check_simulate_options(const SimulateWords& words);

}  // namespace berth::cli
