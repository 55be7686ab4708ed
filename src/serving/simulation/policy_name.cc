#include "serving/simulation/policy_name.h"

#include "base/core/text.h"

namespace berth::serving {
namespace {

constexpr std::string_view kDelayPrefix = "delay:";
constexpr std::int64_t kDelayMax = 3'600'000'000;

}  // namespace

Result<DispatchPolicy> parse_policy(std::string_view text) {
  if (text == "berth") return DispatchPolicy{};
  if (text == "eager") return DispatchPolicy{.rival = RivalKind::kEager};
  if (text == "aimd") return DispatchPolicy{.rival = RivalKind::kAimd};
  if (text.starts_with(kDelayPrefix)) {
    const auto delay = parse_count(text.substr(kDelayPrefix.size()), kDelayMax);
    if (delay) return DispatchPolicy{.rival = RivalKind::kDelay, .delay = Micros(*delay)};
  }
  return invalid("wanted berth, eager, delay:MICROSECONDS (0 to 3600000000) or aimd, found " + in_quotes(text));
}

std::string name_of(const DispatchPolicy& policy) {
  if (!policy.rival) return "berth";
  switch (*policy.rival) {
    case RivalKind::kEager:
      return "eager";
    case RivalKind::kDelay:
      return std::string(kDelayPrefix) + std::to_string(policy.delay.count());
    case RivalKind::kAimd:
      break;
  }
  return "aimd";
}

Result<EvictionRule> parse_eviction(std::string_view text) {
  if (text == "value") return EvictionRule::kValue;
  if (text == "lru") return EvictionRule::kLru;
  if (text == "warm") return EvictionRule::kWarm;
  return invalid("wanted value, lru or warm, found " + in_quotes(text));
}

std::string_view name_of(EvictionRule rule) {
  switch (rule) {
    case EvictionRule::kValue:
      return "value";
    case EvictionRule::kLru:
      return "lru";
    case EvictionRule::kWarm:
      break;
  }
  return "warm";
}

}  // namespace berth::serving
