#include "tier/enforce/seen_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <set>
#include <utility>

#include "base/core/ensure.h"
#include "tier/hardware/gpu_figures.h"
#include "tier/hardware/slice_share.h"

namespace berth::tier {
namespace {

/// The known rows of one slice by processes, then batch.
struct KnownSlice {
  std::string gpu;
  double tflops = 0;
  std::map<int, std::vector<const PerformancePoint*>> rows;
};

/// The latency in ms of a batch by rows of one number of processes, ascending by batch.
double latency_at(const std::vector<const PerformancePoint*>& rows, int batch) {
  const auto above = std::ranges::find_if(rows, [&](const PerformancePoint* row) { return row->batch >= batch; });
  if (above == rows.end()) return rows.back()->latency_ms.to_double() * batch / rows.back()->batch;
  const double latency_ms = (*above)->latency_ms.to_double();
  if ((*above)->batch == batch || above == rows.begin()) return latency_ms;
  const PerformancePoint& below = **(above - 1);
  const double share = static_cast<double>(batch - below.batch) / ((*above)->batch - below.batch);
  return below.latency_ms.to_double() + (latency_ms - below.latency_ms.to_double()) * share;
}

/// The same for a number of processes: of the most measured ones that are no more, else of the fewest.
double latency_at(const KnownSlice& slice, int processes, int batch) {
  auto rows = slice.rows.upper_bound(processes);
  if (rows != slice.rows.begin()) --rows;
  const double slower = std::max(1.0, static_cast<double>(processes) / rows->first);
  return latency_at(rows->second, batch) * slower;
}

class RowPredictor {
 public:
  RowPredictor(const PerformanceTable& all, std::span<const std::string> known_on, const RowPrediction& prediction)
      : compute_of_(prediction.compute_of), forest_(prediction.forest), z_(normal_quantile(1 - prediction.sure)) {
    for (const PerformancePoint& point : all.points) {
      if (std::ranges::find(known_on, point.gpu) == known_on.end()) continue;
      const auto tflops = compute_of_(point.gpu, point.profile);
      if (!tflops) continue;
      const auto [at, is_new] = place_of_.try_emplace(SliceName(point.gpu, point.profile), known_.size());
      if (is_new) known_.push_back({.gpu = point.gpu, .tflops = *tflops, .rows = {}});
      known_[at->second].rows[point.processes].push_back(&point);
    }
    if (!known_.empty()) learn_use();
  }

  [[nodiscard]] std::optional<PerformancePoint> predict(const PerformancePoint& wanted) const {
    const auto compared = compare({wanted.gpu, wanted.profile});
    if (!compared) return std::nullopt;
    const auto& [source, speed_up] = *compared;
    constexpr std::int64_t kNanosPerMilli = 1'000'000;
    const double nanos = latency_at(*source, wanted.processes, wanted.batch) * kNanosPerMilli /
                         std::exp(speed_up.mean + speed_up.spread * z_);
    PerformancePoint point{.gpu = wanted.gpu,
                           .profile = wanted.profile,
                           .batch = wanted.batch,
                           .processes = wanted.processes,
                           .requests_per_second = {},
                           .latency_ms = Decimal(std::max<std::int64_t>(1, std::llround(nanos)), kNanosPerMilli)};
    point.requests_per_second = Decimal(1000) * Decimal(wanted.processes) * Decimal(wanted.batch) / point.latency_ms;
    return point;
  }

 private:
  /// A slice compared with a known one.
  struct Compared {
    const KnownSlice* source = nullptr;
    LogSpeedUp speed_up;
  };

  [[nodiscard]] std::optional<Compared> compare(const SliceName& wanted) const {
    if (auto by_forest = compare_by_forest(wanted)) return by_forest;
    const auto tflops = compute_of_(wanted.first, wanted.second);
    if (!tflops || known_.empty()) return std::nullopt;
    const auto distance = [&](const KnownSlice& slice) { return std::abs(std::log(*tflops / slice.tflops)); };
    const KnownSlice& source = *std::ranges::min_element(known_, {}, distance);
    const double log_ratio = std::log(*tflops / source.tflops);
    return Compared{
        .source = &source,
        .speed_up = {.mean = use_ * log_ratio, .spread = std::hypot(kModelSpread, use_spread_ * log_ratio)}};
  }

