#include "apps/optimize/row_source.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>
#include <vector>

#include "live/chain/field_hash.h"
#include "models/rows/read_npz.h"
#include "models/rows/read_test_layout.h"
#include "models/rows/rows_for.h"
#include "models/rows/split_rows.h"

namespace berth::optimizer {
namespace {

using models::RowSet;

/// Of a file with arrays, packed or not: a little more than the arrays.
constexpr std::size_t kRowFileBytesMax = models::kArrayBytesMax + (std::size_t{64} << 20U);
constexpr int kFolderDepthMax = 4;

Result<bool> is_folder(const FileTree& tree, const std::string& path) {
  if (tree.list(path)) return true;
  const auto file = tree.open(path);
  if (!file) return invalid(file.error().message);
  return false;
}

Result<std::string> read_row_file(const FileTree& tree, const std::string& path) {
  const auto file = tree.open(path);
  if (!file) return invalid(file.error().message);
  auto bytes = read_whole(**file, kRowFileBytesMax);
  if (!bytes) return invalid(fmt::format("{}: {}", path, bytes.error().message));
  return bytes;
}

Result<RowSet> read_rows(const FileTree& tree, const std::string& path, std::span<const TensorSignature> inputs) {
  const auto folder = is_folder(tree, path);
  if (!folder) return pass_on(folder.error());
  if (*folder) return models::read_test_layout(tree, path, inputs);
  const auto bytes = read_row_file(tree, path);
  if (!bytes) return pass_on(bytes.error());
  auto arrays = models::read_npz(*bytes, path);
  if (!arrays) return pass_on(arrays.error());
  return models::rows_for(inputs, *std::move(arrays), path);
}

Result<void> add_folder(const FileTree& tree, const std::string& path, const std::string& name, int depth,
                        chain::FieldHash& hash) {
  const auto entries = tree.list(path);
  if (!entries) return pass_on(entries.error());
  for (const FolderEntry& entry : *entries) {
    const std::string inner = fmt::format("{}/{}", path, entry.name);
    const std::string inner_name = name.empty() ? entry.name : fmt::format("{}/{}", name, entry.name);
    if (entry.kind == EntryKind::kFolder && depth < kFolderDepthMax) {
      if (auto added = add_folder(tree, inner, inner_name, depth + 1, hash); !added) return added;
    } else if (entry.kind == EntryKind::kFile) {
      const auto bytes = read_row_file(tree, inner);
      if (!bytes) return pass_on(bytes.error());
      hash.add(std::string_view(inner_name)).add(std::string_view(*bytes));
    }
  }
  return {};
}

Result<models::RowHalves> halves_of(const RowSet& rows, std::uint64_t seed, const std::string& path) {
  auto halves = models::split_rows(rows.count, seed);
  if (!halves) return invalid(fmt::format("{}: {}", path, halves.error().message));
  return halves;
}

std::int64_t size_of(const RowSet& rows) { return static_cast<std::int64_t>(rows.count); }

Result<void> split_calibration(RowSources& sources, RowSet rows, std::uint64_t seed) {
  const auto halves = halves_of(rows, seed, sources.calibration.path);
  if (!halves) return pass_on(halves.error());
  sources.rows.calibration = select_rows(rows, halves->choosing);
  sources.rows.choosing = sources.rows.calibration;
  sources.rows.judging = select_rows(rows, halves->judging);
  sources.counts.is_one_data_set = true;
  return {};
}

Result<void> split_evaluation(RowSources& sources, const RowSet& rows, std::uint64_t seed) {
  const std::string& path = sources.evaluation->path;
  if (rows.rows_are_runs != sources.rows.calibration.rows_are_runs) {
    return invalid(fmt::format("{}: wanted arrays with as many dimensions as those of {}, found others", path,
                               sources.calibration.path));
  }
  const auto others = models::rows_not_in(rows, sources.rows.calibration);
  sources.counts.left_out = size_of(rows) - static_cast<std::int64_t>(others.size());
  if (others.size() < 2) {
    return invalid(fmt::format("{}: wanted at least 2 rows that are not in {}, found {}", path,
                               sources.calibration.path, others.size()));
  }
  const RowSet evaluation = select_rows(rows, others);
  const auto halves = halves_of(evaluation, seed, path);
  if (!halves) return pass_on(halves.error());
  sources.rows.choosing = select_rows(evaluation, halves->choosing);
  sources.rows.judging = select_rows(evaluation, halves->judging);
  return {};
}

}  // namespace

Result<std::string> sum_of_rows(const FileTree& tree, const std::string& path) {
  const auto folder = is_folder(tree, path);
  if (!folder) return pass_on(folder.error());
  if (*folder) {
    chain::FieldHash hash("berth rows 1");
    if (auto added = add_folder(tree, path, "", 0, hash); !added) return pass_on(added.error());
    return chain::hex_of(hash.finish());
  }
  const auto bytes = read_row_file(tree, path);
  if (!bytes) return pass_on(bytes.error());
  return chain::hex_of(chain::sha256(*bytes));
}

Result<RowSources> read_row_sources(const FileTree& tree, const RowPaths& paths,
                                    std::span<const TensorSignature> inputs, std::uint64_t seed) {
  RowSources sources;
  auto calibration = read_rows(tree, paths.calibration, inputs);
  if (!calibration) return pass_on(calibration.error());
  const auto sum = sum_of_rows(tree, paths.calibration);
  if (!sum) return pass_on(sum.error());
  sources.calibration = {.path = paths.calibration, .sha256 = *sum};
  if (!paths.evaluation) {
    if (auto split = split_calibration(sources, *std::move(calibration), seed); !split) return pass_on(split.error());
  } else {
    const auto evaluation = read_rows(tree, *paths.evaluation, inputs);
    if (!evaluation) return pass_on(evaluation.error());
    const auto evaluation_sum = sum_of_rows(tree, *paths.evaluation);
    if (!evaluation_sum) return pass_on(evaluation_sum.error());
    sources.evaluation = models::SourceFile{.path = *paths.evaluation, .sha256 = *evaluation_sum};
    sources.rows.calibration = *std::move(calibration);
    if (auto split = split_evaluation(sources, *evaluation, seed); !split) return pass_on(split.error());
  }
  sources.counts.calibration = size_of(sources.rows.calibration);
  sources.counts.choosing = size_of(sources.rows.choosing);
  sources.counts.judging = size_of(sources.rows.judging);
  return sources;
}

}  // namespace berth::optimizer
