#include "models/rows/split_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/rng.h"

namespace berth::models {
namespace {

std::string_view row_bytes(const Tensor& tensor, std::size_t count, std::size_t row) {
  const std::size_t bytes = tensor.bytes.size() / count;
  return std::string_view(tensor.bytes).substr(row * bytes, bytes);
}

std::span<const std::string> row_texts(const Tensor& tensor, std::size_t count, std::size_t row) {
  const std::size_t texts = tensor.texts.size() / count;
  return std::span(tensor.texts).subspan(row * texts, texts);
}

/// FNV-1a over all inputs.
std::uint64_t hash_of_row(const RowSet& rows, std::size_t row) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto add = [&hash](std::string_view bytes) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  };
  for (const Tensor& input : rows.inputs) {
    add(row_bytes(input, rows.count, row));
    for (const std::string& text : row_texts(input, rows.count, row)) add(text);
  }
  return hash;
}

bool is_same_row(const RowSet& a, std::size_t a_row, const RowSet& b, std::size_t b_row) {
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    if (row_bytes(a.inputs[i], a.count, a_row) != row_bytes(b.inputs[i], b.count, b_row)) return false;
    if (!std::ranges::equal(row_texts(a.inputs[i], a.count, a_row), row_texts(b.inputs[i], b.count, b_row))) {
      return false;
    }
  }
  return true;
}

/// Whether rows of both can be equal at all: sizes that a model leaves open may differ, and so may shared inputs.
bool is_comparable(const RowSet& a, const RowSet& b) {
  const auto is_alike = [](const Tensor& x, const Tensor& y) {
    return x.name == y.name && x.type == y.type &&
           std::ranges::equal(std::span(x.shape).subspan(1), std::span(y.shape).subspan(1));
  };
  return a.shared == b.shared && a.rows_are_runs == b.rows_are_runs && std::ranges::equal(a.inputs, b.inputs, is_alike);
}

}  // namespace

Result<RowHalves> split_rows(std::size_t count, std::uint64_t seed) {
  if (count < 2)
    return invalid(fmt::format("wanted at least 2 rows, to choose with one and judge with one, found {}", count));
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  Rng rng = Rng(seed).split("models.rows");
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count / 2);
  RowHalves halves{.choosing = {order.begin(), middle}, .judging = {middle, order.end()}};
  std::ranges::sort(halves.choosing);
  std::ranges::sort(halves.judging);
  return halves;
}

std::vector<std::size_t> rows_not_in(const RowSet& rows, const RowSet& others) {
  std::multimap<std::uint64_t, std::size_t> known;
  if (is_comparable(rows, others)) {
    for (std::size_t row = 0; row < others.count; ++row) known.emplace(hash_of_row(others, row), row);
  }
  std::vector<std::size_t> left;
  for (std::size_t row = 0; row < rows.count; ++row) {
    const auto [begin, end] = known.equal_range(hash_of_row(rows, row));
    const bool is_known =
        std::any_of(begin, end, [&](const auto& each) { return is_same_row(rows, row, others, each.second); });
    if (!is_known) left.push_back(row);
  }
  return left;
}

}  // namespace berth::models
