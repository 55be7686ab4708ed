#include "models/prune/remove_channels.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/core/ensure.h"
#include "models/graph/graph_edit.h"
#include "models/graph/graph_index.h"
#include "models/prune/detail/constant_slice.h"
#include "models/prune/detail/filter_weights.h"

namespace berth::models {
namespace {

using NodeInput = std::pair<std::size_t, std::size_t>;

/// Constants that were changed for one input of one node, until they are written back.
class ChannelEdit {
 public:
  explicit ChannelEdit(const Graph& graph) : graph_(graph), index_(graph), nodes_(graph.nodes) {}

  /// As it is by now. Nothing: no such input, or not constant.
  [[nodiscard]] std::optional<Constant> get(const NodeInput& at) const;
  void set(const NodeInput& at, Constant constant) { changed_.insert_or_assign(at, std::move(constant)); }
  /// To change attributes.
  [[nodiscard]] Node& node(std::size_t n) { return nodes_[n]; }
  /// To the outputs of node `n` from then on.
  void add_after(std::size_t n, std::vector<float> values) { after_.emplace(n, std::move(values)); }

  /// The graph with all changes.
  [[nodiscard]] Graph take() const;

 private:
  [[nodiscard]] std::vector<Node> with_additions(const std::vector<Node>& nodes, Graph& edited,
                                                 ValueNames& names) const;

  const Graph& graph_;
  GraphIndex index_;
  std::vector<Node> nodes_;
  std::map<NodeInput, Constant> changed_ = {};
  std::map<std::size_t, std::vector<float>> after_ = {};
};

std::optional<Constant> ChannelEdit::get(const NodeInput& at) const {
  if (const auto known = changed_.find(at); known != changed_.end()) return known->second;
  const Node& node = graph_.nodes[at.first];
  if (at.second >= node.inputs.size() || node.inputs[at.second].empty()) return std::nullopt;
  const std::optional<ConstantPtr> found = constant_input(graph_, index_, node, at.second);
  if (!found) return std::nullopt;
  return **found;
}

Graph ChannelEdit::take() const {
  Graph edited = graph_;
  edited.nodes = nodes_;
  ValueNames names(graph_);
  for (const auto& [at, constant] : changed_) {
    Node& node = edited.nodes[at.first];
    if (node.inputs.size() <= at.second) node.inputs.resize(at.second + 1);
    std::string& input = node.inputs[at.second];
    const bool is_own = !input.empty() && graph_.initializers.contains(input) && index_.only_use(input).has_value();
    if (!is_own) {
      const std::string fallback = node.outputs.front() + "_bias";
      input = names.make(input.empty() ? fallback : input + "_pruned");
    }
    edited.initializers.insert_or_assign(input, share(constant));
  }
  edited.nodes = with_additions(edited.nodes, edited, names);
  return edited;
}

/// The sum has the name that the output had.
std::vector<Node> ChannelEdit::with_additions(const std::vector<Node>& nodes, Graph& edited, ValueNames& names) const {
  std::vector<Node> all;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    all.push_back(nodes[n]);
    const auto added = after_.find(n);
    if (added == after_.end()) continue;
    const std::string output = nodes[n].outputs.front();
    const std::string bare = names.make(output + "_bare");
    const std::string mean = names.make(output + "_mean");
    all.back().outputs.front() = bare;
    Dims dims = {static_cast<std::int64_t>(added->second.size())};
    // The bias of a Conv goes with dimension 1, before those of the picture.
    if (nodes[n].op == "Conv") dims.resize(edited.initializers.at(nodes[n].inputs[1])->dims.size() - 1, 1);
    edited.initializers.emplace(mean, floats(dims, added->second));
    all.push_back({.name = output + "_mean", .op = "Add", .inputs = {bare, mean}, .outputs = {output}});
  }
  return all;
}

/// Which channels node `n` still makes, if that changes.
using KeptOutputs = std::map<std::size_t, const std::vector<bool>*>;

std::vector<float> kept_floats(const std::vector<double>& values, const KeptOutputs& outputs, std::size_t n) {
  const auto kept = outputs.find(n);
  std::vector<float> left;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (kept == outputs.end() || (*kept->second)[i]) left.push_back(static_cast<float>(values[i]));
  }
  return left;
}

