#include "models/rows/row_set.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

/// The rows with these indices of a tensor that has `count` rows.
Tensor rows_of(const Tensor& tensor, std::size_t count, std::span<const std::size_t> indices) {
  Tensor picked{.name = tensor.name, .type = tensor.type, .shape = tensor.shape};
  picked.shape.at(0) = static_cast<std::int64_t>(indices.size());
  if (tensor.type == TensorType::kBytes) {
    const std::size_t texts = tensor.texts.size() / count;
    picked.texts.reserve(texts * indices.size());
    for (const std::size_t index : indices) {
      const auto first = tensor.texts.begin() + static_cast<std::ptrdiff_t>(index * texts);
      picked.texts.insert(picked.texts.end(), first, first + static_cast<std::ptrdiff_t>(texts));
    }
    return picked;
  }
  const std::size_t bytes = tensor.bytes.size() / count;
  picked.bytes.reserve(bytes * indices.size());
  for (const std::size_t index : indices) picked.bytes.append(tensor.bytes, index * bytes, bytes);
  return picked;
}

}  // namespace

std::optional<std::size_t> fixed_rows(std::span<const TensorSignature> inputs, const RowSet& rows) {
  if (rows.rows_are_runs) return 1;
  for (const TensorSignature& signature : inputs) {
    const bool has_rows = std::ranges::find(rows.inputs, signature.name, &Tensor::name) != rows.inputs.end();
    if (has_rows && !signature.shape.empty() && signature.shape[0] > 0) {
      return static_cast<std::size_t>(signature.shape[0]);
    }
  }
  return std::nullopt;
}

std::vector<Tensor> batch_of(const RowSet& rows, std::size_t first, std::size_t size) {
  ENSURE(rows.count > 0 && (size == 1 || !rows.rows_are_runs));
  std::vector<std::size_t> indices(size);
  for (std::size_t i = 0; i < size; ++i) indices[i] = std::min(first + i, rows.count - 1);
  std::vector<Tensor> batch;
  batch.reserve(rows.inputs.size() + rows.shared.size());
  for (const Tensor& input : rows.inputs) {
    batch.push_back(rows_of(input, rows.count, indices));
    if (rows.rows_are_runs) batch.back().shape.erase(batch.back().shape.begin());
  }
  batch.insert(batch.end(), rows.shared.begin(), rows.shared.end());
  return batch;
}

RowSet select_rows(const RowSet& rows, std::span<const std::size_t> indices) {
  RowSet selected{.shared = rows.shared, .count = indices.size(), .rows_are_runs = rows.rows_are_runs};
  ENSURE(std::ranges::all_of(indices, [&](std::size_t index) { return index < rows.count; }));
  for (const Tensor& input : rows.inputs) selected.inputs.push_back(rows_of(input, rows.count, indices));
  if (rows.labels.empty()) return selected;
  for (const std::size_t index : indices) selected.labels.push_back(rows.labels[index]);
  return selected;
}

}  // namespace berth::models
