#include "models/profiling/random_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "models/rows/read_npy.h"
#include "models/rows/rows_for.h"

namespace berth::models {
namespace {

constexpr std::uint64_t kElementsMax = kArrayBytesMax / 8;

template <class T>
void append(std::string& bytes, T value) {
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof value);
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// By Box and Muller (1958).
double bell(Rng& rng) { return std::sqrt(-2 * std::log(1 - rng.unit())) * std::cos(2 * std::numbers::pi * rng.unit()); }

/// Of 16 bits: from 1 on, below 2, whose exponent is the same for all.
std::uint16_t short_float(TensorType type, Rng& rng) {
  constexpr std::uint16_t kOneFp16 = 0x3C00;
  constexpr std::uint16_t kOneBf16 = 0x3F80;
  return type == TensorType::kFp16 ? static_cast<std::uint16_t>(kOneFp16 | rng.below(1U << 10U))
                                   : static_cast<std::uint16_t>(kOneBf16 | rng.below(1U << 7U));
}

void append_element(Tensor& tensor, Rng& rng) {
  switch (tensor.type) {
    case TensorType::kBytes:
      tensor.texts.emplace_back(rng.below(2) == 0 ? "a" : "b");
      return;
    case TensorType::kFp32:
      return append(tensor.bytes, static_cast<float>(bell(rng)));
    case TensorType::kFp64:
      return append(tensor.bytes, bell(rng));
    case TensorType::kFp16:
    case TensorType::kBf16:
      return append(tensor.bytes, short_float(tensor.type, rng));
    default:
      tensor.bytes += static_cast<char>(rng.below(2));
      tensor.bytes.append(element_bytes(tensor.type) - 1, '\0');
  }
}

Result<Tensor> random_tensor(const TensorSignature& input, std::vector<std::int64_t> shape, Rng& rng) {
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      return invalid(
          fmt::format("input {}: wanted sizes for all dimensions but the first, found {}; --inputs gives rows",
                      in_quotes(input.name), shape_text(input.shape)));
    }
    elements *= static_cast<std::uint64_t>(size);
    if (elements > kElementsMax) {
      return invalid(fmt::format("input {}: wanted rows that fit into memory, found the shape {}",
                                 in_quotes(input.name), shape_text(shape)));
    }
  }
  Tensor tensor{.name = input.name, .type = input.type, .shape = std::move(shape)};
  for (std::uint64_t i = 0; i < elements; ++i) append_element(tensor, rng);
  return tensor;
}

struct RowPlan {
  std::int64_t count = 0;
  bool rows_are_runs = false;
};

/// A number of rows that is no other input's first dimension: that one goes with all rows.
RowPlan plan_rows(std::span<const TensorSignature> inputs, std::int64_t count) {
  std::set<std::int64_t> fixed;
  bool is_open = false;
  for (const TensorSignature& input : inputs) {
    if (input.shape.empty()) continue;
    if (input.shape[0] < 0)
      is_open = true;
    else
      fixed.insert(input.shape[0]);
  }
  if (!is_open && fixed.size() == 1) return {.count = *fixed.begin()};
  if (!is_open) return {.count = 1, .rows_are_runs = true};
  while (fixed.contains(count)) ++count;
  return {.count = count};
}

}  // namespace

Result<RowSet> random_rows(std::span<const TensorSignature> inputs, std::int64_t count, Rng rng) {
  ENSURE(count > 0);
  const RowPlan plan = plan_rows(inputs, count);
  std::vector<Tensor> arrays;
  for (const TensorSignature& input : inputs) {
    std::vector<std::int64_t> shape = input.shape;
    if (plan.rows_are_runs)
      shape.insert(shape.begin(), plan.count);
    else if (!shape.empty() && shape[0] < 0)
      shape[0] = plan.count;
    auto array = random_tensor(input, std::move(shape), rng);
    if (!array) return pass_on(array.error());
    arrays.push_back(*std::move(array));
  }
  return rows_for(inputs, std::move(arrays), "random rows");
}

}  // namespace berth::models