/// Adds `shift`, one per output, to the bias of a Gemm. False: the bias is not constant.
bool shift_gemm(ChannelEdit& edit, Node& node, std::size_t n, const std::vector<double>& shift) {
  const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::optional<Constant> bias = edit.get({n, 2});
  if (has_bias && !bias) return false;
  const float alpha = attribute_or(node, "alpha", 1.0F);
  const float beta = has_bias ? attribute_or(node, "beta", 1.0F) : 1.0F;
  const std::vector<float> old = bias ? to_floats(*bias) : std::vector<float>{0.0F};
  const Dims dims = bias ? bias->dims : Dims{};
  const auto columns = static_cast<std::int64_t>(shift.size());
  const std::size_t rows = dims.size() == 2 ? static_cast<std::size_t>(dims[0]) : 1;
  const std::size_t width = dims.empty() ? 1 : static_cast<std::size_t>(dims.back());
  std::vector<float> sums;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < shift.size(); ++i) {
      const float before = beta * old[row * width + (width == 1 ? 0 : i)];
      sums.push_back(before + alpha * static_cast<float>(shift[i]));
    }
  }
  node.attributes.erase("beta");
  edit.set({n, 2}, *floats(dims.size() == 2 ? Dims{dims[0], columns} : Dims{columns}, sums));
  return true;
}

bool shift_conv(ChannelEdit& edit, const Node& node, std::size_t n, const std::vector<double>& shift) {
  const bool has_bias = node.inputs.size() > 2 && !node.inputs[2].empty();
  const std::optional<Constant> bias = edit.get({n, 2});
  if (has_bias && !bias) return false;
  std::vector<float> sums = bias ? to_floats(*bias) : std::vector<float>(shift.size(), 0.0F);
  for (std::size_t i = 0; i < shift.size(); ++i) sums[i] += static_cast<float>(shift[i]);
  edit.set({n, 2}, *floats({static_cast<std::int64_t>(sums.size())}, sums));
  return true;
}

/// If the only node that takes what MatMul `n` makes adds a constant row to it: that input.
std::optional<NodeInput> row_added_after(const Graph& graph, const GraphIndex& index, std::size_t n,
                                         std::size_t columns) {
  const std::optional<ValueUse> use = index.only_use(graph.nodes[n].outputs.front());
  if (!use || !is_op(graph.nodes[use->node], "Add")) return std::nullopt;
  const std::size_t other = 1 - *use->input;
  const std::optional<ConstantPtr> row = constant_input(graph, index, graph.nodes[use->node], other);
  const bool is_row =
      row && (*row)->type == ElementType::kFloat && (*row)->dims == Dims{static_cast<std::int64_t>(columns)};
  if (!is_row) return std::nullopt;
  return NodeInput{use->node, other};
}

/// Removes channels step by step: all sums over channels first, on whole weights, then all slices.
class ChannelRemoval {
 public:
  ChannelRemoval(const Model& model, std::span<const ChannelChoice> choices, const ChannelStatistics& statistics)
      : model_(model), statistics_(statistics), index_(model.graph), edit_(model.graph) {
    for (const ChannelChoice& choice : choices) {
      ENSURE(choice.group != nullptr && !choice.group->left_out);
      ENSURE(static_cast<std::int64_t>(choice.kept.size()) == choice.group->channels);
      ENSURE(std::ranges::count(choice.kept, true) > 0);
      if (std::ranges::count(choice.kept, false) > 0) choices_.push_back(choice);
    }
    for (const ChannelChoice& choice : choices_) {
      for (const ChannelProducer& producer : choice.group->producers) outputs_.emplace(producer.node, &choice.kept);
    }
  }

  [[nodiscard]] Model run(Compensation compensation) {
    for (const ChannelChoice& choice : choices_) fold(choice, compensation);
    for (const ChannelChoice& choice : choices_) slice(choice);
    Model pruned = model_;
    pruned.graph = edit_.take();
    for (const ChannelChoice& choice : choices_) {
      const std::set<std::string> gone(choice.group->values.begin(), choice.group->values.end());
      std::erase_if(pruned.graph.values, [&](const ValueInfo& value) { return gone.contains(value.name); });
    }
    remove_dead(pruned.graph);
    return pruned;
  }

 private:
  void fold(const ChannelChoice& choice, Compensation compensation) {
    std::map<std::string, std::vector<double>> shares;
    for (const ChannelConsumer& consumer : choice.group->consumers) {
      const ChannelSpread& spread = statistics_.spreads.at(consumer.value);
      std::vector<double>& share = shares[consumer.value];
      if (share.empty() && compensation == Compensation::kReconstruct) share = stand_ins(spread, choice.kept);
      if (share.empty()) share.assign(choice.kept.size() * choice.kept.size(), 0.0);
      fold_consumer(choice, consumer, share);
    }
  }

