/// What is kept of the values of an activation, however many there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::models {

/// The least and the largest value, and a histogram. Its bins are equally wide, cover [-limit, limit) where `limit` is
/// the least power of two above the largest magnitude, and grow by merging neighbours, so that one pass over the
/// values is enough, and the order of the values does not matter. At least 2048 bins lie between zero and the largest
/// magnitude. Zeros are counted apart: every quantisation keeps them exactly. 64 KiB.
class RangeStatistics {
 public:
  static constexpr std::size_t kBinCount = 8192;  // half of them below zero

  /// O(values). Values that are not finite are counted only.
  void add(std::span<const float> values);
  /// As if the values of `other` had been added.
  void merge(const RangeStatistics& other);

  /// Of finite values; 0 if there was none.
  [[nodiscard]] float min() const { return min_; }
  [[nodiscard]] float max() const { return max_; }
  [[nodiscard]] std::uint64_t finite_count() const { return finite_count_; }
  [[nodiscard]] std::uint64_t zero_count() const { return zero_count_; }
  [[nodiscard]] std::uint64_t not_finite_count() const { return not_finite_count_; }
  /// Sum of the squares of all finite values.
  [[nodiscard]] double energy() const { return energy_; }

  /// Values other than zero from `low` to `low + width`.
  struct Bin {
    double low;
    double width;
    std::uint64_t count;

    [[nodiscard]] double centre() const { return low + width / 2; }
    friend bool operator==(const Bin&, const Bin&) = default;
  };
  /// Those that are not empty, ascending.
  [[nodiscard]] std::vector<Bin> bins() const;

  friend bool operator==(const RangeStatistics&, const RangeStatistics&) = default;

 private:
  [[nodiscard]] double bin_width() const;
  void grow_to(int exponent);

  float min_ = 0;
  float max_ = 0;
  std::uint64_t finite_count_ = 0;
  std::uint64_t zero_count_ = 0;
  std::uint64_t not_finite_count_ = 0;
  double energy_ = 0;
  int exponent_ = 0;                        // limit is two to this power
  std::vector<std::uint64_t> counts_ = {};  // empty before the first value other than zero
};

}  // namespace berth::models
