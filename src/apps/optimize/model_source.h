/// The model that is to be improved, with its weights outside.
#pragma once

#include <cstdint>
#include <string>

#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "models/graph/graph.h"

namespace berth::optimizer {

struct ModelSource {
  models::Model model = {};
  std::string sha256 = {};      ///< of the file; with weights outside, of it and of those files in the order of paths
  std::int64_t file_bytes = 0;  ///< likewise
};

/// Errors: those of read_model; a file of weights that cannot be read, or that a link leads out of the model's folder.
[[nodiscard]] Result<ModelSource> read_model_source(const FileTree& tree, const std::string& path);

}  // namespace berth::optimizer
