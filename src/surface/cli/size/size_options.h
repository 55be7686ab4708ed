/// The options of `berth size`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "sim/study/size.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct SizeWords {
  std::string scenario;
  std::string attainment;
  std::optional<std::string> policies;
  std::string gpus_max = "64";
  std::optional<std::string> seed_count;
  bool has_ideas = false;
  std::vector<std::string> parameters;  ///< of --set
  std::string format = "table";
  std::optional<std::string> report;
};

[[nodiscard]] OptionTable size_option_rows(SizeWords& words);

inline constexpr std::int64_t kSizedGpusMax = 100'000;  ///< the most that a scenario may have
inline constexpr std::int64_t kSizeSeedsMax = 100;

/// Checked, as far as possible without the scenario.
struct SizeRequest {
  std::string scenario_path;
  std::vector<std::string> policies;
  study::SizeOptions options;  ///< seeds 1, 2, ...
  policy::Settings settings;
  bool has_ideas = false;  ///< also sizes the steps of sim/study/size_ideas.h
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
};

/// Refuses an attainment that is not above 0 and at most 1, unknown and repeated policies and `fixed`, counts of GPUs
/// and seeds beyond their limits, unknown parameters, an unknown format and empty paths. `all` are the
/// policies that can be sized; without --policies the four of most interest, with one seed unless --seeds says more: a
/// first answer that does not take minutes.
[[nodiscard]] Result<SizeRequest> check_size_options(const SizeWords& words);

}  // namespace berth::cli
