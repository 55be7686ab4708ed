/// Every metric of a running engine: the families that a scrape gives, and docs/reference/metrics.md, come from this
/// table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "domain/values/metric.h"

namespace berth::metrics {

enum class MetricArea : std::uint8_t { kFleet, kService, kPlanner, kProcess };

/// In the order of the table.
enum class Metric : std::uint8_t {
  kGpus,
  kSlices,
  kSmSeconds,
  kGpuSeconds,
  kCost,
  kServiceRequests,
  kServiceAnswers,
  kServiceAccuracy,
  kServiceBatches,
  kServiceLatency,
  kServiceQueue,
  kServiceCapacity,
  kServiceObjective,
  kServiceWaiting,
  kServiceSpeedFactor,
  kForecastJudged,
  kForecastInside,
  kPlans,
  kPlanSolve,
  kPlanGap,
  kPlanAge,
  kPlanActions,
  kPlanGain,
  kPlanningPaused,
  kWorldSecond,
  kStep,
  kJournalCommit,
  kReadOnly,
  kHttpRequest,
  kOtlpItems,
  kBuildInfo,
  kProcessCpu,
  kProcessResident,
  kProcessVirtual,
  kProcessStart,
  kProcessOpenFiles,
  kProcessMaxFiles,
};
inline constexpr std::size_t kMetricCount = 37;

/// The name of the label of samples that sum what has no series of its own; its value is "true".
inline constexpr std::string_view kOverflowLabel = "overflow";

struct MetricRow {
  Metric metric = Metric::kGpus;
  MetricArea area = MetricArea::kFleet;
  std::string_view name;  ///< whole
  MetricKind kind = MetricKind::kGauge;
  std::array<std::string_view, 4> labels{};  ///< names, in their order; the rest is empty
  bool is_summed = false;                    ///< of services and tenants without series of their own there is a sum
  std::string_view help;                     ///< a sentence
  std::string_view missing;                  ///< when there is no sample; empty: never

  [[nodiscard]] std::size_t label_count() const;
};

/// By Metric.
[[nodiscard]] std::span<const MetricRow> metric_table();

/// The families of a scrape, one for each row of the table.
class FamilySet {
 public:
  FamilySet();

  /// A sample with the values of the row's labels. Requires: as many values as labels, a value of the row's kind, no
  /// set of labels twice.
  void add(Metric metric, std::initializer_list<std::string_view> values, double value);
  void add(Metric metric, std::initializer_list<std::string_view> values, MetricHistogram value);
  /// The same for what has no series of its own: with the label kOverflowLabel.
  void add_rest(Metric metric, std::initializer_list<std::string_view> values, double value);
  void add_rest(Metric metric, std::initializer_list<std::string_view> values, MetricHistogram value);
  /// A sample with its labels. Requires: they are the row's, perhaps with kOverflowLabel behind them.
  void add(Metric metric, MetricSample sample);

  [[nodiscard]] std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  void put(Metric metric, std::initializer_list<std::string_view> values, bool is_rest,
           std::variant<double, MetricHistogram> value);

  std::vector<MetricFamily> families_;  ///< by Metric
};

/// The lines of the text format that a sample of a histogram with so many bounds becomes.
[[nodiscard]] constexpr std::size_t histogram_series(std::size_t bounds) { return bounds + 3; }

}  // namespace berth::metrics
