#include "serving/batching/batch_tensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <numeric>
#include <utility>

#include "base/core/ensure.h"

namespace berth::serving {
namespace {

Tensor joined_input(std::span<const std::vector<Tensor>* const> requests, std::size_t input) {
  const Tensor& first = (*requests.front())[input];
  Tensor joined{.name = first.name, .type = first.type, .shape = first.shape};
  std::size_t byte_count = 0;
  std::size_t text_count = 0;
  joined.shape.front() = 0;
  for (const auto* request : requests) {
    const Tensor& part = (*request)[input];
    joined.shape.front() += part.shape.front();
    byte_count += part.bytes.size();
    text_count += part.texts.size();
  }
  joined.bytes.reserve(byte_count);
  joined.texts.reserve(text_count);
  for (const auto* request : requests) {
    const Tensor& part = (*request)[input];
    joined.bytes += part.bytes;
    joined.texts.insert(joined.texts.end(), part.texts.begin(), part.texts.end());
  }
  return joined;
}

/// Rows `first` to `first + rows - 1`.
Tensor rows_of(Tensor& whole, std::size_t first, std::size_t rows) {
  const auto all = static_cast<std::size_t>(whole.shape.front());
  Tensor part{.name = whole.name, .type = whole.type, .shape = whole.shape};
  part.shape.front() = static_cast<std::int64_t>(rows);
  if (whole.type != TensorType::kBytes) {
    const std::size_t row_bytes = whole.bytes.size() / all;
    part.bytes = whole.bytes.substr(first * row_bytes, rows * row_bytes);
    return part;
  }
  const std::size_t row_texts = whole.texts.size() / all;
  const auto begin = whole.texts.begin() + static_cast<std::ptrdiff_t>(first * row_texts);
  part.texts.assign(std::make_move_iterator(begin),
                    std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(rows * row_texts)));
  return part;
}

}  // namespace

std::size_t element_count(const Tensor& tensor) {
  std::size_t count = 1;
  for (const std::int64_t size : tensor.shape) {
    ENSURE(size >= 0 && !__builtin_mul_overflow(count, static_cast<std::size_t>(size), &count));
  }
  return count;
}

std::vector<Tensor> join_rows(std::span<const std::vector<Tensor>* const> requests) {
  ENSURE(!requests.empty());
  std::vector<Tensor> joined;
  joined.reserve(requests.front()->size());
  for (std::size_t input = 0; input < requests.front()->size(); ++input) {
    joined.push_back(joined_input(requests, input));
  }
  return joined;
}

Result<std::vector<std::vector<Tensor>>> split_rows(std::vector<Tensor> outputs, std::span<const RowCount> rows) {
  const std::int64_t all = std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  std::vector<std::vector<Tensor>> parts(rows.size());
  for (Tensor& output : outputs) {
    if (output.shape.empty() || output.shape.front() != all) {
      return fail(ErrorCode::kUnavailable,
                  fmt::format("{}: wanted {} rows in the output of a batch, found the shape [{}]", output.name, all,
                              fmt::join(output.shape, ",")));
    }
    if (rows.size() == 1) {
      parts.front().push_back(std::move(output));
      continue;
    }
    std::size_t first = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto count = static_cast<std::size_t>(rows[i]);
      parts[i].push_back(rows_of(output, first, count));
      first += count;
    }
  }
  return parts;
}

}  // namespace berth::serving
