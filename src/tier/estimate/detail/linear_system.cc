#include "tier/estimate/detail/linear_system.h"

#include <cmath>
#include <utility>

namespace berth::tier {
namespace {

/// Of a pivot to the entry that it began as: below, rounding decides.
constexpr double kPivotMin = 1e-12;

}  // namespace

void LinearSystem::decompose() {
  for (std::size_t j = 0; j < size_; ++j) {
    const double before = at(j, j);
    double pivot = before;
    for (std::size_t k = 0; k < j; ++k) pivot -= at(j, k) * at(j, k);
    const bool counts = pivot > kPivotMin * before;
    at(j, j) = counts ? std::sqrt(pivot) : 0;
    for (std::size_t i = j + 1; i < size_; ++i) {
      double sum = at(i, j);
      for (std::size_t k = 0; k < j; ++k) sum -= at(i, k) * at(j, k);
      at(i, j) = counts ? sum / at(j, j) : 0;
    }
  }
}

std::vector<double> LinearSystem::solve() {
  decompose();
  std::vector<double> solution = std::move(right_);
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k < i; ++k) solution[i] -= at(i, k) * solution[k];
    solution[i] = at(i, i) > 0 ? solution[i] / at(i, i) : 0;
  }
  for (std::size_t i = size_; i-- > 0;) {
    for (std::size_t k = i + 1; k < size_; ++k) solution[i] -= at(k, i) * solution[k];
    solution[i] = at(i, i) > 0 ? solution[i] / at(i, i) : 0;
  }
  return solution;
}

}  // namespace berth::tier
