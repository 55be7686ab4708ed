#include "models/rows/read_test_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "models/onnx/tensor_file.h"
#include "models/rows/read_npy.h"
#include "models/rows/rows_for.h"

namespace berth::models {
namespace {

constexpr std::string_view kSetPrefix = "test_data_set_";
constexpr std::string_view kInputPrefix = "input_";
constexpr std::string_view kFileSuffix = ".pb";
constexpr std::int64_t kSetNumberMax = 1'000'000;

using Paths = std::map<std::int64_t, std::string>;  ///< by number

/// The number between the prefix and the suffix; nothing: another name.
std::optional<std::int64_t> number_in(std::string_view name, std::string_view prefix, std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) || name.size() < prefix.size() + suffix.size()) {
    return std::nullopt;
  }
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  const auto number = parse_count(name, kSetNumberMax);
  return number ? std::optional(*number) : std::nullopt;
}

/// The folders of the sets; the folder itself if there is none.
Result<Paths> find_sets(const FileTree& tree, const std::string& folder) {
  const auto entries = tree.list(folder);
  if (!entries) return pass_on(entries.error());
  Paths sets;
  for (const FolderEntry& entry : *entries) {
    const auto number = number_in(entry.name, kSetPrefix, "");
    if (entry.kind == EntryKind::kFolder && number) sets.emplace(*number, folder + "/" + entry.name);
  }
  if (sets.empty()) sets.emplace(0, folder);
  return sets;
}

/// The files of the inputs, which have the numbers from 0 on.
Result<Paths> find_inputs(const FileTree& tree, const std::string& set, std::size_t count) {
  const auto entries = tree.list(set);
  if (!entries) return pass_on(entries.error());
  Paths files;
  for (const FolderEntry& entry : *entries) {
    if (const auto number = number_in(entry.name, kInputPrefix, kFileSuffix)) {
      files.emplace(*number, set + "/" + entry.name);
    }
  }
  const bool has_all =
      files.size() == count && (files.empty() || files.rbegin()->first + 1 == static_cast<std::int64_t>(count));
  if (has_all) return files;
  return invalid(
      fmt::format("{}: wanted the files input_0.pb to input_{}.pb, one for each input of the model, found {}", set,
                  static_cast<std::int64_t>(count) - 1, files.empty() ? "none" : fmt::format("{}", files.size())));
}

/// The inputs of all sets: by set, then by input.
using Sets = std::vector<std::vector<Tensor>>;

Result<Tensor> read_input(const FileTree& tree, const std::string& path, std::uint64_t& bytes_left) {
  const auto file = tree.open(path);
  if (!file) return pass_on(file.error());
  const auto bytes = read_whole(**file, bytes_left);
  if (!bytes) return fail(bytes.error().code, fmt::format("{}: {}", path, bytes.error().message));
  bytes_left -= bytes->size();
  return read_tensor_file(*bytes, path);
}

Result<Sets> read_sets(const FileTree& tree, const Paths& folders, std::span<const TensorSignature> inputs) {
  Sets sets;
  std::uint64_t bytes_left = kArrayBytesMax;
  for (const auto& [unused, folder] : folders) {
    const auto files = find_inputs(tree, folder, inputs.size());
    if (!files) return pass_on(files.error());
    std::vector<Tensor> set;
    for (const auto& [index, path] : *files) {
      auto tensor = read_input(tree, path, bytes_left);
      if (!tensor) return pass_on(tensor.error());
      tensor->name = inputs[static_cast<std::size_t>(index)].name;
      set.push_back(std::move(*tensor));
    }
    sets.push_back(std::move(set));
  }
  return sets;
}

/// Whether one value goes with all rows: a scalar that all sets agree on.
bool is_shared(const Sets& sets, std::size_t input) {
  return std::ranges::all_of(
      sets, [&](const std::vector<Tensor>& set) { return set[input].shape.empty() && set[input] == sets[0][input]; });
}

/// Whether, in each set, all inputs but the shared ones have the same first dimension.
bool have_rows(const Sets& sets, const std::vector<bool>& shared) {
  return std::ranges::all_of(sets, [&](const std::vector<Tensor>& set) {
    std::optional<std::int64_t> rows;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (shared[i]) continue;
      if (set[i].shape.empty() || rows.value_or(set[i].shape[0]) != set[i].shape[0]) return false;
      rows = set[i].shape[0];
    }
    return rows.has_value();
  });
}

/// The input of all sets, one after another. Nothing: they differ in type or shape.
std::optional<Tensor> join_sets(const Sets& sets, std::size_t input) {
  Tensor joined = sets[0][input];
  for (const auto& set : std::span(sets).subspan(1)) {
    const Tensor& next = set[input];
    const bool is_alike = next.type == joined.type && next.shape.size() == joined.shape.size() &&
                          std::equal(next.shape.begin() + 1, next.shape.end(), joined.shape.begin() + 1);
    if (!is_alike) return std::nullopt;
    joined.shape[0] += next.shape[0];
    joined.bytes += next.bytes;
    joined.texts.insert(joined.texts.end(), next.texts.begin(), next.texts.end());
  }
  return joined;
}

Result<std::vector<Tensor>> arrays_of_sets(Sets sets, const std::string& folder) {
  const std::size_t count = sets[0].size();
  std::vector<bool> shared(count);
  for (std::size_t i = 0; i < count; ++i) shared[i] = is_shared(sets, i);
  if (!have_rows(sets, shared)) {
    for (auto& set : sets) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!shared[i]) set[i].shape.insert(set[i].shape.begin(), 1);
      }
    }
  }
  std::vector<Tensor> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    auto array = shared[i] ? std::optional(sets[0][i]) : join_sets(sets, i);
    if (!array) {
      return invalid(fmt::format("{}: input_{}.pb: wanted one type and shape in all sets, found several", folder, i));
    }
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

}  // namespace

Result<RowSet> read_test_layout(const FileTree& tree, const std::string& folder,
                                std::span<const TensorSignature> inputs) {
  if (inputs.empty()) return invalid(fmt::format("{}: wanted rows for a model with inputs, found one without", folder));
  const auto folders = find_sets(tree, folder);
  if (!folders) return pass_on(folders.error());
  auto sets = read_sets(tree, *folders, inputs);
  if (!sets) return pass_on(sets.error());
  auto arrays = arrays_of_sets(std::move(*sets), folder);
  if (!arrays) return pass_on(arrays.error());
  return rows_for(inputs, std::move(*arrays), folder);
}

}  // namespace berth::models
