#include "models/rows/rows_for.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "base/core/text.h"

namespace berth::models {
namespace {

/// How an array goes into the runs of a model.
enum class ArrayUse { kRows, kRuns, kShared };

std::string names_in_quotes(std::span<const TensorSignature> inputs) {
  std::vector<std::string> names;
  names.reserve(inputs.size());
  for (const TensorSignature& input : inputs) names.push_back(in_quotes(input.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether the sizes are those that the model takes, where it says them.
bool is_within(std::span<const std::int64_t> found, std::span<const std::int64_t> wanted) {
  return std::ranges::equal(found, wanted, [](std::int64_t a, std::int64_t b) { return b < 0 || a == b; });
}

/// Takes the array of that name out of the list.
std::optional<Tensor> take_array(std::vector<Tensor>& arrays, std::string_view name) {
  const auto found = std::ranges::find(arrays, name, &Tensor::name);
  if (found == arrays.end()) return std::nullopt;
  Tensor array = std::move(*found);
  arrays.erase(found);
  return array;
}

/// An array for each input, in their order. `arrays` keeps the others.
Result<std::vector<Tensor>> arrays_of(std::span<const TensorSignature> inputs, std::vector<Tensor>& arrays) {
  std::vector<Tensor> own;
  for (const TensorSignature& input : inputs) {
    auto array = take_array(arrays, input.name);
    if (!array) {
      std::vector<std::string> others;
      for (const Tensor& other : arrays) others.push_back(in_quotes(other.name));
      return invalid(fmt::format("wanted an array for the input {}, found {}", in_quotes(input.name),
                                 others.empty() ? "none" : fmt::format("only others: {}", fmt::join(others, ", "))));
    }
    if (array->type != input.type) {
      return invalid(fmt::format("{}: wanted elements of the type {}, found {}", in_quotes(input.name),
                                 name_of(input.type), name_of(array->type)));
    }
    own.push_back(std::move(*array));
  }
  return own;
}

/// Whether each array has a dimension more than its input, but for scalars.
bool are_runs(std::span<const TensorSignature> inputs, std::span<const Tensor> arrays) {
  bool is_any_sure = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t rank = inputs[i].shape.size();
    if (rank == 0) continue;
    if (arrays[i].shape.size() != rank + 1) return false;
    is_any_sure = true;
  }
  return is_any_sure;
}

/// The number of rows: of the first input that leaves it open, else the largest first dimension.
std::int64_t count_rows(std::span<const TensorSignature> inputs, std::span<const Tensor> arrays, bool rows_are_runs) {
  std::int64_t largest = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (arrays[i].shape.empty()) continue;
    const bool is_open = !inputs[i].shape.empty() && (rows_are_runs || inputs[i].shape[0] < 0);
    if (is_open) return arrays[i].shape[0];
    largest = std::max(largest, arrays[i].shape[0]);
  }
  return largest;
}

/// Nothing: the array does not fit the input.
std::optional<ArrayUse> use_of(const TensorSignature& input, const Tensor& array, bool rows_are_runs,
                               std::int64_t row_count) {
  const std::span<const std::int64_t> found = array.shape;
  const std::span<const std::int64_t> wanted = input.shape;
  if (found.empty()) return wanted.empty() ? std::optional(ArrayUse::kShared) : std::nullopt;
  const bool has_rows = found[0] == row_count;
  if (wanted.empty()) {  // a scalar, or the model does not say how many dimensions
    return has_rows ? std::optional(rows_are_runs ? ArrayUse::kRuns : ArrayUse::kRows) : std::nullopt;
  }
  if (rows_are_runs) {
    return has_rows && is_within(found.subspan(1), wanted) ? std::optional(ArrayUse::kRuns) : std::nullopt;
  }
  if (found.size() != wanted.size() || !is_within(found.subspan(1), wanted.subspan(1))) return std::nullopt;
  if (has_rows) return ArrayUse::kRows;
  return std::ranges::equal(found, wanted) ? std::optional(ArrayUse::kShared) : std::nullopt;
}

tl::unexpected<Error> does_not_fit(const TensorSignature& input, const Tensor& array, bool rows_are_runs,
                                   std::int64_t row_count) {
  std::vector<std::int64_t> wanted = input.shape;
  if (rows_are_runs) wanted.insert(wanted.begin(), row_count);
  if (!wanted.empty()) wanted[0] = row_count;
  return invalid(fmt::format("{}: wanted the shape {} (the model's is {}), found {}", in_quotes(input.name),
                             shape_text(wanted), shape_text(input.shape), shape_text(array.shape)));
}

/// Whether one of the bytes' elements is no number: its exponent has all bits set, and its fraction has one.
template <class Bits>
std::optional<std::size_t> find_nan(std::string_view bytes, Bits exponent) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));
  for (std::size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + i, sizeof(Bits));
    if (static_cast<Bits>(bits & static_cast<Bits>(~kSign)) > exponent) return i / sizeof(Bits);
  }
  return std::nullopt;
}

/// The index of the first element that is no number.
std::optional<std::size_t> find_nan(const Tensor& tensor) {
  switch (tensor.type) {
    case TensorType::kFp16:
      return find_nan<std::uint16_t>(tensor.bytes, 0x7C00);
    case TensorType::kBf16:
      return find_nan<std::uint16_t>(tensor.bytes, 0x7F80);
    case TensorType::kFp32:
      return find_nan<std::uint32_t>(tensor.bytes, 0x7F800000);
    case TensorType::kFp64:
      return find_nan<std::uint64_t>(tensor.bytes, 0x7FF0000000000000);
    default:
      return std::nullopt;
  }
}

