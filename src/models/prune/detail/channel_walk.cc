#include "models/prune/detail/channel_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/prune/detail/channel_axis.h"
#include "models/prune/detail/channel_rules.h"

namespace berth::models {

std::string node_text(const Node& node) {
  const std::string first = node.outputs.empty() ? "" : node.outputs.front();
  return fmt::format("{} '{}'", node.op, node.name.empty() ? first : node.name);
}

std::vector<ChannelGroup> ChannelWalk::groups() && {
  for (std::size_t n = 0; n < graph_.nodes.size(); ++n) visit(n);
  leave_out_seen();
  std::vector<ChannelGroup> found = std::move(sets_).take();
  for (ChannelGroup& group : found) {
    if (!group.left_out && group.consumers.empty()) group.left_out = "no node sums over the channels";
  }
  return found;
}

/// Whoever takes outputs of the graph, or takes a value into an inner graph, needs all channels.
void ChannelWalk::leave_out_seen() {
  for (const auto& [value, carried] : carried_) {
    if (index_.is_output(value)) sets_.leave_out(carried.set, fmt::format("'{}' is an output of the model", value));
    const std::vector<ValueUse>& uses = index_.uses(value);
    const auto inside = std::ranges::find_if(uses, [](const ValueUse& use) { return !use.input; });
    if (inside == uses.end()) continue;
    sets_.leave_out(carried.set,
                    fmt::format("{} takes '{}' into an inner graph", node_text(graph_.nodes[inside->node]), value));
  }
}

void ChannelWalk::visit(std::size_t n) {
  switch (channel_rule(graph_.nodes[n])) {
    case ChannelRule::kMixes:
      return refuse(n);
    case ChannelRule::kUnary:
      return visit_unary(n);
    case ChannelRule::kBroadcast:
      return visit_broadcast(n);
    case ChannelRule::kPool:
      return visit_pool(n);
    case ChannelRule::kNormalise:
      return visit_normalise(n);
    case ChannelRule::kReshape:
      return visit_reshape(n);
    case ChannelRule::kTranspose:
      return visit_transpose(n);
    case ChannelRule::kReduce:
      return visit_reduce(n);
    case ChannelRule::kPad:
      return visit_pad(n);
    case ChannelRule::kResize:
      return visit_resize(n);
    case ChannelRule::kSlice:
      return visit_slice(n);
    case ChannelRule::kShape:
      return visit_shape(n);
    case ChannelRule::kConv:
      return visit_conv(n);
    case ChannelRule::kGemm:
      return visit_gemm(n);
    case ChannelRule::kMatMul:
      return visit_mat_mul(n);
  }
}

void ChannelWalk::visit_unary(std::size_t n) {
  const Node& node = graph_.nodes[n];
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (carried(n, i)) return refuse(n);
  }
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return;
  for (const std::string& output : node.outputs) carry(output, *from);
}

void ChannelWalk::visit_broadcast(std::size_t n) {
  const Node& node = graph_.nodes[n];
  std::optional<Carried> common = joined_inputs(n);
  if (!common) return;
  std::size_t rank = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!has_input(n, i)) continue;
    const std::optional<SizedDims> dims = dims_of(n, i);
    if (!dims) return refuse(n, fmt::format("with '{}', whose shape is not known", node.inputs[i]));
    rank = std::max(rank, dims->size());
    if (!carried(n, i) && !meets(n, i, *common)) {
      return refuse(n, fmt::format("with '{}', whose channels stay", node.inputs[i]));
    }
  }
  common->at.axis = rank - common->at.axis;
  carry(node.outputs.front(), *common);
}

std::optional<ChannelWalk::Carried> ChannelWalk::joined_inputs(std::size_t n) {
  std::optional<Carried> common;
  for (std::size_t i = 0; i < graph_.nodes[n].inputs.size(); ++i) {
    std::optional<Carried> from = carried(n, i);
    if (!from) continue;
    const std::optional<SizedDims> dims = dims_of(n, i);
    if (!dims || from->at.axis >= dims->size()) {
      refuse(n, "the shapes are not known");
      return std::nullopt;
    }
    from->at.axis = dims->size() - from->at.axis;
    if (!common) common = from;
    if (common->at != from->at || sets_.at(common->set).channels != sets_.at(from->set).channels) {
      refuse(n, "of channels in different places");
      return std::nullopt;
    }
    sets_.join(common->set, from->set);
  }
  return common;
}

