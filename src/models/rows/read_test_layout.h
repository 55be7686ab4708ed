/// Reads rows from a folder in ONNX's test layout.
#pragma once

#include <span>
#include <string>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "domain/values/tensor.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// The rows of all sets, in the order of their numbers: folders `test_data_set_N` in `folder`, or the folder itself,
/// with a file `input_K.pb` for each input of the model, in its order
/// (https://github.com/onnx/onnx/blob/main/docs/OnnxBackendTest.md). Names in the files and outputs do not matter.
///
/// Where all inputs of a set have a common first dimension, that is its rows; otherwise each set is one run, of the
/// same shapes (`rows_are_runs`). There are no labels.
///
/// Errors, "PATH: why": those of the tree and of the files; a missing or an unknown input; more than kArrayBytesMax
/// bytes; sets that differ in their shapes; those of rows_for.
[[nodiscard]] Result<RowSet> read_test_layout(const FileTree& tree, const std::string& folder,
                                              std::span<const TensorSignature> inputs);

}  // namespace berth::models
