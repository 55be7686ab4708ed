#include "surface/cli/shared/money_text.h"

#include <fmt/format.h>

#include "base/core/proportion.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

/// `parts` / `unit` with separators: 1234567 with unit 100 is "12,345.67".
std::string decimal_text(Int128 parts, Int128 unit, int decimals) {
  const Int128 size = parts < 0 ? -parts : parts;
  std::string whole = fmt::format("{}", size / unit);
  for (std::size_t at = whole.size(); at > 3; at -= 3) whole.insert(at - 3, ",");
  return fmt::format("{}{}.{:0{}}", parts < 0 ? "-" : "", whole, size % unit, decimals);
}

}  // namespace

std::string dollars_text(ledger::MicroUsd micro_usd) {
  return decimal_text(multiply_divide_half_even(micro_usd, 1, 10'000), 100, 2);
}

std::string exact_dollars_text(ledger::MicroUsd micro_usd) { return decimal_text(micro_usd, 1'000'000, 6); }

std::string corrections_text(const ledger::LaterCorrection& correction) {
  constexpr std::int64_t kMicrosPerCent = 10'000;
  if (correction.added == 0 && correction.taken_back == 0) return std::string(kAbsentText);
  const bool is_small = correction.added < kMicrosPerCent && correction.taken_back > -kMicrosPerCent;
  const auto text = [&](ledger::MicroUsd amount) {
    return is_small ? exact_dollars_text(amount) : dollars_text(amount);
  };
  return "+" + text(correction.added) + " -" + text(-correction.taken_back);
}

std::string gpu_hours_text(ledger::GpuMicros gpu_us) {
  return decimal_text(multiply_divide_half_even(gpu_us, 1, 36'000'000), 100, 2);
}

std::string percent_text(Int128 part, Int128 whole) {
  if (whole <= 0) return std::string(kAbsentText);
  return decimal_text(multiply_divide_half_even(part, 1000, whole), 10, 1) + " %";
}

}  // namespace berth::cli
