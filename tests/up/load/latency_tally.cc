#include "latency_tally.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace berth::load {
namespace {

/// The smallest of the sorted values that is not below this share of them; null without values.
std::string quantile_text(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return "null";
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return fmt::format("{:.3f}", sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]);
}

}  // namespace

void LatencyTally::add(int status, Clock::time_point begin, Clock::time_point end, bool is_late) {
  ++status_counts_[status];
  if (status / 100 != 2) return;
  late_count_ += is_late ? 1 : 0;
  succeeded_ms_.push_back(std::chrono::duration<double, std::milli>(end - begin).count());
}

std::string LatencyTally::json(double seconds) const {
  std::vector<double> sorted = succeeded_ms_;
  std::ranges::sort(sorted);
  const double in_time = static_cast<double>(sorted.size() - late_count_);
  std::vector<std::string> statuses;
  statuses.reserve(status_counts_.size());
  for (const auto& [status, count] : status_counts_) statuses.push_back(fmt::format(R"("{}":{})", status, count));
  return fmt::format(
      R"({{"succeeded":{},"per_second":{:.1f},"p50_ms":{},"p90_ms":{},"p99_ms":{},"max_ms":{},"statuses":{{{}}},)"
      R"("unanswered":{}}})",
      sorted.size(), seconds > 0 ? in_time / seconds : 0.0, quantile_text(sorted, 0.5), quantile_text(sorted, 0.9),
      quantile_text(sorted, 0.99), quantile_text(sorted, 1.0), fmt::join(statuses, ","), unanswered_count_);
}

}  // namespace berth::load
