#include "models/generate/detail/graph_writer.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace berth::models {
namespace {

constexpr std::int64_t kGraphFormatVersion = 8;
/// From version 20 of the operators on the format is newer.
constexpr std::int64_t kLaterFormatVersion = 10;

ValueInfo value_info(const std::string& name, ElementType type, const Dims& dims) {
  std::vector<Dimension> shape;
  for (const std::int64_t dim : dims) {
    if (dim >= 0) {
      shape.push_back({.size = dim});
    } else {
      shape.push_back({.symbol = shape.empty() ? "batch" : "length"});
    }
  }
  return {.name = name, .type = type, .shape = std::move(shape)};
}

}  // namespace

std::string GraphWriter::input(const std::string& name, ElementType type, const Dims& dims) {
  graph_.inputs.push_back(value_info(name, type, dims));
  return name;
}

void GraphWriter::output(const std::string& name, const Dims& dims) {
  graph_.outputs.push_back(value_info(name, ElementType::kFloat, dims));
}

std::string GraphWriter::add(const std::string& op, const Names& inputs, Attributes attributes,
                             const std::string& name) {
  std::string output = name.empty() ? new_name(op) : name;
  graph_.nodes.push_back(
      {.name = "make_" + output, .op = op, .inputs = inputs, .outputs = {output}, .attributes = std::move(attributes)});
  return output;
}

std::string GraphWriter::constant(ConstantPtr value) { return add("Constant", {}, {{"value", std::move(value)}}); }

std::string GraphWriter::weight(ConstantPtr value) {
  std::string name = new_name("weight");
  graph_.initializers.emplace(name, std::move(value));
  return name;
}

std::string GraphWriter::drawn(const Dims& dims, double deviation) {
  std::vector<float> values(static_cast<std::size_t>(count_of(dims)));
  for (float& value : values) value = static_cast<float>(deviation * normal());
  return weight(floats(dims, values));
}

std::string GraphWriter::drawn_between(const Dims& dims, double least, double most) {
  std::vector<float> values(static_cast<std::size_t>(count_of(dims)));
  for (float& value : values) value = static_cast<float>(least + (most - least) * rng_.unit());
  return weight(floats(dims, values));
}

Model GraphWriter::finish(std::string_view name, std::int64_t opset) {
  graph_.name = name;
  return {.ir_version = opset < 20 ? kGraphFormatVersion : kLaterFormatVersion,
          .opsets = {{"", opset}},
          .graph = std::move(graph_)};
}

std::string GraphWriter::new_name(std::string_view stem) {
  return std::string(stem) + "_" + std::to_string(name_count_++);
}

/// Box and Muller 1958.
double GraphWriter::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - rng_.unit()));
  return radius * std::cos(2 * std::numbers::pi * rng_.unit());
}

}  // namespace berth::models