bool ChannelWalk::meets(std::size_t n, std::size_t i, const Carried& common) {
  const std::optional<SizedDims> dims = dims_of(n, i);
  if (!dims) return false;
  if (dims->size() < common.at.axis) return true;
  const std::size_t axis = dims->size() - common.at.axis;
  if ((*dims)[axis] == 1) return true;
  ChannelGroup& group = sets_.at(common.set);
  if ((*dims)[axis] != width_of(common.at, group.channels) || !constant(n, i)) return false;
  group.constants.push_back({n, i, {axis, common.at.outer, common.at.inner}});
  return true;
}

void ChannelWalk::visit_pool(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return;
  // The second output of MaxPool numbers the elements of all channels.
  const bool has_indices = node.outputs.size() > 1 && is_used(node.outputs[1]);
  if (from->at.axis != 1 || has_indices) return refuse(n);
  carry(node.outputs.front(), *from);
}

void ChannelWalk::visit_normalise(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return refuse(n);
  const bool is_training = node.outputs.size() > 1 || attribute_or(node, "training_mode", std::int64_t{0}) != 0;
  if (from->at.axis != 1 || is_training) return refuse(n);
  ChannelGroup& group = sets_.at(from->set);
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const std::optional<ConstantPtr> each = constant(n, i);
    if (!each || (*each)->dims != Dims{width_of(from->at, group.channels)}) {
      return refuse(n, "its parameters are not constant");
    }
    group.constants.push_back({n, i, {0, from->at.outer, from->at.inner}});
  }
  carry(node.outputs.front(), *from);
}

void ChannelWalk::visit_reshape(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from || carried(n, 1)) return refuse(n);
  const std::optional<SizedDims> in = dims_of(n, 0);
  const std::optional<SizedDims> out = dims_of(node.outputs.front());
  if (!in || !out) return refuse(n, "the shapes are not known");
  const std::optional<ChannelAxis> to = reshaped(from->at, sets_.at(from->set).channels, *in, *out);
  if (!to) return refuse(n, "channels do not stay together, or shapes are not known");
  if (node.op == "Reshape" && !set_shape_entry(n, *from, *to)) return refuse(n, "its shape is computed");
  carry(node.outputs.front(), {from->set, *to});
}

/// What the wanted shape says of the channels: their number, "as it was" (0), or "what is left" (-1).
bool ChannelWalk::set_shape_entry(std::size_t n, const Carried& from, const ChannelAxis& to) {
  const std::optional<std::vector<std::int64_t>> wanted = numbers(n, 1);
  if (!wanted) {
    const std::optional<ChannelEntry> entry = entry_of_concat(n, to.axis);
    if (!entry) return false;
    if (entry->width > 0)
      sets_.at(from.set).entries.push_back({entry->node, entry->input, entry->entry, to.outer * to.inner});
    return true;
  }
  if (to.axis >= wanted->size()) return false;
  const bool copies = attribute_or(graph_.nodes[n], "allowzero", std::int64_t{0}) == 0;
  const bool is_copied_elsewhere =
      copies && from.at.axis != to.axis && from.at.axis < wanted->size() && (*wanted)[from.at.axis] == 0;
  if (is_copied_elsewhere) return false;
  const std::int64_t size = (*wanted)[to.axis];
  if (size == 0) return from.at == to;
  if (size > 0) sets_.at(from.set).entries.push_back({n, 1, to.axis, to.outer * to.inner});
  return true;
}

/// A shape put together from single numbers, of which that for the channels is constant. `width` 0: it says -1.
std::optional<ChannelEntry> ChannelWalk::entry_of_concat(std::size_t n, std::size_t entry) {
  const std::optional<std::size_t> maker = index_.maker(graph_.nodes[n].inputs[1]);
  if (!maker || !is_op(graph_.nodes[*maker], "Concat")) return std::nullopt;
  std::size_t first = 0;
  for (std::size_t i = 0; i < graph_.nodes[*maker].inputs.size(); ++i) {
    const std::optional<SizedDims> dims = dims_of(*maker, i);
    if (!dims || dims->size() != 1 || dims->front() < 0) return std::nullopt;
    const auto size = static_cast<std::size_t>(dims->front());
    if (entry >= first + size) {
      first += size;
      continue;
    }
    const std::optional<std::vector<std::int64_t>> part = numbers(*maker, i);
    // Other users of the shape would see the change.
    if (!part || !index_.only_use(graph_.nodes[n].inputs[1])) return std::nullopt;
    const std::int64_t wanted = (*part)[entry - first];
    if (wanted == 0) return std::nullopt;
    return ChannelEntry{*maker, i, entry - first, wanted < 0 ? 0 : 1};
  }
  return std::nullopt;
}

