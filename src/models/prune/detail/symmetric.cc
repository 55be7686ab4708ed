#include "models/prune/detail/symmetric.h"

#include <algorithm>
#include <cmath>

namespace berth::models {
namespace {

/// L of matrix = L L^T, below and on the diagonal.
std::vector<double> cholesky_factor(const std::vector<double>& matrix, std::size_t n) {
  std::vector<double> factor(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= factor[i * n + k] * factor[j * n + k];
      if (i != j) {
        factor[i * n + j] = sum / factor[j * n + j];
        continue;
      }
      const bool is_usable = sum > 1e-14 * std::max(matrix[i * n + i], 1e-300);
      if (!is_usable) std::fill_n(factor.begin() + static_cast<std::ptrdiff_t>(i * n), i, 0.0);
      factor[i * n + i] = is_usable ? std::sqrt(sum) : 1.0;
    }
  }
  return factor;
}

}  // namespace

std::vector<double> inverse_of(const std::vector<double>& matrix, std::size_t n) {
  const std::vector<double> factor = cholesky_factor(matrix, n);
  // Rows of L^-1, of which the inverse is the product with its own transpose.
  std::vector<double> lower(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const double each = factor[i * n + k];
      if (each == 0) continue;
      for (std::size_t j = 0; j <= k; ++j) lower[i * n + j] -= each * lower[k * n + j];
    }
    lower[i * n + i] = 1;
    for (std::size_t j = 0; j <= i; ++j) lower[i * n + j] /= factor[i * n + i];
  }
  std::vector<double> inverse(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i <= k; ++i) {
      const double each = lower[k * n + i];
      if (each == 0) continue;
      for (std::size_t j = 0; j <= i; ++j) inverse[i * n + j] += each * lower[k * n + j];
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) inverse[j * n + i] = inverse[i * n + j];
  }
  return inverse;
}

}  // namespace berth::models
