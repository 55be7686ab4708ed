#include "surface/pages/ledger_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/core/figure_text.h"
#include "base/core/proportion.h"
#include "ledger/billing/csv.h"
#include "surface/pages/page_parts.h"

namespace berth::report {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";
constexpr int kMoneyDecimals = 6;
constexpr std::string_view kMinus = "\u2212";

/// The bytes of the control character at the beginning; 0 if there is none.
std::size_t control_size(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) < 0xA0) return 2;  // C1
  if (byte(0) != 0xE2) return 0;
  const bool embeds = byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE;    // U+202A to U+202E
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;  // U+2066 to U+2069
  return embeds || isolates ? 3 : 0;
}

/// A name of nothing but spaces is quoted.
std::string without_controls(std::string_view name) {
  std::string text;
  while (!name.empty()) {
    const std::size_t size = control_size(name);
    text += size > 0 ? kReplacement : name.substr(0, 1);
    name.remove_prefix(size > 0 ? size : 1);
  }
  return text.find_first_not_of(' ') == std::string::npos ? "“" + text + "”" : text;
}

std::string with_sign(std::string_view prefix, const std::string& decimal) {
  const bool is_negative = decimal.starts_with('-');
  return fmt::format("{}{}{}", is_negative ? kMinus : "", prefix, separated(is_negative ? decimal.substr(1) : decimal));
}

}  // namespace

std::string isolated(std::string_view name) {
  std::string text = without_controls(name);
  const bool is_ascii = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return is_ascii ? text : "\u2068" + text + "\u2069";
}

std::string name_markup(std::string_view name) { return "<bdi>" + html_escaped(without_controls(name)) + "</bdi>"; }

std::string exact_money(ledger::MicroUsd micro) {
  const std::string decimal = ledger::decimal_of(micro, kMoneyDecimals);
  return fmt::format(R"(<data value="{}">{}</data>)", decimal, with_sign("", decimal));
}

std::string usd_text(ledger::MicroUsd micro_usd) {
  constexpr std::int64_t kMicrosPerCent = 10'000;
  const bool is_below_a_cent = micro_usd != 0 && micro_usd > -kMicrosPerCent && micro_usd < kMicrosPerCent;
  if (is_below_a_cent) return with_sign("$", ledger::decimal_of(micro_usd, kMoneyDecimals));
  return with_sign("$", ledger::decimal_of(multiply_divide_half_even(micro_usd, 1, kMicrosPerCent), 2));
}

std::string gpu_hours_text(ledger::GpuMicros gpu_us, int decimals) {
  constexpr std::int64_t kMicrosPerHour = 3'600'000'000;
  std::int64_t unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  return with_sign("", ledger::decimal_of(multiply_divide_half_even(gpu_us, unit, kMicrosPerHour), decimals));
}

std::string share_text(Int128 part, Int128 whole) {
  if (whole <= 0) return "–";
  return with_sign("", ledger::decimal_of(multiply_divide_half_even(part, 1000, whole), 1)) + "\u00A0%";
}

std::string utc_text(std::int64_t us) {
  const std::int64_t second = us % kMicrosPerDay / 1'000'000;
  const std::int64_t fraction = us % 1'000'000;
  std::string text = fmt::format("{} {:02}:{:02}", Date(day_of(us)).to_string(), second / 3600, second / 60 % 60);
  if (second % 60 != 0 || fraction != 0) text += fmt::format(":{:02}", second % 60);
  if (fraction != 0) text += fmt::format(".{:06}", fraction);
  return text;
}

std::string month_words(Month month) {
  constexpr std::array<std::string_view, 12> kNames = {"January",   "February", "March",    "April",
                                                       "May",       "June",     "July",     "August",
                                                       "September", "October",  "November", "December"};
  return fmt::format("{} {}", kNames.at(static_cast<std::size_t>(month.index() % 12)), 1970 + month.index() / 12);
}

}  // namespace berth::report
