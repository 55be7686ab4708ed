#include "base/core/decimal.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace berth {
namespace {

Decimal any_decimal() {
  const auto numerator = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000);
  const auto places = *rc::gen::inRange(0, 9);
  std::int64_t denominator = 1;
  for (int i = 0; i < places; ++i) denominator *= 10;
  return Decimal(numerator, denominator);
}

RC_GTEST_PROP(DecimalProperty, ItsTextReadsBack, ()) {
  const Decimal value = any_decimal();
  RC_ASSERT(Decimal::parse(value.to_string()).value() == value);
}

RC_GTEST_PROP(DecimalProperty, RoundingIsTheNearestAndOnlyTiesDiffer, ()) {
  const Decimal value = any_decimal();
  const Decimal half(1, 2);
  const Decimal up(value.round_half_up());
  const Decimal even(value.round_half_even());
  RC_ASSERT((value - up <= half && up - value <= half));
  RC_ASSERT((value - even <= half && even - value <= half));
  if (up - value == half) RC_ASSERT(even.round_half_up() % 2 == 0);
  if (!(up - value == half)) RC_ASSERT(up == even);
  RC_ASSERT((Decimal(value.floor()) <= value && value < Decimal(value.floor() + 1)));
}

RC_GTEST_PROP(DecimalProperty, ArithmeticIsExactAndOrderFollowsDifferences, ()) {
  const Decimal a = any_decimal();
  const Decimal b = any_decimal();
  RC_ASSERT(a + b - b == a);
  RC_ASSERT((a < b) == ((a - b).sign() < 0));
  if (b.sign() != 0) RC_ASSERT(a / b * b == a);
}

RC_GTEST_PROP(DecimalProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  const auto result = Decimal::parse(text);
  if (result)
    RC_ASSERT(Decimal::parse(result->to_string().substr(0, 40)).has_value() || result->to_string().size() > 40);
}

}  // namespace
}  // namespace berth
