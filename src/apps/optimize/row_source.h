/// Rows for a model: from a .npz file, or a folder in ONNX's test layout.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/tensor.h"
#include "models/optimize/manifest.h"
#include "models/optimize/measuring.h"

namespace berth::optimizer {

struct RowPaths {
  std::string calibration;
  std::optional<std::string> evaluation;
};

struct RowSources {
  models::OptimizeRows rows = {};
  models::RowCounts counts = {};
  models::SourceFile calibration = {};
  std::optional<models::SourceFile> evaluation = {};
};

/// Reads, leaves out evaluation rows that are calibration rows as well, and splits. Errors: those of reading; too few
/// rows to split; the two differ in whether rows are runs.
[[nodiscard]] Result<RowSources> read_row_sources(const FileTree& tree, const RowPaths& paths,
                                                  std::span<const TensorSignature> inputs, std::uint64_t seed);

/// The sum of a file, or of a folder over the names and contents of its files.
[[nodiscard]] Result<std::string> sum_of_rows(const FileTree& tree, const std::string& path);

}  // namespace berth::optimizer
