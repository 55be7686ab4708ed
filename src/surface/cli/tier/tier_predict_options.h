/// The options of `berth tier predict`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/date.h"
#include "base/core/result.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"
#include "surface/cli/tier/tier_target.h"

namespace berth::cli {

/// As typed.
struct TierPredictWords {
  std::optional<std::string> emitted = std::nullopt;  ///< the positional: the file of --emit
  std::optional<std::string> workload = std::nullopt;
  std::optional<std::string> db = std::nullopt;
  std::optional<std::string> name = std::nullopt;
  std::string tiers = {};
  std::optional<std::string> model = std::nullopt;
  std::optional<std::string> rules = std::nullopt;
  bool has_prices = false;
  std::string target = {};
  std::string sure = "0.9";
  std::optional<std::string> emit = std::nullopt;
  std::optional<std::string> report = std::nullopt;
  std::string format = "table";
};

/// Checked, as far as possible without the files.
struct TierPredictRequest {
  std::optional<std::string> workload_path = std::nullopt;  ///< this or db_path
  std::optional<std::string> db_path = std::nullopt;
  std::optional<std::string> name = std::nullopt;  ///< of the workload; required with db_path
  std::string tiers_path;
  std::optional<std::string> forest_path = std::nullopt;
  std::optional<std::string> rules_path = std::nullopt;
  std::optional<Date> prices_at = std::nullopt;  ///< the day of the catalogue's prices; absent: those of the file
  KindAndTarget target;
  double sure = 0.9;
  std::optional<std::string> kubernetes_path = std::nullopt;
  std::optional<std::string> report_dir = std::nullopt;
  OutputFormat format = OutputFormat::kTable;
};

[[nodiscard]] OptionTable tier_predict_option_rows(TierPredictWords& words);

[[nodiscard]] Result<TierPredictRequest> check_tier_predict(const TierPredictWords& words, Date today);

}  // namespace berth::cli