void ChannelWalk::visit_transpose(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return;
  std::vector<std::int64_t> order = attribute_or(node, "perm", std::vector<std::int64_t>{});
  if (order.empty()) {
    const std::optional<SizedDims> dims = dims_of(n, 0);
    if (!dims) return refuse(n, "the shapes are not known");
    for (std::size_t i = dims->size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  }
  const auto place = std::ranges::find(order, static_cast<std::int64_t>(from->at.axis));
  if (place == order.end()) return refuse(n);
  const auto axis = static_cast<std::size_t>(place - order.begin());
  carry(node.outputs.front(), {from->set, {axis, from->at.outer, from->at.inner}});
}

void ChannelWalk::visit_reduce(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return refuse(n);
  const std::optional<SizedDims> dims = dims_of(n, 0);
  std::vector<std::int64_t> axes = attribute_or(node, "axes", std::vector<std::int64_t>{});
  if (has_input(n, 1)) axes = numbers(n, 1).value_or(axes);
  if (!dims || axes.empty()) return refuse(n);
  std::size_t before = 0;
  for (const std::int64_t axis : axes) {
    const auto place = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(dims->size()) : axis);
    if (place == from->at.axis) return refuse(n);
    if (place < from->at.axis) ++before;
  }
  ChannelAxis to = from->at;
  if (attribute_or(node, "keepdims", std::int64_t{1}) == 0) to.axis -= before;
  carry(node.outputs.front(), {from->set, to});
}

void ChannelWalk::visit_pad(std::size_t n) {
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return refuse(n);
  const std::optional<std::vector<std::int64_t>> pads = numbers(n, 1);
  if (!pads || has_input(n, 3)) return refuse(n);
  const std::size_t rank = pads->size() / 2;
  if (from->at.axis >= rank || (*pads)[from->at.axis] != 0 || (*pads)[rank + from->at.axis] != 0) return refuse(n);
  carry(graph_.nodes[n].outputs.front(), *from);
}

void ChannelWalk::visit_resize(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return refuse(n);
  const bool is_crop = attribute_or(node, "coordinate_transformation_mode", std::string()) == "tf_crop_and_resize";
  if (is_crop || node.attributes.contains("axes")) return refuse(n);
  if (has_input(n, 3)) {
    const std::optional<std::vector<std::int64_t>> sizes = numbers(n, 3);
    ChannelGroup& group = sets_.at(from->set);
    if (!sizes || from->at.axis >= sizes->size() || (*sizes)[from->at.axis] != width_of(from->at, group.channels)) {
      return refuse(n, "its sizes are computed");
    }
    group.entries.push_back({n, 3, from->at.axis, from->at.outer * from->at.inner});
  } else {
    const std::optional<ConstantPtr> scales = constant(n, 2);
    if (!scales || (*scales)->type != ElementType::kFloat) return refuse(n, "its scales are computed");
    const std::vector<float> factors = to_floats(**scales);
    if (from->at.axis >= factors.size() || factors[from->at.axis] != 1.0F) return refuse(n);
  }
  carry(node.outputs.front(), *from);
}

void ChannelWalk::visit_slice(std::size_t n) {
  const std::optional<Carried> from = carried(n, 0);
  const std::optional<std::vector<std::int64_t>> axes = numbers(n, 3);
  const std::optional<SizedDims> dims = dims_of(n, 0);
  if (!from || !axes || !dims) return refuse(n);
  const auto rank = static_cast<std::int64_t>(dims->size());
  for (const std::int64_t axis : *axes) {
    if ((axis < 0 ? axis + rank : axis) == static_cast<std::int64_t>(from->at.axis)) return refuse(n);
  }
  carry(graph_.nodes[n].outputs.front(), *from);
}