  /// The difference of the mean outputs goes into the bias.
  void fold_consumer(const ChannelChoice& choice, const ChannelConsumer& consumer, const std::vector<double>& shares) {
    const NodeInput at{consumer.node, 1};
    const std::vector<double>& inputs = statistics_.inputs.at(consumer.node);
    const bool is_filter = model_.graph.nodes[consumer.node].op == "Conv";
    FilterWeights weights(edit_.get(at).value(), consumer.weight_at, choice.group->channels);
    std::vector<double> shift = weights.outputs(inputs, is_filter);
    weights.fold(choice.kept, shares);
    const std::vector<double> after = weights.outputs(inputs, is_filter);
    for (std::size_t i = 0; i < shift.size(); ++i) shift[i] -= after[i];
    edit_.set(at, weights.constant());
    if (std::ranges::any_of(shift, [](double each) { return each != 0; }))
      shift_outputs(consumer.node, std::move(shift));
  }

  void shift_outputs(std::size_t n, std::vector<double> shift) {
    Node& node = edit_.node(n);
    if (node.op == "Conv" && shift_conv(edit_, node, n, shift)) return;
    if (node.op == "Gemm" && shift_gemm(edit_, node, n, shift)) return;
    const std::optional<NodeInput> row =
        node.op == "MatMul" ? row_added_after(model_.graph, index_, n, shift.size()) : std::nullopt;
    if (!row) {
      for (double& each : shift) each *= static_cast<double>(attribute_or(node, "alpha", 1.0F));
      edit_.add_after(n, kept_floats(shift, outputs_, n));
      return;
    }
    std::vector<float> sums = to_floats(edit_.get(*row).value());
    for (std::size_t i = 0; i < shift.size(); ++i) sums[i] += static_cast<float>(shift[i]);
    edit_.set(*row, *floats({static_cast<std::int64_t>(sums.size())}, sums));
  }

  void slice(const ChannelChoice& choice) {
    const ChannelGroup& group = *choice.group;
    for (const ChannelConstant& each : group.constants) {
      edit_.set({each.node, each.input}, sliced(edit_.get({each.node, each.input}).value(), each.at, choice.kept));
    }
    for (const ChannelProducer& producer : group.producers) slice_made_bias(choice, producer.node);
    const std::int64_t left = std::ranges::count(choice.kept, true);
    for (const ChannelEntry& entry : group.entries) {
      std::vector<std::int64_t> shape = to_int64s(edit_.get({entry.node, entry.input}).value());
      const Dims dims = edit_.get({entry.node, entry.input})->dims;
      shape[entry.entry] = entry.width * left;
      edit_.set({entry.node, entry.input}, *int64s(dims, shape));
    }
    for (const ChannelDepthwise& each : group.depthwise) {
      edit_.node(each.node).attributes.insert_or_assign("group", each.width * left);
    }
  }

  /// A bias that was made, or widened, after the group was found.
  void slice_made_bias(const ChannelChoice& choice, std::size_t n) {
    const NodeInput at{n, 2};
    const bool is_listed = std::ranges::any_of(
        choice.group->constants, [&](const ChannelConstant& each) { return each.node == n && each.input == 2; });
    const std::optional<Constant> bias = edit_.get(at);
    if (is_listed || !bias || bias->dims.empty() || bias->dims.back() != choice.group->channels) return;
    edit_.set(at, sliced(*bias, {.axis = bias->dims.size() - 1}, choice.kept));
  }

  const Model& model_;
  std::vector<ChannelChoice> choices_ = {};  ///< those that remove something
  const ChannelStatistics& statistics_;
  GraphIndex index_;
  ChannelEdit edit_;
  KeptOutputs outputs_ = {};
};

}  // namespace

Model remove_channels(const Model& model, std::span<const ChannelChoice> choices, const ChannelStatistics& statistics,
                      Compensation compensation) {
  return ChannelRemoval(model, choices, statistics).run(compensation);
}

std::vector<ChannelMask> channel_masks(const Model& model, std::span<const ChannelChoice> choices) {
  std::map<std::pair<std::string, std::size_t>, std::vector<bool>> masks;
  for (const ChannelChoice& choice : choices) {
    const auto add = [&](std::size_t n, const ChannelAxis& at) {
      masks.insert_or_assign({model.graph.nodes[n].inputs[1], at.axis}, kept_along(at, choice.kept));
    };
    for (const ChannelProducer& producer : choice.group->producers) add(producer.node, producer.weight_at);
    for (const ChannelConsumer& consumer : choice.group->consumers) add(consumer.node, consumer.weight_at);
  }
  std::vector<ChannelMask> all;
  for (auto& [at, kept] : masks) all.push_back({at.first, at.second, std::move(kept)});
  return all;
}

}  // namespace berth::models