  [[nodiscard]] std::optional<Compared> compare_by_forest(const SliceName& wanted) const {
    if (forest_ == nullptr) return std::nullopt;
    const auto source = place_of_.find(forest_->over);
    const auto speed_up = forest_->of.find(wanted);
    if (source == place_of_.end() || speed_up == forest_->of.end()) return std::nullopt;
    return Compared{.source = &known_[source->second], .speed_up = speed_up->second};
  }

  /// Weighs what each known GPU model shows of the use against what is assumed of any service.
  void learn_use() {
    const KnownSlice& least = *std::ranges::min_element(known_, {}, &KnownSlice::tflops);
    std::map<std::string, const KnownSlice*> largest;
    for (const KnownSlice& slice : known_) {
      const KnownSlice*& known = largest[slice.gpu];
      if (known == nullptr || slice.tflops > known->tflops) known = &slice;
    }
    double weights = 1 / (kUseSpread * kUseSpread);
    double sum = kUse * weights;
    for (const auto& [gpu, slice] : largest) {
      const double log_ratio = std::log(slice->tflops / least.tflops);
      if (gpu == least.gpu || log_ratio < kModelSpread) continue;  // too alike to show anything
      const double weight = log_ratio * log_ratio / (kModelSpread * kModelSpread);
      weights += weight;
      sum += weight * mean_log_speed_up(*slice, least) / log_ratio;
    }
    use_ = sum / weights;
    use_spread_ = std::sqrt(1 / weights);
  }

  /// Over the rows of the faster slice.
  [[nodiscard]] static double mean_log_speed_up(const KnownSlice& fast, const KnownSlice& slow) {
    double sum = 0;
    int count = 0;
    for (const auto& [processes, rows] : fast.rows) {
      for (const PerformancePoint* row : rows) {
        sum += std::log(latency_at(slow, processes, row->batch) / row->latency_ms.to_double());
        ++count;
      }
    }
    return sum / count;
  }

  const ComputeOf& compute_of_;
  const ForestSpeeds* forest_;
  double z_;
  double use_ = kUse;
  double use_spread_ = kUseSpread;
  std::vector<KnownSlice> known_;  ///< in the order of the table
  std::map<SliceName, std::size_t> place_of_;
};

}  // namespace

SeenRows seen_rows(const PerformanceTable& all, std::span<const std::string> known_on,
                   const RowPrediction& prediction) {
  const RowPredictor predictor(all, known_on, prediction);
  SeenRows seen{.table = {.model = all.model, .points = {}}, .predicted_on = {}};
  std::set<std::string> predicted;
  for (const PerformancePoint& point : all.points) {
    if (std::ranges::find(known_on, point.gpu) != known_on.end()) {
      seen.table.points.push_back(point);
    } else if (auto row = predictor.predict(point)) {
      predicted.insert(point.gpu);
      seen.table.points.push_back(std::move(*row));
    }
  }
  seen.predicted_on.assign(predicted.begin(), predicted.end());
  return seen;
}

ComputeOf hardware_compute() {
  return [](const std::string& gpu, const std::string& profile) -> std::optional<double> {
    const auto figures = find_gpu_figures(gpu);
    if (!figures) return std::nullopt;
    const auto share = slice_share(*figures, profile);
    if (!share) return std::nullopt;
    return (figures->tflops * share->compute).to_double();
  };
}

double normal_quantile(double probability) {
  ENSURE(probability > 0 && probability < 1);
  constexpr double kFarthest = 10;
  constexpr int kHalvings = 60;
  double low = -kFarthest;
  double high = kFarthest;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    const double below = std::erfc(-middle / std::numbers::sqrt2) / 2;
    (below < probability ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace berth::tier
