#include "models/optimize/method_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "models/fp16/half_precision.h"
#include "models/fp16/half_weights.h"
#include "models/int8/choose_int8.h"
#include "models/int8/collect_statistics.h"
#include "models/onnx/raise_opset.h"
#include "models/probing/observe.h"
#include "models/prune/channel_groups.h"
#include "models/prune/channel_statistics.h"
#include "models/prune/choose_channels.h"

namespace berth::models {
namespace {

/// Scales per channel came with this version of the operators.
constexpr std::int64_t kInt8Opset = 13;

/// Of a search: an interrupt ends the run; what else goes wrong concerns this variant alone.
Result<MadeVariant> none_for(const Error& error) {
  if (error.code == ErrorCode::kInterrupted) return pass_on(error);
  return MadeVariant{.why_none = error.message};
}

std::string figure_text(double figure) { return fmt::format("{:.6g}", figure); }

/// Conv, Gemm and MatMul in the branches and loops of a graph.
int count_heavy_inside(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes) {
    for (const GraphPtr& inner : graphs_in(node)) {
      count += count_heavy_inside(*inner);
      count += static_cast<int>(std::ranges::count_if(inner->nodes, [](const Node& each) {
        return is_op(each, "Conv") || is_op(each, "Gemm") || is_op(each, "MatMul");
      }));
    }
  }
  return count;
}

/// `what`: such as "constant weights".
std::string why_no_heavy(const Graph& graph, std::string_view what) {
  const int inside = count_heavy_inside(graph);
  if (inside == 0) return fmt::format("it has no Conv, Gemm or MatMul with {}", what);
  return fmt::format("it has no Conv, Gemm or MatMul with {} but {} inside branches or loops, which stay as they are",
                     what, inside);
}

// ---------------------------------------------------------------------------------------------------------- prune

std::string why_no_groups(const Graph& graph, const std::vector<ChannelGroup>& groups) {
  if (groups.empty()) return why_no_heavy(graph, "constant weights");
  const ChannelGroup& first = groups.front();
  return fmt::format("none of its {} groups of channels can be pruned ({}: {})", groups.size(), first.name,
                     first.left_out.value_or("?"));
}

PassRecord prune_record(const PruneOutcome& outcome) {
  PassRecord record = {.name = "prune"};
  record.measured.emplace_back("loss", figure_text(outcome.loss));
  if (!outcome.is_complete) record.measured.emplace_back("search", "the time ran out before all was tried");
  for (const GroupOutcome& group : outcome.groups) {
    if (group.left_out) record.measured.emplace_back(group.name + ": left out", *group.left_out);
    for (const GroupTrial& trial : group.trials) {
      record.measured.emplace_back(
          fmt::format("{}: {} of {}", group.name, trial.kept, group.channels),
          fmt::format("noise {:.4g}, loss {:.4g}, time {:.4g} x", trial.noise, trial.loss, trial.time_ratio));
    }
  }
  return record;
}

// ----------------------------------------------------------------------------------------------------------- int8

/// The model at a version of the operators that int8 can use.
Result<Model> raised(const MethodInputs& inputs) {
  if (inputs.base.opset() >= kInt8Opset) return inputs.base;
  const auto shapes = shapes_seen(inputs.tools.probe, inputs.base, inputs.rows.calibration);
  if (!shapes) return pass_on(shapes.error());
  auto model = raise_opset(inputs.base, kInt8Opset, *shapes);
  if (!model) {
    return invalid(fmt::format("its operators have version {}, wanted {}: {}", inputs.base.opset(), kInt8Opset,
                               model.error().message));
  }
  const auto before = run_checked(inputs.base, inputs.original.check, inputs.tools);
  if (!before) return pass_on(before.error());
  const auto after = run_checked(*model, inputs.original.check, inputs.tools);
  if (!after) return pass_on(after.error());
  if (!agrees_exactly(*before, *after)) {
    return invalid(fmt::format("its operators could not be raised to version {} without other outputs", kInt8Opset));
  }
  return model;
}

/// Noise of inputs and of weights together.
double joint_sqnr_db(const LayerError& layer) {
  const double noise = std::pow(10, -layer.input_sqnr_db / 10) + std::pow(10, -layer.weight_sqnr_db / 10);
  return -10 * std::log10(noise);
}

PassRecord int8_record(const Int8Choice& choice) {
  PassRecord record = {.name = "int8"};
  record.measured = {
      {"activations", choice.settings.activations.is_signed ? "signed" : "unsigned"},
      {"weight_bits", fmt::format("{}", choice.settings.weight_bits)},
      {"weight_scale", choice.settings.weight_scale == WeightScale::kLargest ? "largest" : "least error"},
      {"sqnr_db", figure_text(choice.sqnr_db)},
      {"loss", figure_text(choice.loss)}};
  for (const auto& [value, range] : choice.ranges) {
    record.measured.emplace_back("range of " + value, fmt::format("{:.9g} to {:.9g}", range.min, range.max));
  }
  for (const auto& [node, reason] : choice.left) record.measured.emplace_back(node + ": in float", reason);
  for (const std::string& node : choice.float_nodes) record.measured.emplace_back(node + ": in float", "its loss");
  for (const std::string& what : choice.unfinished) record.measured.emplace_back("no time for", what);
  return record;
}

std::vector<LayerRecord> layer_records(const Int8Choice& choice) {
  std::vector<LayerRecord> records;
  for (const LayerError& layer : choice.layers) {
    records.push_back(
        {.node = layer.output, .sqnr_db = joint_sqnr_db(layer), .is_float = choice.float_nodes.contains(layer.output)});
  }
  return records;
}

}  // namespace

