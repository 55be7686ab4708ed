/// The options of `berth place`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "scheduling/placement/problem.h"
#include "scheduling/placement/study.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct PlaceWords {
  std::string nodes;
  std::string pods;
  std::string policies = "all";
  std::optional<std::string> seeds = std::nullopt;
  std::optional<std::string> demand = std::nullopt;
  std::string order = "seeded";
  bool is_churning = false;
  std::optional<std::string> as_gpu = std::nullopt;
  std::optional<std::string> copies = std::nullopt;
  std::string moves = "0";
  std::string format = "table";
  std::optional<std::string> decisions = std::nullopt;
  std::optional<std::string> report = std::nullopt;
  bool has_timings = false;
};

[[nodiscard]] OptionTable place_option_rows(PlaceWords& words);

/// Checked, as far as possible without the files.
struct PlaceRequest {
  std::string nodes_path;
  std::string pods_path;
  std::string policies;  ///< as typed: the known ones depend on the nodes
  placement::ProblemOptions problem;
  placement::StudyOptions study;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> decisions_path;
  std::optional<std::string> report_dir;
  bool has_timings = false;
};

/// Refuses empty paths, unknown words and numbers out of range. Policies are checked by `place_policies`.
[[nodiscard]] Result<PlaceRequest> check_place_options(const PlaceWords& words);

/// The policies that --policies names. `has_cuts`: some GPUs can be partitioned, which changes the set of policies;
/// those outside it are refused.
[[nodiscard]] Result<std::vector<placement::Policy>> place_policies(const PlaceRequest& request, bool has_cuts);

}  // namespace berth::cli
