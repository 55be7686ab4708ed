#include "kube/devices/quantity.h"

#include <array>
#include <utility>

#include "base/core/decimal.h"

namespace berth::kube {
namespace {

struct Suffix {
  std::string_view text;
  std::string_view factor;
};
constexpr std::array kSuffixes = {
    Suffix{"Ki", "1024"},          Suffix{"Mi", "1048576"},          Suffix{"Gi", "1073741824"},
    Suffix{"Ti", "1099511627776"}, Suffix{"Pi", "1125899906842624"}, Suffix{"Ei", "1152921504606846976"},
    Suffix{"n", "0.000000001"},    Suffix{"u", "0.000001"},          Suffix{"m", "0.001"},
    Suffix{"k", "1000"},           Suffix{"M", "1000000"},           Suffix{"G", "1000000000"},
    Suffix{"T", "1000000000000"},  Suffix{"P", "1000000000000000"},  Suffix{"E", "1000000000000000000"},
};

}  // namespace

std::optional<std::int64_t> parse_quantity_milli(std::string_view text) {
  Decimal factor(1'000);
  for (const Suffix& suffix : kSuffixes) {
    if (!text.ends_with(suffix.text)) continue;
    factor = factor * Decimal::parse(suffix.factor).value();
    text.remove_suffix(suffix.text.size());
    break;
  }
  const auto number = Decimal::parse(text);
  if (!number) return std::nullopt;
  const Decimal milli = *number * factor;
  if (!milli.fits_int64()) return std::nullopt;
  const std::int64_t down = milli.floor();
  return Decimal(down) < milli ? down + 1 : down;
}

}  // namespace berth::kube
