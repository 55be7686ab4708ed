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

std::vector<double> row_noise(std::span<const Tensor> original, std::span<const Tensor> variant, std::size_t rows) {
  ENSURE(original.size() == variant.size() && rows > 0);
  std::vector<double> noise(rows, 0.0);
  const auto index = detail::first_float(original);
  if (!index) return noise;
  const std::vector<double> was = detail::doubles_of(original[*index]);
  const std::vector<double> is = detail::doubles_of(variant[*index]);
  ENSURE(was.size() == is.size() && was.size() % rows == 0);
  const std::size_t row_size = was.size() / rows;
  for (std::size_t i = 0; i < was.size(); ++i) {
    if (!std::isfinite(was[i])) continue;
    noise[i / row_size] += std::isfinite(is[i]) ? (was[i] - is[i]) * (was[i] - is[i]) : kInfinity;
  }
  return noise;
}

}  // namespace berth::models
