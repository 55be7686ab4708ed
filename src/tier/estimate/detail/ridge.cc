#include "tier/estimate/detail/ridge.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/core/ensure.h"
#include "tier/estimate/detail/linear_system.h"

namespace berth::tier {
namespace {

constexpr std::array kPlain = {Feature::kPriceRatio, Feature::kTflopsRatio, Feature::kBandwidthRatio, Feature::kStep,
                               Feature::kSlope,      Feature::kSaturation,  Feature::kIntensity};
/// Also multiplied by the ratio of prices.
constexpr std::array kScaled = {Feature::kStep, Feature::kSlope, Feature::kSaturation, Feature::kIntensity};
/// Below, a term is constant.
constexpr double kScaleMin = 1e-9;
/// Of figures in files, so that no sum of products is infinite.
constexpr double kFigureMax = 1e12;

double at(const FeatureRow& row, Feature feature) { return row[static_cast<std::size_t>(feature)]; }

std::size_t term_count(std::size_t tier_count) { return 2 * tier_count + kPlain.size() + kScaled.size(); }

Feature feature_of(std::size_t term, std::size_t tier_count) {
  if (term < tier_count) return Feature::kTier;
  if (term < 2 * tier_count) return Feature::kAnchor;
  const std::size_t plain = term - 2 * tier_count;
  return plain < kPlain.size() ? kPlain[plain] : kScaled[plain - kPlain.size()];
}

std::vector<double> terms_of(const FeatureRow& row, std::size_t tier_count) {
  std::vector<double> terms(2 * tier_count);
  terms[static_cast<std::size_t>(at(row, Feature::kTier))] = 1;
  terms[tier_count + static_cast<std::size_t>(at(row, Feature::kAnchor))] = 1;
  for (const Feature feature : kPlain) terms.push_back(at(row, feature));
  for (const Feature feature : kScaled) terms.push_back(at(row, feature) * at(row, Feature::kPriceRatio));
  return terms;
}

/// In place: standardised, 0 where unknown or constant.
void standardise(const Ridge& ridge, std::vector<double>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool counts = ridge.term_scales[i] > 0 && !std::isnan(terms[i]);
    terms[i] = counts ? (terms[i] - ridge.term_means[i]) / ridge.term_scales[i] : 0;
  }
}

/// Weighted mean and deviation of a term over the rows that know it.
void fit_scale(Ridge& ridge, std::size_t term, const std::vector<std::vector<double>>& terms,
               std::span<const double> weights) {
  double weight = 0;
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (std::isnan(terms[i][term])) continue;
    weight += weights[i];
    sum += weights[i] * terms[i][term];
  }
  const double mean = weight > 0 ? sum / weight : 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!std::isnan(terms[i][term])) squares += weights[i] * (terms[i][term] - mean) * (terms[i][term] - mean);
  }
  const double scale = weight > 0 ? std::sqrt(squares / weight) : 0;
  ridge.term_means[term] = mean;
  ridge.term_scales[term] = scale > kScaleMin * (1 + std::fabs(mean)) ? scale : 0;
}

double target_mean(const LearningRows& rows) {
  double sum = 0;
  double weight = 0;
  for (std::size_t i = 0; i < rows.targets.size(); ++i) {
    sum += rows.weights[i] * rows.targets[i];
    weight += rows.weights[i];
  }
  return sum / weight;
}

}  // namespace

LearningRows rows_where(const LearningRows& rows, const std::vector<bool>& wanted) {
  LearningRows kept;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i]) continue;
    kept.features.push_back(rows.features[i]);
    kept.targets.push_back(rows.targets[i]);
    kept.weights.push_back(rows.weights[i]);
  }
  return kept;
}

Ridge fit_ridge(const LearningRows& rows, std::size_t tier_count, double penalty) {
  ENSURE(!rows.targets.empty() && penalty > 0);
  const std::size_t count = term_count(tier_count);
  Ridge ridge{.tier_count = tier_count,
              .mean = target_mean(rows),
              .term_means = std::vector<double>(count),
              .term_scales = std::vector<double>(count),
              .slopes = {}};
  std::vector<std::vector<double>> terms;
  terms.reserve(rows.features.size());
  for (const FeatureRow& row : rows.features) terms.push_back(terms_of(row, tier_count));
  for (std::size_t term = 0; term < count; ++term) fit_scale(ridge, term, terms, rows.weights);
  LinearSystem system(count);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    standardise(ridge, terms[i]);
    const double target = rows.weights[i] * (rows.targets[i] - ridge.mean);
    for (std::size_t a = 0; a < count; ++a) {
      if (terms[i][a] == 0) continue;
      system.right(a) += target * terms[i][a];
      for (std::size_t b = 0; b <= a; ++b) system.at(a, b) += rows.weights[i] * terms[i][a] * terms[i][b];
    }
  }
  for (std::size_t a = 0; a < count; ++a) system.at(a, a) += penalty;
  ridge.slopes = system.solve();
  return ridge;
}

double predict(const Ridge& ridge, const FeatureRow& row) {
  std::vector<double> terms = terms_of(row, ridge.tier_count);
  standardise(ridge, terms);
  double sum = ridge.mean;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += ridge.slopes[i] * terms[i];
  return sum;
}

std::vector<double> shares_of(const Ridge& ridge, const FeatureRow& row) {
  std::vector<double> terms = terms_of(row, ridge.tier_count);
  standardise(ridge, terms);
  std::vector<double> shares(kFeatureCount);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    shares[static_cast<std::size_t>(feature_of(i, ridge.tier_count))] += ridge.slopes[i] * terms[i];
  }
  return shares;
}

bool is_well_formed(const Ridge& ridge) {
  const auto is_figure = [](double value) { return std::fabs(value) <= kFigureMax; };
  const auto is_list = [&](const std::vector<double>& list) {
    return list.size() == term_count(ridge.tier_count) && std::all_of(list.begin(), list.end(), is_figure);
  };
  const auto is_scale = [](double value) { return value == 0 || value >= 1 / kFigureMax; };
  return is_figure(ridge.mean) && std::all_of(ridge.term_scales.begin(), ridge.term_scales.end(), is_scale) &&
         is_list(ridge.term_means) && is_list(ridge.term_scales) && is_list(ridge.slopes);
}

}  // namespace berth::tier
