/// The options of `berth tier train`: as typed, and checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"
#include "tier/readers/tier_source.h"

namespace berth::cli {

/// As typed.
struct TierTrainWords {
  std::string data = {};  ///< files, joined by commas
  std::string source = "csv";
  std::string tiers = {};
  std::string out = {};
  std::string seed = "1";
  std::string trees = "100";
};

/// Checked, as far as possible without the files.
struct TierTrainRequest {
  std::vector<std::string> data_paths;
  tier::TierSource source = tier::TierSource::kCsv;
  std::string tiers_path;  ///< empty: those of the source
  std::string out_path;
  std::uint64_t seed = 1;
  int trees = 100;
};

[[nodiscard]] OptionTable tier_train_option_rows(TierTrainWords& words);

[[nodiscard]] Result<TierTrainRequest> check_tier_train(const TierTrainWords& words);

}  // namespace berth::cli
