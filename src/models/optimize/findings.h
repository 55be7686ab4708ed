/// What `berth optimize` found: the variants of a model with their figures, what is kept, and why the others are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/optimize/optimize_request.h"

namespace berth::models {

/// A figure with its 95 % interval.
struct IntervalFigure {
  double value = 0;
  double low = 0;
  double high = 0;

  friend bool operator==(const IntervalFigure&, const IntervalFigure&) = default;
};

/// Of one batch size: the variant and the original timed in turn.
struct BatchLatency {
  std::int64_t batch = 1;
  IntervalFigure ratio = {};  ///< time of the variant / time of the original
  double original_us = 0;     ///< median of a run
  double variant_us = 0;
  int rounds = 0;
  bool is_settled = false;  ///< false: the time ran out before the interval was narrow enough

  friend bool operator==(const BatchLatency&, const BatchLatency&) = default;
};

/// Of one model alone. Load and memory are medians of several processes.
struct ModelFigures {
  std::int64_t load_us = 0;
  std::int64_t loaded_bytes = 0;  ///< resident after the load
  std::int64_t run_bytes = 0;     ///< resident at most, with a run of the largest batch
  std::int64_t file_bytes = 0;    ///< outside weights included
  std::int64_t nodes = 0;

  friend bool operator==(const ModelFigures&, const ModelFigures&) = default;
};

/// Of one half of the rows.
struct LossFigure {
  IntervalFigure loss = {};  ///< a share of rows, or the error
  std::int64_t rows = 0;
  std::optional<std::int64_t> rows_wanted = std::nullopt;  ///< so many would give an interval within 2 x max-loss
  std::optional<double> score = std::nullopt;  ///< share of rows right, or in agreement; nothing for an error

  friend bool operator==(const LossFigure&, const LossFigure&) = default;
};

struct VariantFigures {
  std::vector<BatchLatency> latency = {};
  IntervalFigure time_ratio = {};  ///< geometric mean over the batches
  ModelFigures model = {};
  LossFigure choosing = {};
  LossFigure judging = {};
  double sqnr_db = 0;  ///< of the first float output, on the judging half; infinite: nothing differs

  friend bool operator==(const VariantFigures&, const VariantFigures&) = default;
};

/// One rewrite on the way to a variant.
struct PassRecord {
  std::string name;
  bool is_undone = false;
  std::string reason = {};  ///< why it was undone
  /// What it was decided with, and what it changed: names and figures as texts.
  std::vector<std::pair<std::string, std::string>> measured = {};

  friend bool operator==(const PassRecord&, const PassRecord&) = default;
};

/// Channels that a pruned group keeps.
struct ChannelRecord {
  std::string group;
  std::int64_t before = 0;
  std::int64_t after = 0;

  friend bool operator==(const ChannelRecord&, const ChannelRecord&) = default;
};

/// What rounding the inputs and weights of a node of a quantised variant adds to its output; errors of earlier nodes
/// are not counted.
struct LayerRecord {
  std::string node;
  double sqnr_db = 0;
  bool is_float = false;  ///< it was left, or returned to float

  friend bool operator==(const LayerRecord&, const LayerRecord&) = default;
};

struct VariantRecord {
  std::string name;                  ///< of its folder: the methods, such as "fuse+int8"
  std::vector<Method> methods = {};  ///< in the order in which they were applied
  std::vector<PassRecord> passes = {};
  std::vector<ChannelRecord> channels = {};
  std::vector<LayerRecord> layers = {};
  bool is_kept = false;
  std::string reason = {};                               ///< why it is refused; empty: it is kept
  std::optional<VariantFigures> figures = std::nullopt;  ///< nothing: there was nothing to measure
  std::string sha256 = {};                               ///< of its file; empty: no file is written

  friend bool operator==(const VariantRecord&, const VariantRecord&) = default;
};

/// The rows that were used.
struct RowCounts {
  std::int64_t calibration = 0;
  std::int64_t choosing = 0;
  std::int64_t judging = 0;
  std::int64_t left_out = 0;     ///< of the evaluation: equal to one of the calibration
  bool is_one_data_set = false;  ///< no evaluation: half of the calibration rows calibrates and chooses

  friend bool operator==(const RowCounts&, const RowCounts&) = default;
};

struct Findings {
  Metric metric = Metric::kAgreement;
  RowCounts rows = {};
  std::vector<std::int64_t> batches = {};  ///< measured
  bool has_fixed_batch = false;            ///< the model's first dimension is fixed, so that `batches` is that alone
  ModelFigures original = {};
  std::optional<double> original_score = std::nullopt;  ///< on the judging half; of kAccuracy alone
  std::vector<VariantRecord> variants = {};             ///< in the order in which they were made
  std::string recommended = {};                         ///< the name of a kept variant; empty: none is kept
  std::vector<std::string> left_out = {};               ///< what was not tried, or undone, and why: sentences

  friend bool operator==(const Findings&, const Findings&) = default;
};

/// Nothing: no variant has that name.
[[nodiscard]] const VariantRecord* find_variant(const Findings& findings, std::string_view name);

/// "fuse+int8" of its methods.
[[nodiscard]] std::string variant_name(const std::vector<Method>& methods);

}  // namespace berth::models