/// The shape of a value may be taken where only the sizes of other dimensions are used.
void ChannelWalk::visit_shape(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return;
  const std::optional<SizedDims> dims = dims_of(n, 0);
  const bool is_part = node.attributes.contains("start") || node.attributes.contains("end");
  if (!dims || is_part || index_.is_output(node.outputs.front())) return refuse(n);
  const auto rank = static_cast<std::int64_t>(dims->size());
  for (const ValueUse& use : index_.uses(node.outputs.front())) {
    if (!use.input || *use.input != 0 || !is_op(graph_.nodes[use.node], "Gather")) return refuse(n);
    const std::optional<std::vector<std::int64_t>> taken = numbers(use.node, 1);
    if (!taken) return refuse(n);
    for (const std::int64_t axis : *taken) {
      if ((axis < 0 ? axis + rank : axis) == static_cast<std::int64_t>(from->at.axis)) return refuse(n);
    }
  }
}

void ChannelWalk::visit_conv(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const ConstantPtr weight = own_weight(n);
  if (!weight || weight->dims.size() < 3) return refuse(n, "its weights are no constant of its own of type float");
  const std::int64_t parts = attribute_or(node, "group", std::int64_t{1});
  if (parts > 1 && weight->dims[1] == 1) return visit_depthwise(n, *weight);
  if (const std::optional<Carried> from = carried(n, 0)) {
    if (parts > 1 || from->at.axis != 1) {
      refuse(n, parts > 1 ? "of groups of channels" : "");
    } else {
      consume(n, *from, {1, from->at.outer, from->at.inner});
    }
  }
  make_channels(n, weight->dims[0], {}, 1);
  const auto made = carried_.find(node.outputs.front());
  if (parts > 1 && made != carried_.end()) {
    sets_.leave_out(made->second.set, fmt::format("{} has groups of channels", node_text(node)));
  }
}

/// Each channel has a filter, or several, of its own.
void ChannelWalk::visit_depthwise(std::size_t n, const Constant& weight) {
  const Node& node = graph_.nodes[n];
  const std::optional<Carried> from = carried(n, 0);
  if (!from) return refuse(n);
  const std::int64_t parts = attribute_or(node, "group", std::int64_t{1});
  ChannelGroup& group = sets_.at(from->set);
  if (from->at.axis != 1 || parts != width_of(from->at, group.channels) || weight.dims[0] % parts != 0)
    return refuse(n);
  ChannelAxis to = from->at;
  to.inner *= weight.dims[0] / parts;
  if (has_input(n, 2) && !constant(n, 2)) return refuse(n, "its bias is not constant");
  group.constants.push_back({n, 1, {0, to.outer, to.inner}});
  if (has_input(n, 2)) group.constants.push_back({n, 2, {0, to.outer, to.inner}});
  group.depthwise.push_back({n, from->at.outer * from->at.inner});
  carry(node.outputs.front(), {from->set, to});
}

void ChannelWalk::visit_gemm(std::size_t n) {
  const Node& node = graph_.nodes[n];
  const ConstantPtr weight = own_weight(n);
  const bool is_usual = weight && weight->dims.size() == 2 && attribute_or(node, "transA", std::int64_t{0}) == 0 &&
                        !carried(n, 1) && !carried(n, 2);
  if (!is_usual) return refuse(n);
  const std::size_t columns = attribute_or(node, "transB", std::int64_t{0}) != 0 ? 0 : 1;
  if (const std::optional<Carried> from = carried(n, 0)) {
    if (from->at.axis != 1) {
      refuse(n);
    } else {
      consume(n, *from, {1 - columns, from->at.outer, from->at.inner});
    }
  }
  make_channels(n, weight->dims[columns], {.axis = columns}, 1);
}

void ChannelWalk::visit_mat_mul(std::size_t n) {
  const ConstantPtr weight = own_weight(n);
  if (!weight || weight->dims.size() != 2 || carried(n, 1)) return refuse(n);
  const std::optional<SizedDims> dims = dims_of(n, 0);
  const std::optional<Carried> from = carried(n, 0);
  if (!dims || dims->size() < 2) return refuse(n, "the shapes are not known");
  if (from && from->at.axis + 1 != dims->size()) {
    refuse(n);
  } else if (from) {
    consume(n, *from, {0, from->at.outer, from->at.inner});
  }
  make_channels(n, weight->dims[1], {.axis = 1}, dims->size() - 1);
}

