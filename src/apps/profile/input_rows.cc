#include "apps/profile/input_rows.h"

#include <fmt/format.h>

#include <utility>

#include "base/core/rng.h"
#include "models/profiling/random_rows.h"
#include "models/rows/read_npz.h"
#include "models/rows/rows_for.h"

namespace berth::profiler {
namespace {

/// Of a file with arrays, packed or not: a little more than the arrays.
constexpr std::size_t kInputFileBytesMax = models::kArrayBytesMax + (std::size_t{64} << 20U);

Result<models::RowSet> read_input_rows(const FileTree& tree, const std::string& path,
                                       std::span<const TensorSignature> inputs) {
  const auto file = tree.open(path);
  if (!file) return invalid(file.error().message);
  const auto bytes = read_whole(**file, kInputFileBytesMax);
  if (!bytes) return invalid(fmt::format("{}: {}", path, bytes.error().message));
  auto arrays = models::read_npz(*bytes, path);
  if (!arrays) return pass_on(arrays.error());
  return models::rows_for(inputs, *std::move(arrays), path);
}

}  // namespace

Result<InputRows> find_input_rows(const FileTree& tree, const models::ProfileRequest& request,
                                  std::span<const TensorSignature> inputs) {
  auto rows = request.inputs ? read_input_rows(tree, *request.inputs, inputs)
                             : models::random_rows(inputs, request.batches.back(), Rng(request.seed).split("rows"));
  if (!rows) return pass_on(rows.error());
  InputRows found{.rows = *std::move(rows), .batches = request.batches};
  if (const auto fixed = models::fixed_rows(inputs, found.rows)) {
    found.fixed_batch = static_cast<int>(*fixed);
    found.batches = {found.fixed_batch};
  }
  return found;
}

}  // namespace berth::profiler
