// Numbers are read as the C library reads them, and what is written reads back as the same number.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "serving/protocol/detail/json_number.h"

namespace berth::serving::protocol::detail {
namespace {

JsonNumber must_scan(const std::string& text) {
  JsonNumber number;
  RC_ASSERT(scan_number(text, number));
  RC_ASSERT(number.text == text);
  return number;
}

/// Decimals near the limits of the fast ways: few and many digits, small and large exponents.
std::string any_decimal() {
  const auto digits = *rc::gen::weightedOneOf<std::uint64_t>(
      {{3, rc::gen::inRange<std::uint64_t>(0, 100'000)}, {2, rc::gen::arbitrary<std::uint64_t>()}});
  std::string text = *rc::gen::arbitrary<bool>() ? "-" : "";
  text += fmt::to_string(digits);
  if (*rc::gen::arbitrary<bool>()) text += fmt::format(".{:019}", *rc::gen::arbitrary<std::uint32_t>());
  if (*rc::gen::arbitrary<bool>()) text += fmt::format("e{}", *rc::gen::inRange(-400, 400));
  return text;
}

template <class Real>
void must_equal(std::optional<Real> found, Real wanted) {
  RC_ASSERT(found.has_value() == static_cast<bool>(std::isfinite(wanted)));
  if (found) {
    RC_ASSERT(*found == wanted);
    RC_ASSERT(std::signbit(*found) == std::signbit(wanted));
  }
}

RC_GTEST_PROP(JsonNumberProperty, DecimalsAreReadAsTheCLibraryReadsThem, ()) {
  const std::string text = any_decimal();
  const JsonNumber number = must_scan(text);
  must_equal(double_of(number), std::strtod(text.c_str(), nullptr));
  must_equal(float_of(number), std::strtof(text.c_str(), nullptr));
}

/// The double in the middle between two floats, written with all its digits and one more: the hard case of rounding.
RC_GTEST_PROP(JsonNumberProperty, MiddlesBetweenFloats, ()) {
  const auto bits = *rc::gen::inRange<std::uint32_t>(0, 0x7F000000);
  const double below = std::bit_cast<float>(bits);
  const double above = std::bit_cast<float>(bits + 1);
  for (const char* const last : {"", "0000001"}) {
    std::string text = fmt::format("{:.170f}", below + (above - below) / 2);
    text += last;
    must_equal(float_of(must_scan(text)), std::strtof(text.c_str(), nullptr));
    text.resize(std::min<std::size_t>(text.size(), 18));
    if (text.ends_with('.')) text += '0';
    must_equal(float_of(must_scan(text)), std::strtof(text.c_str(), nullptr));
  }
}

template <class Real, class Bits>
void must_read_back(Bits bits) {
  const Real number = std::bit_cast<Real>(bits);
  if (!std::isfinite(number)) return;
  std::string text;
  append_number(text, number);
  RC_ASSERT(text.find_first_of(".e") != std::string::npos);
  const JsonNumber scanned = must_scan(text);
  if constexpr (sizeof(Real) == sizeof(float)) {
    must_equal(float_of(scanned), number);
  } else {
    must_equal(double_of(scanned), number);
  }
}

RC_GTEST_PROP(JsonNumberProperty, WhatIsWrittenReadsBackAsTheSame, (std::uint32_t single, std::uint64_t longer)) {
  must_read_back<float>(single);
  must_read_back<double>(longer);
}

RC_GTEST_PROP(JsonNumberProperty, IntegersAreExact, (std::int64_t number)) {
  const JsonNumber scanned = must_scan(fmt::to_string(number));
  RC_ASSERT(integer_of<std::int64_t>(scanned) == number);
  const bool fits = number >= INT16_MIN && number <= INT16_MAX;
  RC_ASSERT(integer_of<std::int16_t>(scanned).has_value() == fits);
  RC_ASSERT(integer_of<std::uint64_t>(scanned).has_value() == (number >= 0));
}

}  // namespace
}  // namespace berth::serving::protocol::detail