void ChannelWalk::make_channels(std::size_t n, std::int64_t channels, const ChannelAxis& weight_at,
                                std::size_t output_axis) {
  if (channels < 2) return;  // one channel would be taken for one that is repeated
  const Node& node = graph_.nodes[n];
  const std::size_t set = sets_.make(node.name.empty() ? node.outputs.front() : node.name, channels);
  ChannelGroup& group = sets_.at(set);
  group.producers.push_back({n, weight_at});
  group.constants.push_back({n, 1, weight_at});
  carry(node.outputs.front(), {set, {.axis = output_axis}});
  if (!has_input(n, 2)) return;
  const std::optional<ConstantPtr> bias = constant(n, 2);
  if (!bias) return sets_.leave_out(set, fmt::format("the bias of {} is not constant", node_text(node)));
  // A Gemm repeats its bias along dimensions of size 1.
  const Dims& dims = (*bias)->dims;
  if (!dims.empty() && dims.back() == channels) group.constants.push_back({n, 2, {.axis = dims.size() - 1}});
}

void ChannelWalk::consume(std::size_t n, const Carried& from, const ChannelAxis& weight_at) {
  ChannelGroup& group = sets_.at(from.set);
  const ConstantPtr weight = own_weight(n);
  if (!weight || weight->dims[weight_at.axis] != width_of(weight_at, group.channels)) return refuse(n);
  group.consumers.push_back({n, graph_.nodes[n].inputs.front(), from.at, weight_at});
  group.constants.push_back({n, 1, weight_at});
}

/// Null: not constant, of another type, or another node takes it too.
ConstantPtr ChannelWalk::own_weight(std::size_t n) {
  const std::optional<ConstantPtr> weight = constant(n, 1);
  if (!weight || (*weight)->type != ElementType::kFloat) return nullptr;
  return index_.only_use(graph_.nodes[n].inputs[1]) ? *weight : nullptr;
}

void ChannelWalk::carry(std::string_view value, const Carried& carried) {
  if (value.empty()) return;
  carried_.emplace(std::string(value), carried);
  sets_.at(carried.set).values.emplace_back(value);
}

std::optional<ChannelWalk::Carried> ChannelWalk::carried(std::size_t n, std::size_t input) const {
  if (!has_input(n, input)) return std::nullopt;
  const auto found = carried_.find(graph_.nodes[n].inputs[input]);
  if (found == carried_.end()) return std::nullopt;
  return found->second;
}

std::optional<ChannelWalk::SizedDims> ChannelWalk::dims_of(std::size_t n, std::size_t input) const {
  if (const std::optional<ConstantPtr> known = constant(n, input)) return (*known)->dims;
  return dims_of(graph_.nodes[n].inputs[input]);
}

std::optional<ChannelWalk::SizedDims> ChannelWalk::dims_of(std::string_view value) const {
  const auto found = shapes_.find(value);
  if (found == shapes_.end()) return std::nullopt;
  return found->second.dims;
}

std::optional<ConstantPtr> ChannelWalk::constant(std::size_t n, std::size_t input) const {
  if (!has_input(n, input)) return std::nullopt;
  return constant_input(graph_, index_, graph_.nodes[n], input);
}

std::optional<std::vector<std::int64_t>> ChannelWalk::numbers(std::size_t n, std::size_t input) const {
  const std::optional<ConstantPtr> found = constant(n, input);
  if (!found || (*found)->type != ElementType::kInt64) return std::nullopt;
  return to_int64s(**found);
}

bool ChannelWalk::has_input(std::size_t n, std::size_t input) const {
  return input < graph_.nodes[n].inputs.size() && !graph_.nodes[n].inputs[input].empty();
}

bool ChannelWalk::is_used(std::string_view value) const {
  return !index_.uses(value).empty() || index_.is_output(value);
}

void ChannelWalk::refuse(std::size_t n, std::string_view why) {
  const Node& node = graph_.nodes[n];
  const std::string reason =
      why.empty() ? fmt::format("{} takes all channels", node_text(node)) : fmt::format("{}: {}", node_text(node), why);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (const std::optional<Carried> from = carried(n, i)) sets_.leave_out(from->set, reason);
  }
}

}  // namespace berth::models