Result<MadeVariant> make_pruned(const MethodInputs& inputs) {
  const auto shapes = shapes_seen(inputs.tools.probe, inputs.base, inputs.rows.calibration);
  if (!shapes) return none_for(shapes.error());
  const std::vector<ChannelGroup> groups = channel_groups(inputs.base, *shapes);
  const bool is_any_open = std::ranges::any_of(groups, [](const ChannelGroup& group) { return !group.left_out; });
  if (!is_any_open) return MadeVariant{.why_none = why_no_groups(inputs.base.graph, groups)};
  const auto statistics = measure_channels(inputs.tools.probe, inputs.base, groups, inputs.rows.calibration, {});
  if (!statistics) return none_for(statistics.error());
  auto outcome = choose_channels(inputs.base, groups, *statistics, inputs.trials, {.loss_max = inputs.terms.max_loss});
  if (!outcome) return none_for(outcome.error());
  MadeVariant made = {.passes = {prune_record(*outcome)}};
  bool is_changed = false;
  for (const GroupOutcome& group : outcome->groups) {
    made.channels.push_back({.group = group.name, .before = group.channels, .after = group.kept});
    is_changed = is_changed || group.kept < group.channels;
  }
  if (!is_changed) made.why_none = "no channels can go that saves time within max-loss";
  if (!outcome->is_complete) made.no_time_for.emplace_back("all groups of channels");
  made.model = std::move(outcome->model);
  made.masks = std::move(outcome->masks);
  return made;
}

Result<MadeVariant> make_int8(const MethodInputs& inputs) {
  const auto model = raised(inputs);
  if (!model) return none_for(model.error());
  const auto shapes = shapes_seen(inputs.tools.probe, *model, inputs.rows.calibration);
  if (!shapes) return none_for(shapes.error());
  const std::vector<std::string> values = values_to_observe(*model, *shapes);
  if (values.empty()) {
    return MadeVariant{.why_none = why_no_heavy(model->graph, "constant float weights")};
  }
  const auto statistics = collect_statistics(inputs.tools.probe, *model, inputs.rows.calibration, values);
  if (!statistics) return none_for(statistics.error());
  auto choice = choose_int8(*model, *shapes, *statistics,
                            {.rule = inputs.terms.ranges, .loss_max = inputs.terms.max_loss}, inputs.trials);
  if (!choice) return none_for(choice.error());
  MadeVariant made;
  made.passes = {int8_record(*choice)};
  made.layers = layer_records(*choice);
  made.model = std::move(choice->model);
  made.no_time_for = std::move(choice->unfinished);
  return made;
}

Result<MadeVariant> make_fp16(const MethodInputs& inputs) {
  if (inputs.terms.goal == Goal::kFile) {
    HalfWeights half = halve_weights(inputs.base, {});
    if (half.changed_count == 0) return MadeVariant{.why_none = "it has no large float weights"};
    PassRecord record = {.name = "fp16: weights"};
    record.measured = {{"weights", fmt::format("{}", half.changed_count)},
                       {"clipped_elements", fmt::format("{}", half.clipped_count)}};
    return MadeVariant{.model = std::move(half.model), .passes = {std::move(record)}};
  }
  const auto shapes = shapes_seen(inputs.tools.probe, inputs.base, inputs.rows.calibration);
  if (!shapes) return none_for(shapes.error());
  HalfPrecision half = halve_precision(inputs.base, *shapes);
  if (half.half_count == 0) return MadeVariant{.why_none = "it has no node that may compute in half precision"};
  PassRecord record = {.name = "fp16"};
  record.measured = {{"half_nodes", fmt::format("{}", half.half_count)},
                     {"float_nodes", fmt::format("{}", half.float_count)}};
  return MadeVariant{.model = std::move(half.model), .passes = {std::move(record)}};
}

}  // namespace berth::models
