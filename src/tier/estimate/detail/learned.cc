#include "tier/estimate/detail/learned.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/archive.h"
#include "tier/estimate/detail/student.h"

namespace berth::tier {
namespace {

/// More groups are left out several at a time.
constexpr std::size_t kFoldsMax = 6;
/// Of figures in files.
constexpr double kRoomMax = 1e12;

double median_of(std::vector<double> values) {
  if (values.empty()) return 1;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// By row, of models that had not seen the row's group.
Result<std::vector<double>> residuals_of(const TrainingRows& rows, std::size_t tier_count,
                                         const LogRatioSettings& settings) {
  // One group says nothing of others: what it gives itself stands for how far they may be off.
  if (rows.groups.size() == 1) return rows.learning.targets;
  std::vector<double> residuals(rows.origins.size());
  const std::size_t fold_count = std::min(kFoldsMax, rows.groups.size());
  for (std::size_t fold = 0; fold < fold_count; ++fold) {
    std::vector<bool> is_seen;
    is_seen.reserve(rows.origins.size());
    for (const RowOrigin& origin : rows.origins) is_seen.push_back(origin.group % fold_count != fold);
    const Result<LogRatioModels> models = fit_both(rows_where(rows.learning, is_seen), tier_count, settings);
    if (!models) return pass_on(models.error());
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      if (!is_seen[i]) residuals[i] = rows.learning.targets[i] - predict(*models, rows.learning.features[i]);
    }
  }
  return residuals;
}

double rows_at_most(const std::vector<TierPoint>& points) {
  double most = 0;
  for (const TierPoint& point : points) most = std::max(most, static_cast<double>(point.batch) * point.processes);
  return most;
}

std::vector<double> room_of(const TierTable& table, const TrainingRows& rows) {
  const std::size_t count = table.tiers.size();
  std::vector<std::vector<double>> ratios(count * count);
  std::size_t last = table.workloads.size();
  for (const RowOrigin& origin : rows.origins) {
    if (origin.workload == last) continue;
    last = origin.workload;
    const auto& points = table.workloads[last].points;
    for (std::size_t anchor = 0; anchor < count; ++anchor) {
      for (std::size_t tier = 0; tier < count; ++tier) {
        if (points[anchor].empty() || points[tier].empty()) continue;
        ratios[anchor * count + tier].push_back(rows_at_most(points[tier]) / rows_at_most(points[anchor]));
      }
    }
  }
  std::vector<double> room;
  room.reserve(ratios.size());
  for (std::vector<double>& of : ratios) room.push_back(median_of(std::move(of)));
  return room;
}

TrainingFigures figures_of(const TrainingRows& rows, std::span<const double> residuals, const Spread& spread) {
  TrainingFigures figures{.groups = rows.groups,
                          .workload_count = rows.workload_count,
                          .row_count = rows.origins.size(),
                          .error_median = 0,
                          .coverage = {}};
  std::vector<double> errors;
  errors.reserve(residuals.size());
  for (const double residual : residuals) errors.push_back(std::fabs(residual));
  figures.error_median = median_of(errors);
  std::vector<double> counts(rows.groups.size());
  for (const RowOrigin& origin : rows.origins) counts[origin.group] += 1;
  for (const double stated : {0.5, 0.8, 0.9, 0.95}) {
    const double z = student_quantile((1 + stated) / 2, spread.degrees);
    double within = 0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const RowOrigin& origin = rows.origins[i];
      const double deviation = std::sqrt(spread.covariance(origin.anchor, origin.tier, origin.tier));
      if (errors[i] <= z * deviation) within += 1 / counts[origin.group];
    }
    figures.coverage.push_back({.stated = stated, .found = within / static_cast<double>(rows.groups.size())});
  }
  return figures;
}

bool is_room(const std::vector<double>& values, std::size_t count) {
  return values.size() == count &&
         std::all_of(values.begin(), values.end(), [](double v) { return v > 0 && v <= kRoomMax; });
}

bool is_tier(const Tier& tier) {
  const auto is_figure = [](const std::optional<Decimal>& figure) { return !figure || figure->sign() > 0; };
  return !tier.name.empty() && tier.usd_per_hour.sign() > 0 && is_figure(tier.memory_mib) && is_figure(tier.tflops) &&
         is_figure(tier.gb_per_second);
}

bool is_well_formed(const LogRatioModel& model, std::size_t tier_count) {
  return model.forest.feature_count() == kFeatureCount && model.forest_share >= 0 && model.forest_share <= 1 &&
         model.ridge.tier_count == tier_count && is_well_formed(model.ridge);
}

template <class Archive, class Learned>
void archive_learned(Archive& archive, Learned& learned) {
  archive(learned.kind, learned.tiers, learned.models, learned.spread, learned.room, learned.figures);
}

}  // namespace

Result<Estimator::Learned> Estimator::Learned::learn(const TierTable& table,
                                                     std::span<const std::string> groups_left_out,
                                                     const EstimatorSettings& settings) {
  const TrainingRows rows = training_rows(table, groups_left_out);
  if (rows.groups.empty()) return invalid("wanted workloads with rows on at least two tiers to learn from, found none");
  const std::size_t tier_count = table.tiers.size();
  const LogRatioSettings model_settings{
      .seed = settings.seed, .trees = settings.trees, .forest_share = settings.forest_share};
  const Result<std::vector<double>> residuals = residuals_of(rows, tier_count, model_settings);
  if (!residuals) return pass_on(residuals.error());
  Result<LogRatioModels> models = fit_both(rows.learning, tier_count, model_settings);
  if (!models) return pass_on(models.error());
  Learned learned{.kind = table.kind,
                  .tiers = table.tiers,
                  .models = *std::move(models),
                  .spread = fit_spread(rows, *residuals, tier_count),
                  .room = room_of(table, rows),
                  .figures = {}};
  learned.figures = figures_of(rows, *residuals, learned.spread);
  return learned;
}

std::string Estimator::Learned::bytes() const {
  ArchiveWriter writer;
  archive_learned(writer, *this);
  return writer.take();
}

Result<Estimator::Learned> Estimator::Learned::of_bytes(std::string_view bytes) {
  ArchiveReader reader(bytes);
  Learned learned;
  archive_learned(reader, learned);
  const std::size_t count = learned.tiers.size();
  const bool is_complete =
      reader.is_at_end() && count >= 2 && (learned.kind == TierKind::kJobs || learned.kind == TierKind::kServices) &&
      std::all_of(learned.tiers.begin(), learned.tiers.end(), is_tier) && is_well_formed(learned.models.up, count) &&
      is_well_formed(learned.models.down, count) && learned.spread.tier_count == count &&
      is_well_formed(learned.spread) && is_room(learned.room, count * count);
  if (!is_complete) return invalid("wanted the content of a forest, found other bytes");
  return learned;
}

}  // namespace berth::tier
