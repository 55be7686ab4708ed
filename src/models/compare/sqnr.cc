#include "models/compare/sqnr.h"

#include <cmath>
#include <limits>

#include "base/core/ensure.h"
#include "models/compare/detail/numbers.h"

namespace berth::models {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Number>
double ratio_db(std::span<const Number> original, std::span<const Number> variant) {
  ENSURE(original.size() == variant.size());
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    const double was = original[i];
    const double is = variant[i];
    if (!std::isfinite(was)) continue;  // such as the -inf of a mask: it has no energy to compare with
    if (!std::isfinite(is)) return -kInfinity;
    signal += was * was;
    noise += (was - is) * (was - is);
  }
  if (noise == 0) return kInfinity;
  return signal == 0 ? -kInfinity : 10 * std::log10(signal / noise);
}

}  // namespace

double sqnr_db(std::span<const float> original, std::span<const float> variant) { return ratio_db(original, variant); }

double sqnr_db(std::span<const Tensor> original, std::span<const Tensor> variant) {
  ENSURE(original.size() == variant.size());
  const auto index = detail::first_float(original);
  if (!index) return kInfinity;
  ENSURE(original[*index].shape == variant[*index].shape);
  const std::vector<double> was = detail::doubles_of(original[*index]);
  const std::vector<double> is = detail::doubles_of(variant[*index]);
  return ratio_db<double>(was, is);
}

}  // namespace berth::models
