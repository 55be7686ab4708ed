/// `berth optimize` without files: variants of a model, what each is worth, and which are kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/optimize/findings.h"
#include "models/optimize/measuring.h"
#include "models/optimize/optimize_tools.h"

namespace berth::models {

/// What is to be improved. `rows` are read and split; of a run without evaluation rows, `calibration` equals
/// `choosing`.
struct OptimizeTask {
  const Model& original;
  std::int64_t file_bytes = 0;  ///< of the original's files
  const OptimizeRows& rows;
  RowCounts counts = {};
  std::string model_name = {};  ///< for messages
  std::string data_name = {};   ///< likewise: where labels come from
};

struct OptimizeOutcome {
  Findings findings = {};
  /// The bytes of the variants that were measured, by name. The sums in the findings are still empty.
  std::map<std::string, std::string> files = {};
  /// Of the pruned ones of them: the channels that stay (`write_masks`).
  std::map<std::string, std::string> masks = {};
};

/// Makes the variants that the terms ask for in the order fuse, prune, int8, fp16, each from the best of the step
/// before, within the time budget; measures all of them, and judges them by the rules of keep_rules.h. Errors: the
/// original cannot be measured (kInvalidInput); the engine or a process fails (kUnavailable); kInterrupted.
[[nodiscard]] Result<OptimizeOutcome> optimize(const OptimizeTask& task, const OptimizeTerms& terms,
                                               const OptimizeTools& tools);

}  // namespace berth::models
