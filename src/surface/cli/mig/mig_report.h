/// The output of `berth mig profiles|layouts|fits`. The JSON's keys and their order are fixed; new keys go to the end.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

struct MigProfilesOptions {
  std::string gpu;
  OutputFormat format = OutputFormat::kTable;
};

/// The profiles that are considered: the plain ones, all, or those named.
struct MigRulesOptions {
  bool has_all_profiles = false;
  std::vector<std::string> profiles;  ///< if not empty, only these
  bool is_before_r510 = false;        ///< A100 only
};

struct MigLayoutsOptions {
  std::string gpu;
  MigRulesOptions rules = {};
  OutputFormat format = OutputFormat::kTable;
};

struct MigFitsOptions {
  std::string gpu;
  std::string state;  ///< empty: an empty GPU
  MigRulesOptions rules = {};
  OutputFormat format = OutputFormat::kTable;
};

/// Every profile of a GPU: places, numbers, SMs, memory, compute instances; unverified values are marked.
[[nodiscard]] Result<std::string> mig_profiles_report(const MigProfilesOptions& options);
/// The number of legal states, and the maximal layouts.
[[nodiscard]] Result<std::string> mig_layouts_report(const MigLayoutsOptions& options);
/// The profiles that can be added to a state, and where.
[[nodiscard]] Result<std::string> mig_fits_report(const MigFitsOptions& options);

}  // namespace berth::cli
