/// What optimizing and verifying share: the original, the rows and the engine, read and opened.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/optimize/find_probe.h"
#include "apps/optimize/model_source.h"
#include "apps/optimize/row_source.h"
#include "base/core/result.h"
#include "domain/ports/file_tree.h"
#include "models/optimize/optimize_tools.h"
#include "surface/cli/optimize/optimize_outside.h"

namespace berth::optimizer {

struct WorkbenchTerms {
  std::string model;
  RowPaths rows;
  std::optional<std::string> engine;
  std::optional<int> cuda_index;
  std::uint64_t seed = 1;
};

struct Workbench {
  FoundProbe engine = {};
  ModelSource model = {};
  RowSources rows = {};

  /// They refer to this object, and to `hooks`.
  [[nodiscard]] models::OptimizeTools tools(const cli::OptimizeHooks& hooks) const;
};

/// Errors: those of reading; no engine; the engine refuses the model.
[[nodiscard]] Result<Workbench> open_workbench(const FileTree& tree, const WorkbenchTerms& terms,
                                               const cli::OptimizeHooks& hooks);

}  // namespace berth::optimizer
