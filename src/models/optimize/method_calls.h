/// One call for each method that searches: it makes a variant of a base, or says why there is none.
#pragma once

#include <string>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/optimize/findings.h"
#include "models/optimize/measuring.h"
#include "models/optimize/optimize_tools.h"
#include "models/probing/trials.h"
#include "models/prune/remove_channels.h"

namespace berth::models {

struct MethodInputs {
  const Model& base;
  const MeasuredOriginal& original;
  const OptimizeRows& rows;
  const OptimizeTerms& terms;
  const OptimizeTools& tools;
  const Trials& trials;
};

struct MadeVariant {
  Model model = {};
  std::vector<PassRecord> passes = {};
  std::vector<ChannelRecord> channels = {};
  std::vector<LayerRecord> layers = {};
  std::vector<ChannelMask> masks = {};
  std::string why_none = {};                  ///< not empty: there is no variant; what was found instead
  std::vector<std::string> no_time_for = {};  ///< parts of the search
};

/// Errors: kInterrupted; kUnavailable. What a model has that a method cannot do is `why_none`.
[[nodiscard]] Result<MadeVariant> make_pruned(const MethodInputs& inputs);
[[nodiscard]] Result<MadeVariant> make_int8(const MethodInputs& inputs);
[[nodiscard]] Result<MadeVariant> make_fp16(const MethodInputs& inputs);

}  // namespace berth::models
