#include "tier/estimate/detail/log_ratio_model.h"

#include <utility>

#include "tier/forest/grow.h"

namespace berth::tier {
namespace {

constexpr double kRidgePenalty = 1;

}  // namespace

Result<LogRatioModel> fit_log_ratio(const LearningRows& rows, std::size_t tier_count,
                                    const LogRatioSettings& settings) {
  LogRatioModel model{.forest_share = settings.forest_share, .forest = {}, .ridge = {}};
  if (settings.forest_share > 0) {
    ForestRows forest_rows{
        .feature_count = kFeatureCount, .features = {}, .targets = rows.targets, .weights = rows.weights};
    for (const FeatureRow& row : rows.features) {
      forest_rows.features.insert(forest_rows.features.end(), row.begin(), row.end());
    }
    Result<Forest> forest = grow_forest(forest_rows, {.seed = settings.seed, .trees = settings.trees});
    if (!forest) return pass_on(forest.error());
    model.forest = *std::move(forest);
  } else {
    model.forest = Forest(kFeatureCount, {});
  }
  model.ridge = fit_ridge(rows, tier_count, kRidgePenalty);
  return model;
}

double predict(const LogRatioModel& model, const FeatureRow& row) {
  const double linear = predict(model.ridge, row);
  return linear + model.forest_share * (model.forest.predict(row) - linear);
}

std::vector<double> shares_of(const LogRatioModel& model, const FeatureRow& row) {
  std::vector<double> shares = shares_of(model.ridge, row);
  const ForestReasons reasons = model.forest.reasons(row);
  for (std::size_t i = 0; i < kFeatureCount; ++i) {
    shares[i] += model.forest_share * (reasons.shares[i] - shares[i]);
  }
  shares.push_back(model.ridge.mean + model.forest_share * (reasons.base - model.ridge.mean));
  return shares;
}

Result<LogRatioModels> fit_both(const LearningRows& rows, std::size_t tier_count, const LogRatioSettings& settings) {
  std::vector<bool> upward;
  upward.reserve(rows.features.size());
  for (const FeatureRow& row : rows.features) upward.push_back(is_upward(row));
  Result<LogRatioModel> up = fit_log_ratio(rows_where(rows, upward), tier_count, settings);
  if (!up) return pass_on(up.error());
  upward.flip();
  Result<LogRatioModel> down = fit_log_ratio(rows_where(rows, upward), tier_count, settings);
  if (!down) return pass_on(down.error());
  return LogRatioModels{.up = *std::move(up), .down = *std::move(down)};
}

double predict(const LogRatioModels& models, const FeatureRow& row) { return predict(models.of(row), row); }

}  // namespace berth::tier
