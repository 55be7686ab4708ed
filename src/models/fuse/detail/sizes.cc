#include "models/fuse/detail/sizes.h"

#include <algorithm>
#include <utility>

#include "models/fuse/detail/operators.h"

namespace berth::models {
namespace {

/// Shapes have few dimensions: longer tensors are no shapes.
constexpr std::size_t kTermsMax = 64;
/// How many nodes a dimension is followed up at once; what is known already does not count.
constexpr int kFollowMax = 500;

SizeTerm number(std::int64_t value) { return {.number = value}; }

std::int64_t count(const SizeTensor& tensor) { return std::ssize(tensor.terms); }

std::optional<SizeTerm> combined(const Node& node, const SizeTerm& left, const SizeTerm& right) {
  if (!left.number || !right.number) return SizeTerm();
  std::int64_t result = 0;
  bool is_wrong = false;
  if (node.op == "Add") is_wrong = __builtin_add_overflow(*left.number, *right.number, &result);
  if (node.op == "Sub") is_wrong = __builtin_sub_overflow(*left.number, *right.number, &result);
  if (node.op == "Mul") is_wrong = __builtin_mul_overflow(*left.number, *right.number, &result);
  if (node.op == "Div") {
    // Of negative numbers, versions of operators round in different ways.
    if (*left.number < 0 || *right.number <= 0) return std::nullopt;
    result = *left.number / *right.number;
  }
  return is_wrong ? std::nullopt : std::optional(number(result));
}

/// Start or end of a slice with a positive step, within [0, count].
std::int64_t clamped(std::int64_t place, std::int64_t count) {
  return std::clamp<std::int64_t>(place < 0 ? place + count : place, 0, count);
}

/// As a Reshape is given them: -1 for those that are not known.
std::optional<std::vector<std::int64_t>> reshape_dims(const std::optional<SizeTensor>& target) {
  if (!target) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (const SizeTerm& term : target->terms) dims.push_back(term.number.value_or(-1));
  return dims;
}

}  // namespace

std::optional<SizeTensor> SizeReader::of(const Node& node, std::size_t input) const {
  if (input >= node.inputs.size()) return std::nullopt;
  const auto found = known_.find(node.inputs[input]);
  if (found != known_.end()) return found->second;
  const Constant* constant = sweep_.constant(node, input);
  const auto values = int64_input(sweep_, node, input);
  if (constant == nullptr || !values || constant->dims.size() > 1 || values->size() > kTermsMax) return std::nullopt;
  SizeTensor tensor = {.terms = {}, .is_scalar = constant->dims.empty(), .type = constant->type};
  for (const std::int64_t value : *values) tensor.terms.push_back(number(value));
  return tensor;
}

std::optional<SizeTensor> SizeReader::read(const Node& node) {
  dims_.learn(node, is_op(node, "Reshape") ? reshape_dims(of(node, 1)) : std::nullopt);
  if (!node.domain.empty() || node.outputs.size() != 1) return std::nullopt;
  std::optional<SizeTensor> tensor = compute(node);
  if (!tensor || tensor->terms.size() > kTermsMax) return std::nullopt;
  known_.insert_or_assign(node.outputs.front(), *tensor);
  return tensor;
}

std::optional<SizeTensor> SizeReader::compute(const Node& node) const {
  if (node.op == "Shape" || node.op == "Size") return shape(node);
  if (node.op == "Gather") return gather(node);
  if (node.op == "Slice") return slice(node);
  if (node.op == "Concat") return concat(node);
  if (node.op == "Unsqueeze" || node.op == "Squeeze" || node.op == "Reshape") return reshaped(node);
  if (node.op == "Cast" || node.op == "Identity") return cast(node);
  if (node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div") return arithmetic(node);
  return std::nullopt;
}

std::optional<SizeTensor> SizeReader::shape(const Node& node) const {
  const auto dims = dims_.of(node.inputs.front());
  if (!dims) return std::nullopt;
  if (node.op == "Size") {
    const bool is_static = std::ranges::all_of(*dims, [](std::int64_t dim) { return dim >= 0; });
    return SizeTensor{.terms = {is_static ? number(count_of(*dims)) : SizeTerm()}, .is_scalar = true};
  }
  const auto rank = static_cast<std::int64_t>(dims->size());
  const std::int64_t first = clamped(attribute_or(node, "start", std::int64_t{0}), rank);
  const std::int64_t last = clamped(attribute_or(node, "end", rank), rank);
  SizeTensor tensor;
  for (std::int64_t axis = first; axis < last; ++axis) {
    tensor.terms.push_back(dimension(node.inputs.front(), axis));
  }
  return tensor;
}

SizeTerm SizeReader::dimension(const std::string& value, std::int64_t axis) const {
  const auto known = dimensions_.find({value, axis});
  if (known != dimensions_.end()) return known->second;
  if (depth_ >= kFollowMax) return {.value = value, .axis = axis};
  ++depth_;
  const SizeTerm term = follow(value, axis);
  --depth_;
  dimensions_.insert_or_assign({value, axis}, term);
  return term;
}

SizeTerm SizeReader::follow(const std::string& value, std::int64_t axis) const {
  const SizeTerm itself = {.value = value, .axis = axis};
  const auto dims = dims_.of(value);
  if (!dims || axis < 0 || axis >= std::ssize(*dims)) return itself;
  const std::int64_t size = (*dims)[static_cast<std::size_t>(axis)];
  if (size >= 0) return number(size);
  const std::optional<std::size_t> maker = sweep_.index().maker(value);
  if (!maker) return itself;
  const Node& node = sweep_.node(*maker);
  if (!node.domain.empty() || node.inputs.empty() || node.outputs.front() != value) return itself;
  const bool is_pairwise = node.op == "Add" || node.op == "Sub" || node.op == "Mul" || node.op == "Div";
  if (is_pairwise || node.op == "Pow") return broadcast(node, std::ssize(*dims) - axis).value_or(itself);
  return through(node, axis).value_or(itself);
}

/// The dimension of the node's output in terms of its first input. Nothing: it is another one.
std::optional<SizeTerm> SizeReader::through(const Node& node, std::int64_t axis) const {
  const std::string& input = node.inputs.front();
  if (is_elementwise(node) || node.op == "Softmax" || node.op == "LayerNormalization" || node.op == "Dropout" ||
      node.op == "BatchNormalization") {
    return dimension(input, axis);
  }
  if (node.op == "Transpose") {
    const auto order = attribute_or(node, "perm", std::vector<std::int64_t>());
    return axis < std::ssize(order) ? std::optional(dimension(input, order[static_cast<std::size_t>(axis)]))
                                    : std::nullopt;
  }
  if (node.op == "Reshape") {
    const std::optional<SizeTensor> target = of(node, 1);
    const bool is_copied = target && axis < count(*target) && attribute_or(node, "allowzero", std::int64_t{0}) == 0 &&
                           target->terms[static_cast<std::size_t>(axis)].number == 0;
    return is_copied ? std::optional(dimension(input, axis)) : std::nullopt;
  }
  if (node.op == "ReduceMean" || node.op == "ReduceSum" || node.op == "ReduceMax") {
    const auto axes = int64s_of(sweep_, node, "axes", 1);
    const auto dims = dims_.of(input);
    if (!axes || !dims || attribute_or(node, "keepdims", std::int64_t{1}) != 1) return std::nullopt;
    const bool is_reduced = std::ranges::any_of(
        *axes, [&](std::int64_t reduced) { return axis_from_front(reduced, std::ssize(*dims)) == axis; });
    return is_reduced || axes->empty() ? std::nullopt : std::optional(dimension(input, axis));
  }
  if (node.op == "MatMul") return through_product(node, axis);
  return std::nullopt;
}

/// The larger of two, one of which is 1, or either where they are the same.
std::optional<SizeTerm> SizeReader::broadcast(const Node& node, std::int64_t axis_from_back) const {
  std::optional<SizeTerm> common;
  for (const std::string& input : node.inputs) {
    const auto dims = dims_.of(input);
    if (!dims) return std::nullopt;
    const std::int64_t axis = std::ssize(*dims) - axis_from_back;
    if (axis < 0) continue;
    const SizeTerm term = dimension(input, axis);
    if (term.number == 1) continue;
    if (common && *common != term) return std::nullopt;
    common = term;
  }
  return common;
}

/// The last dimension is that of the second factor, the one before it of the first, the others of both.
std::optional<SizeTerm> SizeReader::through_product(const Node& node, std::int64_t axis) const {
  const auto left = dims_.of(node.inputs[0]);
  const auto right = dims_.of(node.inputs[1]);
  if (!left || !right || left->size() < 2 || right->size() < 2) return std::nullopt;
  const std::int64_t axis_from_back = std::max(std::ssize(*left), std::ssize(*right)) - axis;
  if (axis_from_back == 1) return dimension(node.inputs[1], std::ssize(*right) - 1);
  if (axis_from_back == 2) return dimension(node.inputs[0], std::ssize(*left) - 2);
  return broadcast(node, axis_from_back);
}

std::optional<SizeTensor> SizeReader::gather(const Node& node) const {
  const std::optional<SizeTensor> from = of(node, 0);
  const std::optional<SizeTensor> places = of(node, 1);
  if (!from || !places || from->is_scalar) return std::nullopt;
  SizeTensor tensor = {.terms = {}, .is_scalar = places->is_scalar, .type = from->type};
  for (const SizeTerm& place : places->terms) {
    const auto index = place.number ? axis_from_front(*place.number, count(*from)) : std::nullopt;
    if (!index) return std::nullopt;
    tensor.terms.push_back(from->terms[static_cast<std::size_t>(*index)]);
  }
  return tensor;
}

std::optional<SizeTensor> SizeReader::slice(const Node& node) const {
  const std::optional<SizeTensor> from = of(node, 0);
  const auto starts = int64_input(sweep_, node, 1);
  const auto ends = int64_input(sweep_, node, 2);
  if (!from || from->is_scalar || !starts || !ends || starts->size() != 1 || ends->size() != 1) return std::nullopt;
  if (node.inputs.size() > 4 && !node.inputs[4].empty() &&
      int64_input(sweep_, node, 4) != std::vector<std::int64_t>{1}) {
    return std::nullopt;
  }
  SizeTensor tensor = {.terms = {}, .type = from->type};
  const std::int64_t last = clamped(ends->front(), count(*from));
  for (std::int64_t i = clamped(starts->front(), count(*from)); i < last; ++i) {
    tensor.terms.push_back(from->terms[static_cast<std::size_t>(i)]);
  }
  return tensor;
}

std::optional<SizeTensor> SizeReader::concat(const Node& node) const {
  SizeTensor tensor;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::optional<SizeTensor> part = of(node, i);
    if (!part || part->is_scalar) return std::nullopt;
    tensor.type = part->type;
    tensor.terms.insert(tensor.terms.end(), part->terms.begin(), part->terms.end());
  }
  return tensor;
}

/// From no dimension to one, or back.
std::optional<SizeTensor> SizeReader::reshaped(const Node& node) const {
  std::optional<SizeTensor> tensor = of(node, 0);
  const auto dims = dims_.of(node.outputs.front());
  const std::optional<SizeTensor> target = node.op == "Reshape" ? of(node, 1) : std::nullopt;
  if (!tensor) return std::nullopt;
  if (node.op == "Unsqueeze") {
    if (!tensor->is_scalar) return std::nullopt;
    tensor->is_scalar = false;
    const auto axes = int64s_of(sweep_, node, "axes", 1);
    return axes && axes->size() == 1 ? tensor : std::nullopt;
  }
  if (node.op == "Squeeze") {
    if (tensor->is_scalar || tensor->terms.size() != 1) return std::nullopt;
    tensor->is_scalar = true;
    return tensor;
  }
  if (!target || target->terms.size() > 1) return std::nullopt;
  tensor->is_scalar = target->terms.empty();
  return tensor;
}

std::optional<SizeTensor> SizeReader::cast(const Node& node) const {
  std::optional<SizeTensor> tensor = of(node, 0);
  if (!tensor || node.op == "Identity") return tensor;
  tensor->type = static_cast<ElementType>(attribute_or(node, "to", std::int64_t{0}));
  const bool is_integer = tensor->type == ElementType::kInt64 || tensor->type == ElementType::kInt32;
  // Sizes that are not known are taken to fit: engines have no larger dimensions.
  const bool fits = std::ranges::all_of(tensor->terms, [](const SizeTerm& term) {
    return !term.number || (*term.number >= INT32_MIN && *term.number <= INT32_MAX);
  });
  return is_integer && fits ? tensor : std::nullopt;
}

std::optional<SizeTensor> SizeReader::arithmetic(const Node& node) const {
  const std::optional<SizeTensor> left = of(node, 0);
  const std::optional<SizeTensor> right = of(node, 1);
  if (!left || !right || left->type != right->type) return std::nullopt;
  const std::size_t size = std::max(left->terms.size(), right->terms.size());
  const auto fits = [&](const SizeTensor& tensor) { return tensor.terms.size() == size || tensor.terms.size() == 1; };
  if (!fits(*left) || !fits(*right) || left->terms.empty() || right->terms.empty()) return std::nullopt;
  SizeTensor tensor = {.terms = {}, .is_scalar = left->is_scalar && right->is_scalar, .type = left->type};
  for (std::size_t i = 0; i < size; ++i) {
    const std::optional<SizeTerm> term =
        combined(node, left->terms[left->terms.size() == 1 ? 0 : i], right->terms[right->terms.size() == 1 ? 0 : i]);
    if (!term) return std::nullopt;
    tensor.terms.push_back(*term);
  }
  return tensor;
}

}  // namespace berth::models
