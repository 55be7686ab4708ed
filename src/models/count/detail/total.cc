#include "models/count/detail/total.h"

namespace berth::models::detail {

std::optional<std::int64_t> product_of(std::optional<std::int64_t> a, std::optional<std::int64_t> b) {
  std::int64_t product = 0;
  if (!a || !b || *a < 0 || *b < 0 || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

std::optional<std::int64_t> product_of(std::span<const std::int64_t> sizes) {
  std::optional<std::int64_t> product = 1;
  for (const std::int64_t size : sizes) product = product_of(product, size);
  return product;
}

void Total::add(std::optional<std::int64_t> term) {
  std::int64_t sum = 0;
  const bool is_known = sum_ && term && !__builtin_add_overflow(*sum_, *term, &sum);
  sum_ = is_known ? std::optional(sum) : std::nullopt;
}

void Total::add_twice(std::optional<std::int64_t> term) {
  add(term);
  add(term);
}

}  // namespace berth::models::detail