Result<void> check_numbers(const Tensor& array, ArrayUse use, std::int64_t row_count) {
  const auto found = find_nan(array);
  if (!found) return {};
  if (use == ArrayUse::kShared) return invalid(fmt::format("{}: wanted numbers, found NaN", in_quotes(array.name)));
  const std::size_t elements = array.bytes.size() / element_bytes(array.type) / static_cast<std::size_t>(row_count);
  return invalid(fmt::format("{}: wanted numbers, found NaN in row {}", in_quotes(array.name), *found / elements));
}

/// Nothing: no integer that fits 64 bits with a sign.
template <class Integer>
std::vector<std::int64_t> integers_of(std::string_view bytes) {
  std::vector<std::int64_t> integers;
  integers.reserve(bytes.size() / sizeof(Integer));
  for (std::size_t i = 0; i + sizeof(Integer) <= bytes.size(); i += sizeof(Integer)) {
    Integer integer = 0;
    std::memcpy(&integer, bytes.data() + i, sizeof(Integer));
    integers.push_back(static_cast<std::int64_t>(integer));  // beyond 2^63 - 1 it becomes negative, and is refused
  }
  return integers;
}

std::optional<std::vector<std::int64_t>> integers_of(const Tensor& array) {
  switch (array.type) {
    case TensorType::kInt8:
      return integers_of<std::int8_t>(array.bytes);
    case TensorType::kInt16:
      return integers_of<std::int16_t>(array.bytes);
    case TensorType::kInt32:
      return integers_of<std::int32_t>(array.bytes);
    case TensorType::kInt64:
      return integers_of<std::int64_t>(array.bytes);
    case TensorType::kBool:
    case TensorType::kUint8:
      return integers_of<std::uint8_t>(array.bytes);
    case TensorType::kUint16:
      return integers_of<std::uint16_t>(array.bytes);
    case TensorType::kUint32:
      return integers_of<std::uint32_t>(array.bytes);
    case TensorType::kUint64:
      return integers_of<std::uint64_t>(array.bytes);
    default:
      return std::nullopt;
  }
}

Result<std::vector<std::int64_t>> labels_of(const Tensor& array, std::size_t row_count) {
  auto labels = integers_of(array);
  if (!labels) {
    return invalid(fmt::format("{}: wanted integers, found elements of the type {}", kLabelArray, name_of(array.type)));
  }
  const bool is_column = array.shape.size() == 1 || (array.shape.size() == 2 && array.shape[1] == 1);
  if (!is_column || labels->size() != row_count) {
    return invalid(fmt::format("{}: wanted an integer for each of the {} rows, found the shape {}", kLabelArray,
                               row_count, shape_text(array.shape)));
  }
  const auto negative = std::ranges::find_if(*labels, [](std::int64_t label) { return label < 0; });
  if (negative == labels->end()) return std::move(*labels);
  return invalid(fmt::format("{}: wanted integers from 0 on, found {} in row {}", kLabelArray,
                             array.type == TensorType::kUint64 ? "more than 2^63" : std::to_string(*negative),
                             negative - labels->begin()));
}

/// All inputs with rows fix the same number of them per run, or none does.
Result<void> check_fixed_rows(std::span<const TensorSignature> inputs, const RowSet& rows) {
  const auto fixed = fixed_rows(inputs, rows);
  if (!fixed || rows.rows_are_runs) return {};
  for (const TensorSignature& input : inputs) {
    const bool has_rows = std::ranges::find(rows.inputs, input.name, &Tensor::name) != rows.inputs.end();
    if (!has_rows || input.shape.empty() || input.shape[0] < 0) continue;
    if (static_cast<std::size_t>(input.shape[0]) != *fixed) {
      return invalid(
          fmt::format("{}: wanted inputs with one number of rows, found {} and {}; arrays may have one "
                      "dimension more, in front: a run for each row",
                      in_quotes(input.name), *fixed, input.shape[0]));
    }
  }
  return {};
}

Result<RowSet> make_rows(std::span<const TensorSignature> inputs, std::vector<Tensor> arrays) {
  auto own = arrays_of(inputs, arrays);
  if (!own) return pass_on(own.error());
  const auto label = take_array(arrays, kLabelArray);
  if (!arrays.empty()) {
    return invalid(fmt::format("wanted arrays for the inputs {} (and {}), found {}", names_in_quotes(inputs),
                               kLabelArray, in_quotes(arrays[0].name)));
  }
  RowSet rows{.rows_are_runs = are_runs(inputs, *own)};
  const std::int64_t count = count_rows(inputs, *own, rows.rows_are_runs);
  if (count == 0) return invalid("wanted rows, found none");
  rows.count = static_cast<std::size_t>(count);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor& array = (*own)[i];
    const auto use = use_of(inputs[i], array, rows.rows_are_runs, count);
    if (!use) return does_not_fit(inputs[i], array, rows.rows_are_runs, count);
    if (auto checked = check_numbers(array, *use, count); !checked) return pass_on(checked.error());
    (*use == ArrayUse::kShared ? rows.shared : rows.inputs).push_back(std::move(array));
  }
  if (auto checked = check_fixed_rows(inputs, rows); !checked) return pass_on(checked.error());
  if (!label) return rows;
  auto labels = labels_of(*label, rows.count);
  if (!labels) return pass_on(labels.error());
  rows.labels = std::move(*labels);
  return rows;
}

}  // namespace

std::string shape_text(std::span<const std::int64_t> shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

Result<RowSet> rows_for(std::span<const TensorSignature> inputs, std::vector<Tensor> arrays, std::string_view name) {
  auto rows = make_rows(inputs, std::move(arrays));
  if (!rows) return invalid(fmt::format("{}: {}", name, rows.error().message));
  return rows;
}

}  // namespace berth::models
