#include "domain/trace/detail/even_spacing.h"

#include "base/core/ensure.h"
#include "base/core/instant.h"
#include "domain/values/arrivals.h"

namespace berth::detail {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int kDecimalPlacesMax = 18;
constexpr auto kMicros = static_cast<std::uint64_t>(kMicrosPerSecond);

}  // namespace

EvenSpacing::EvenSpacing(const Decimal& rate) : rate_(rate) {
  ENSURE(rate.sign() >= 0 && rate <= Decimal(kRequestsPerSecondMax));
  std::int64_t power = 1;
  for (int places = 0; places <= kDecimalPlacesMax; ++places) {
    const Decimal scaled = rate * Decimal(power);
    if (!scaled.fits_int64()) return;
    if (scaled.is_integer()) {
      numerator_ = static_cast<std::uint64_t>(scaled.floor());
      denominator_ = static_cast<std::uint64_t>(power);
      return;
    }
    if (places < kDecimalPlacesMax) power *= 10;
  }
}

std::int64_t EvenSpacing::before(std::int64_t second) const {
  // Request k arrives before second s exactly if k < s x rate.
  if (denominator_ == 0) return -(Decimal(-second) * rate_).floor();
  const Wide product = Wide{static_cast<std::uint64_t>(second)} * numerator_;
  return static_cast<std::int64_t>((product + denominator_ - 1) / denominator_);
}

void EvenSpacing::offsets(std::int64_t second, std::vector<std::uint32_t>& out) const {
  out.resize(static_cast<std::size_t>(count(second)));
  if (out.empty()) return;
  if (denominator_ == 0) {
    offsets_of_rationals(second, out);
  } else {
    offsets_of_integers(second, out);
  }
}

void EvenSpacing::offsets_of_integers(std::int64_t second, std::vector<std::uint32_t>& out) const {
  const Wide lead = Wide{static_cast<std::uint64_t>(before(second))} * denominator_ -
                    Wide{static_cast<std::uint64_t>(second)} * numerator_;
  auto offset = static_cast<std::uint32_t>(lead * kMicros / numerator_);
  auto remainder = static_cast<std::uint64_t>(lead * kMicros % numerator_);
  // Offsets after the first one exist only for gaps below a second, so that a step fits 32 bits whenever it is used.
  const Wide gap = Wide{denominator_} * kMicros;
  const auto step = static_cast<std::uint32_t>(gap / numerator_);
  const auto step_remainder = static_cast<std::uint64_t>(gap % numerator_);
  for (std::uint32_t& out_offset : out) {
    out_offset = offset;
    offset += step;
    remainder += step_remainder;
    if (remainder >= numerator_) {
      remainder -= numerator_;
      ++offset;
    }
  }
}

void EvenSpacing::offsets_of_rationals(std::int64_t second, std::vector<std::uint32_t>& out) const {
  const Decimal begin(second * kMicrosPerSecond);
  std::int64_t request = before(second);
  for (std::uint32_t& offset : out) {
    const Decimal at = Decimal(request++) * Decimal(kMicrosPerSecond) / rate_;
    offset = static_cast<std::uint32_t>((at - begin).floor());
  }
}

}  // namespace berth::detail
