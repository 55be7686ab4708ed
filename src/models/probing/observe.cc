#include "models/probing/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"
#include "models/graph/tensors.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

/// The model with these outputs, of which nothing is said but their names where they were none before.
Model with_outputs(const Model& model, std::span<const std::string> names) {
  Model changed = model;
  changed.graph.outputs.clear();
  for (const std::string& name : names) {
    const auto known = std::ranges::find(model.graph.outputs, name, &ValueInfo::name);
    changed.graph.outputs.push_back(known != model.graph.outputs.end() ? *known : ValueInfo{.name = name});
  }
  return changed;
}

Result<std::unique_ptr<ProbedModel>> load_written(ModelProbe& probe, const Model& model,
                                                  EngineOptimisation optimisation) {
  const auto bytes = write_model(model);
  if (!bytes) return pass_on(bytes.error());
  return probe.load(*bytes, optimisation);
}

/// All outputs of the graph and of its nodes, in that order.
std::vector<std::string> made_values(const Graph& graph) {
  std::vector<std::string> names;
  std::set<std::string_view> seen = {""};
  for (const ValueInfo& output : graph.outputs) {
    if (seen.insert(output.name).second) names.push_back(output.name);
  }
  for (const Node& node : graph.nodes) {
    for (const std::string& output : node.outputs) {
      if (seen.insert(output).second) names.push_back(output);
    }
  }
  return names;
}

/// The names of values that the file, or a node Constant, says are scalars: the engine does not tell them from values
/// of unknown rank.
std::set<std::string_view> scalars_of(const Graph& graph) {
  std::set<std::string_view> scalars;
  for (const auto* infos : {&graph.inputs, &graph.values, &graph.outputs}) {
    for (const ValueInfo& info : *infos) {
      if (info.shape && info.shape->empty()) scalars.insert(info.name);
    }
  }
  for (const Node& node : graph.nodes) {
    if (!is_op(node, "Constant") || node.outputs.empty()) continue;
    const auto value = node.attributes.find("value");
    const bool is_scalar =
        value == node.attributes.end()
            ? node.attributes.contains("value_float") || node.attributes.contains("value_int")
            : std::holds_alternative<ConstantPtr>(value->second) && std::get<ConstantPtr>(value->second)->dims.empty();
    if (is_scalar) scalars.insert(node.outputs[0]);
  }
  return scalars;
}

std::size_t bytes_in(const Tensor& tensor) {
  std::size_t bytes = tensor.bytes.size();
  for (const std::string& text : tensor.texts) bytes += text.size() + sizeof(std::string);
  return bytes;
}

/// Runs a model for some of its values.
class Observer {
 public:
  Observer(ModelProbe& probe, const Model& model, const RowSet& rows) : probe_(probe), model_(model), rows_(rows) {}

  /// From now on these values.
  Result<void> load(std::span<const std::string> values) {
    values_ = values;
    loaded_ = nullptr;  // before the next one takes memory
    auto loaded = load_written(probe_, with_outputs(model_, values), EngineOptimisation::kBasic);
    if (!loaded) return pass_on(loaded.error());
    loaded_ = std::move(*loaded);
    return {};
  }
  [[nodiscard]] Result<std::vector<Tensor>> run(std::size_t first, std::size_t size) {
    return loaded_->run(batch_of(rows_, first, size), values_);
  }
  [[nodiscard]] std::optional<std::size_t> fixed() const { return fixed_rows(loaded_->inputs(), rows_); }

 private:
  ModelProbe& probe_;
  const Model& model_;
  const RowSet& rows_;
  std::span<const std::string> values_;
  std::unique_ptr<ProbedModel> loaded_;
};

struct ValueSizes {
  std::vector<std::size_t> bytes;  ///< of each value in a batch
  std::size_t batch_rows = 0;
};

/// Measured by runs of as few rows as can be, for some values at a time: as many as are likely to fit into half of
/// `bytes_max`, as long as nothing is known of them.
Result<ValueSizes> measure_sizes(Observer& observer, const RowSet& rows, const ObserveOptions& options) {
  constexpr std::size_t kFirstCount = 8;
  ValueSizes sizes{.bytes = {}, .batch_rows = std::min(options.batch_rows, rows.count)};
  std::size_t largest = 1;
  for (std::size_t count = kFirstCount; sizes.bytes.size() < options.values.size();) {
    const auto left = std::span(options.values).subspan(sizes.bytes.size());
    const auto group = left.first(std::min(count, left.size()));
    if (auto loaded = observer.load(group); !loaded) return pass_on(loaded.error());
    const auto fixed = observer.fixed();
    if (fixed) sizes.batch_rows = *fixed;
    const auto values = observer.run(0, fixed.value_or(1));
    if (!values) return pass_on(values.error());
    for (const Tensor& value : *values) {
      sizes.bytes.push_back(bytes_in(value) * (fixed ? 1 : sizes.batch_rows));
      largest = std::max(largest, bytes_in(value));
    }
    count = std::clamp<std::size_t>(options.bytes_max / 2 / largest, 1, count * 4);
  }
  return sizes;
}

