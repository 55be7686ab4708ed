#include "domain/tracing/sampling.h"

#include <cmath>
#include <cstddef>

namespace berth {
namespace {

constexpr int kRatioBits = 56;  // of a trace id, its last 7 bytes: those that W3C Trace Context 2 calls random

bool is_in_share(double share, const TraceId& trace) {
  if (share >= 1) return true;
  std::uint64_t number = 0;
  for (std::size_t i = 9; i < trace.bytes.size(); ++i) number = number << 8U | trace.bytes[i];
  return static_cast<double>(number) < std::ldexp(share, kRatioBits);
}

}  // namespace

bool is_recorded(const Sampler& sampler, const TraceId& trace, const std::optional<TraceContext>& parent) {
  if (parent && sampler.follows_parent) return parent->is_sampled;
  return is_in_share(sampler.share, trace);
}

bool RateLimit::take(std::int64_t now_us) {
  const std::int64_t second = now_us / 1'000'000;
  if (second > second_) {
    second_ = second;
    count_ = 0;
  }
  if (count_ >= per_second_) return false;
  ++count_;
  return true;
}

}  // namespace berth
