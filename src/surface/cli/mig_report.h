/// What `berth mig profiles|layouts|fits` prints. The JSON's keys and their order are fixed; new ones go to the end.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "surface/cli/verb.h"

namespace berth::cli {

struct MigProfilesOptions {
  std::string gpu;
  OutputFormat format = OutputFormat::kTable;
};

/// Which profiles take part: the plain ones, all, or those named.
struct MigRulesOptions {
  bool has_all_profiles = false;
  std::vector<std::string> profiles;  ///< wins over both when not empty
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

/// Every profile of a GPU: places, numbers, SMs, memory, compute instances; what is not confirmed is marked.
[[nodiscard]] Result<std::string> mig_profiles_report(const MigProfilesOptions& options);
/// How many legal states there are, and the layouts to which nothing can be added.
[[nodiscard]] Result<std::string> mig_layouts_report(const MigLayoutsOptions& options);
/// What can be added to a state, and where.
[[nodiscard]] Result<std::string> mig_fits_report(const MigFitsOptions& options);

}  // namespace berth::cli
