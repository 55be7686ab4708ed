#include "serving/gateway/replica_load.h"

#include <algorithm>
#include <cmath>

namespace berth::serving {
namespace {

constexpr double kWeightOfNew = 0.1;
constexpr double kFactorMax = 64;
constexpr double kHalfLifeUs = 10e6;  // of what is known without new requests

double batch_us(std::span<const BatchLatency> latencies, std::int64_t count) {
  const auto at = std::ranges::find_if(latencies, [count](const BatchLatency& each) { return each.batch >= count; });
  return static_cast<double>(at == latencies.end() ? latencies.back().latency.count() : at->latency.count());
}

}  // namespace

double predicted_completion_us(std::span<const BatchLatency> latencies, std::int64_t count) {
  if (latencies.empty()) return static_cast<double>(count * kUnknownLatency.count());
  const BatchLatency& largest = latencies.back();
  const std::int64_t rest = count % largest.batch;
  const double full = static_cast<double>(count / largest.batch) * static_cast<double>(largest.latency.count());
  return rest == 0 ? full : full + batch_us(latencies, rest);
}

void SlowdownAverage::measure(double predicted_us, double measured_us, Instant now) {
  const double found = std::clamp(measured_us / std::max(predicted_us, 1.0), 1 / kFactorMax, kFactorMax);
  factor_ = factor(now) * (1 - kWeightOfNew) + found * kWeightOfNew;
  measured_at_ = now;
}

double SlowdownAverage::factor(Instant now) const {
  const double age_us = std::max<double>(static_cast<double>((now - measured_at_).count()), 0);
  return 1 + (factor_ - 1) * std::exp2(-age_us / kHalfLifeUs);
}

}  // namespace berth::serving
