/// Figures of the original, and of a variant next to it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/optimize/checked_rewrite.h"
#include "models/optimize/findings.h"
#include "models/optimize/optimize_tools.h"
#include "models/rows/row_set.h"

namespace berth::models {

/// The rows of a run by what they are for.
struct OptimizeRows {
  RowSet calibration = {};
  RowSet choosing = {};
  RowSet judging = {};
};

/// The original, loaded, and what it answers.
struct MeasuredOriginal {
  std::unique_ptr<ProbedModel> loaded = {};
  std::vector<std::int64_t> batches = {};  ///< that can be run
  bool has_fixed_batch = false;
  std::size_t batch_rows = 1;  ///< for answers to many rows
  Metric metric = Metric::kAgreement;
  CheckRows check = {};  ///< a few calibration rows
  std::vector<Tensor> choosing = {};
  std::vector<Tensor> judging = {};
  ModelFigures figures = {};
  std::optional<double> score = std::nullopt;  ///< on the judging half; of kAccuracy alone
};

/// `file_bytes`: of the original's files. Errors: the engine refuses the model or the rows, the metric does not suit
/// them; kInterrupted.
[[nodiscard]] Result<MeasuredOriginal> measure_original(const Model& model, std::int64_t file_bytes,
                                                        const OptimizeRows& rows, const OptimizeTerms& terms,
                                                        const OptimizeTools& tools);

/// A variant as it is written.
struct WrittenVariant {
  std::string name;
  std::string_view bytes;
  std::int64_t nodes = 0;
};

/// All figures of a variant. `budget`: for its times.
[[nodiscard]] Result<VariantFigures> measure_variant(const WrittenVariant& variant, const MeasuredOriginal& original,
                                                     const OptimizeRows& rows, const OptimizeTerms& terms,
                                                     Micros budget, const OptimizeTools& tools);

/// The inputs of a run of `batch` calibration rows, which are repeated where there are too few.
[[nodiscard]] std::vector<Tensor> inputs_of(const OptimizeRows& rows, std::int64_t batch);

/// Nodes of the graph, and of the graphs in its nodes.
[[nodiscard]] std::int64_t count_nodes(const Graph& graph);

/// The median of several processes. Errors: those of the tools.
[[nodiscard]] Result<ModelFootprint> median_footprint(std::string_view model, std::span<const Tensor> inputs,
                                                      const OptimizeTools& tools);

}  // namespace berth::models
