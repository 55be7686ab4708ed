/// The expected arrivals of one service in each of the next seconds, as quantiles, from the arrivals so far.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace berth {
class ArchiveReader;
class ArchiveWriter;
}  // namespace berth

namespace berth::forecast {

namespace detail {
struct UnroundedForecast;
}

/// The levels of the quantiles that a forecast gives.
inline constexpr std::array<double, 11> kLevels = {0.025, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.975};
inline constexpr std::size_t kMedianIndex = 5;

/// The forecast of one second: requests at each of kLevels, ascending, >= 0, whole numbers.
using Quantiles = std::array<double, kLevels.size()>;

/// The quantiles of a Poisson count with this mean. Requires: mean >= 0, finite.
[[nodiscard]] Quantiles poisson_quantiles(double mean);

/// The bands of a second's forecast. Their edges are quantiles before they are rounded to counts: a count y owns the
/// interval [y, y + 1), over which its probability is spread (docs/reference/forecast.md).
struct Bands {
  double low_95 = 0;  ///< the level 0.025
  double low_80 = 0;  ///< 0.1
  double high_80 = 0;
  double high_95 = 0;
  friend bool operator==(const Bands&, const Bands&) = default;
};
/// The share of a count's interval that lies between two quantiles, in [0, 1].
[[nodiscard]] double share_between(double count, double low, double high);

enum class Model { kNaive, kSeasonalNaive, kSmoothing, kBursty, kCombination };
inline constexpr std::array<Model, 5> kModels = {Model::kNaive, Model::kSeasonalNaive, Model::kSmoothing,
                                                 Model::kBursty, Model::kCombination};
/// The name of a model, such as "seasonal-naive".
[[nodiscard]] std::string_view name_of(Model model);

/// The forecaster of one service: it observes the counts of seconds as they pass, and predicts the next ones.
///
/// Has value semantics and takes at most about 300 KiB for any arrivals. An observation costs a few us, a prediction of
/// 200 seconds a few tens of us. docs/reference/forecast.md describes the models.
class Forecaster {
 public:
  explicit Forecaster(Model model = Model::kCombination);
  Forecaster(const Forecaster& other);
  Forecaster(Forecaster&& other) noexcept;
  Forecaster& operator=(const Forecaster& other);
  Forecaster& operator=(Forecaster&& other) noexcept;
  ~Forecaster();

  /// Observes the arrivals of a second. Seconds strictly increase; a second that is skipped is unknown, not zero.
  /// Requires: second > the last one, requests >= 0.
  void observe(std::int64_t second, std::int64_t requests);

  /// The quantiles of each of the `seconds` seconds from `from_second` on. Depends only on the observations. Before the
  /// first observation: the prior of docs/reference/forecast.md. Requires: from_second > the last observed one, seconds
  /// >= 0.
  [[nodiscard]] std::vector<Quantiles> predict(std::int64_t from_second, std::int64_t seconds) const;

  /// The expected requests of the same seconds (not whole; their sum is the expected work). Requires: as `predict`.
  [[nodiscard]] std::vector<double> means(std::int64_t from_second, std::int64_t seconds) const;

  /// The bands of that second. Requires: second > the last observed one.
  [[nodiscard]] Bands bands(std::int64_t second) const;

  /// The same forecasts before their quantiles are rounded to counts (detail::Spread), for judging coverage.
  [[nodiscard]] std::vector<detail::UnroundedForecast> predict_unrounded(std::int64_t from_second,
                                                                         std::int64_t seconds) const;

  /// For base/core/archive.h: at most about 300 KiB, much less in the first hours.
  static void archive_fields(ArchiveWriter& archive, const Forecaster& forecaster);
  static void archive_fields(ArchiveReader& archive, Forecaster& forecaster);

 private:
  class Learner;
  std::unique_ptr<Learner> learner_;
};

}  // namespace berth::forecast