/// How many of the values from `first` on fit into one run; at least one.
std::size_t count_that_fit(const ValueSizes& sizes, std::size_t first, std::size_t bytes_max) {
  std::size_t bytes = sizes.bytes[first];
  std::size_t end = first + 1;
  while (end < sizes.bytes.size() && bytes + sizes.bytes[end] <= bytes_max) bytes += sizes.bytes[end++];
  return end - first;
}

}  // namespace

Result<ValueShapes> value_shapes(ModelProbe& probe, const Model& model) {
  const std::vector<std::string> values = made_values(model.graph);
  const auto loaded = load_written(probe, with_outputs(model, values), EngineOptimisation::kNone);
  if (!loaded) return pass_on(loaded.error());
  const std::set<std::string_view> scalars = scalars_of(model.graph);
  ValueShapes shapes;
  for (const auto& [name, constant] : model.graph.initializers) {
    shapes[name] = {.type = constant->type, .dims = constant->dims};
  }
  for (const auto signatures : {(*loaded)->inputs(), (*loaded)->outputs()}) {
    for (const TensorSignature& signature : signatures) {
      ValueShape shape{.type = element_type_of(signature.type)};
      if (!signature.shape.empty() || scalars.contains(signature.name)) shape.dims = signature.shape;
      shapes.emplace(signature.name, std::move(shape));
    }
  }
  return shapes;
}

Result<ValueShapes> shapes_seen(ModelProbe& probe, const Model& model, const RowSet& rows) {
  auto shapes = value_shapes(probe, model);
  if (!shapes) return shapes;
  ObserveOptions options;
  for (const auto& [name, shape] : *shapes) {
    if (!shape.dims && shape.type != ElementType::kUndefined) options.values.push_back(name);
  }
  const RowSet first = select_rows(rows, std::array<std::size_t, 1>{0});
  const auto seen = observe(probe, model, first, options, [&](std::size_t, std::span<const Tensor> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      ValueShape& shape = (*shapes)[values[i].name];
      shape.dims.emplace(values[i].shape.size(), -1);
    }
    return Result<void>();
  });
  if (!seen) return pass_on(seen.error());
  return shapes;
}

Result<std::vector<ConstantPtr>> evaluate(ModelProbe& probe, const Model& model) {
  const auto loaded = load_written(probe, model, EngineOptimisation::kNone);
  if (!loaded) return pass_on(loaded.error());
  std::vector<std::string> wanted;
  for (const ValueInfo& output : model.graph.outputs) {
    const auto outputs = (*loaded)->outputs();
    if (std::ranges::find(outputs, output.name, &TensorSignature::name) == outputs.end()) {
      return invalid(fmt::format("{}: wanted a tensor of a known type, found another value", output.name));
    }
    wanted.push_back(output.name);
  }
  auto outputs = (*loaded)->run({}, wanted);
  if (!outputs) return pass_on(outputs.error());
  std::vector<ConstantPtr> constants;
  for (Tensor& output : *outputs) constants.push_back(share(constant_of(std::move(output))));
  return constants;
}

Result<void> observe(ModelProbe& probe, const Model& model, const RowSet& rows, const ObserveOptions& options,
                     const Visit& visit) {
  ENSURE(rows.count > 0 && options.batch_rows > 0);
  Observer observer(probe, model, rows);
  const auto sizes = measure_sizes(observer, rows, options);
  if (!sizes) return pass_on(sizes.error());
  for (std::size_t first = 0; first < options.values.size();) {
    const auto group = std::span(options.values).subspan(first, count_that_fit(*sizes, first, options.bytes_max));
    if (auto loaded = observer.load(group); !loaded) return pass_on(loaded.error());
    const bool is_filled_up = observer.fixed().has_value();
    for (std::size_t row = 0; row < rows.count; row += sizes->batch_rows) {
      const std::size_t left = std::min(sizes->batch_rows, rows.count - row);
      const auto values = observer.run(row, is_filled_up ? sizes->batch_rows : left);
      if (!values) return pass_on(values.error());
      if (auto seen = visit(row, *values); !seen) return seen;
    }
    first += group.size();
  }
  return {};
}

}  // namespace berth::models
