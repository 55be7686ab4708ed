/// Small systems of linear equations with a symmetric, positive definite matrix.
#pragma once

#include <cstddef>
#include <vector>

namespace berth::tier {

class LinearSystem {
 public:
  explicit LinearSystem(std::size_t size) : size_(size), matrix_(size * size), right_(size) {}

  /// Only the entries with row >= column are read.
  [[nodiscard]] double& at(std::size_t row, std::size_t column) { return matrix_[row * size_ + column]; }
  [[nodiscard]] double& right(std::size_t row) { return right_[row]; }
  /// By Cholesky's decomposition, in place; a pivot that is not positive is left out (its unknown is 0). O(size^3).
  [[nodiscard]] std::vector<double> solve();

 private:
  void decompose();

  std::size_t size_;
  std::vector<double> matrix_;
  std::vector<double> right_;
};

}  // namespace berth::tier
