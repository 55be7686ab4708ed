#include "domain/scenario/detail/rules.h"

#include <fmt/format.h>

#include "base/core/duration.h"
#include "domain/scenario/service_keys.h"

namespace berth::scenario::detail {
namespace {

std::int64_t accuracy_micro(const yaml::Value& value) {
  const Decimal share = value.number(yaml::number_from(Decimal(0), Decimal(1)));
  return (share * Decimal(1'000'000)).round_half_up();
}

}  // namespace

Micros duration(const yaml::Value& seconds, Micros fallback) {
  if (!seconds.is_written()) return fallback;
  return micros_from_seconds(seconds.number(yaml::number_from(Decimal(0), Decimal(kDurationSecondsMax))));
}

Micros duration_above_zero(const yaml::Value& seconds) {
  return checked_duration(seconds, seconds.number(yaml::number_above_zero(Decimal(kDurationSecondsMax))));
}

Accuracy accuracy(const yaml::Value& value) {
  if (!value.is_written()) return {};
  if (!value.is_map()) {
    const std::int64_t micro = accuracy_micro(value);
    return {micro, micro};
  }
  value.check_keys(key_names("accuracy"));
  return {accuracy_micro(value.at("before")), accuracy_micro(value.at("after"))};
}

Micros checked_duration(const yaml::Value& value, const Decimal& seconds) {
  const bool is_in_range = seconds <= Decimal(kDurationSecondsMax) && micros_from_seconds(seconds).count() > 0;
  if (is_in_range) return micros_from_seconds(seconds);
  value.fail(fmt::format("wanted at least a microsecond and at most {} s, found {:.6g} s", kDurationSecondsMax,
                         seconds.to_double()));
  return Micros(1);
}

}  // namespace berth::scenario::detail
