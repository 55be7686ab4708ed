/// Sums and products that may be unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace berth::models::detail {

/// Nothing: a size is not known (negative), or the product leaves 64 bits.
[[nodiscard]] std::optional<std::int64_t> product_of(std::span<const std::int64_t> sizes);
[[nodiscard]] std::optional<std::int64_t> product_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b);

/// A sum, which is unknown as soon as one of its terms is, or when it leaves 64 bits.
class Total {
 public:
  void add(std::optional<std::int64_t> term);
  void add_twice(std::optional<std::int64_t> term);
  [[nodiscard]] std::optional<std::int64_t> sum() const { return sum_; }

 private:
  std::optional<std::int64_t> sum_ = 0;
};

}  // namespace berth::models::detail
