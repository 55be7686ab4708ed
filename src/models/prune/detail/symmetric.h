/// Symmetric positive definite matrices, row by row.
#pragma once

#include <cstddef>
#include <vector>

namespace berth::models {

/// The inverse of the n x n matrix, by Cholesky's factors; rows and columns whose pivot is not above 0 count as
/// independent of all others. O(n^3).
[[nodiscard]] std::vector<double> inverse_of(const std::vector<double>& matrix, std::size_t n);

}  // namespace berth::models
