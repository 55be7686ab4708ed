/// The search for the best way to compute a model with integers of 8 bits.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"
#include "models/int8/collect_statistics.h"
#include "models/int8/quantize.h"
#include "models/probing/trials.h"
#include "models/ranges/range_rules.h"

namespace berth::models {

struct Int8Options {
  RangeRule rule = RangeRule::kBest;  ///< kBest: the ranges are also tried, as a whole and each on its own
  double loss_max = 0;                ///< as Trials::loss: nodes are left in float until the loss is at most this
};

/// How much of a node's signal is left by the rounding of its input and of its weights, each on its own.
struct LayerError {
  std::string output;  ///< the node's first
  std::string op;
  double input_sqnr_db = std::numeric_limits<double>::infinity();
  double weight_sqnr_db = std::numeric_limits<double>::infinity();

  friend bool operator==(const LayerError&, const LayerError&) = default;
};

struct Int8Choice {
  Model model;
  Int8Settings settings;
  RangesByValue ranges;
  std::set<std::string, std::less<>> float_nodes;             ///< returned to float, by first output
  std::map<std::string, std::string, std::less<>> left = {};  ///< never integers: first output, reason
  double sqnr_db = 0;                                         ///< as Trials::sqnr_db
  double loss = 0;
  std::vector<LayerError> layers = {};       ///< nodes of integers, in the order of the graph
  std::vector<std::string> unfinished = {};  ///< what the time did not suffice for
};

/// The values whose statistics the search needs.
[[nodiscard]] std::vector<std::string> values_to_observe(const Model& model, const ValueShapes& shapes);

/// In this order, as long as there is time:
/// 1. Unsigned and signed activations, weights of 8 and 7 bits, by SQNR; a setting with less of it is taken where it
/// saves 10 % of the time and keeps the loss, and one with more where it costs less than 10 %.
/// 2. With kBest, the ranges of one rule for all values, and scales of weights, by SQNR.
/// 3. While the loss is above loss_max: the node that saves the most noise (or loss) per time that it costs is
/// returned to float.
/// 4. With kBest, value by value, other ranges by SQNR; undone if the loss is then too large.
/// 5. With kBest, min-max for all values and the largest weights kept, unless what was found is better on the
/// calibration rows by more than a standard error: min-max cuts off nothing that was seen, so others need a proof.
/// In steps 2 and 4, the noise is the mean over the model and two others, whose ranges are those that the same rules
/// give for one half of the rows each: a range that fits some rows only is not chosen.
/// Errors: those of `quantize` and of the trials. Requires: statistics of values_to_observe.
[[nodiscard]] Result<Int8Choice> choose_int8(const Model& model, const ValueShapes& shapes,
                                             const CalibrationStatistics& statistics, const Int8Options& options,
                                             const Trials& trials);

}  // namespace berth::models
