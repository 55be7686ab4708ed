#include "models/count/one_row.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

bool has_rows(const Graph& graph, const ValueInfo& input) {
  return !graph.initializers.contains(input.name) && input.shape && !input.shape->empty();
}

/// The names of first dimensions that are free.
std::set<std::string> row_symbols(const Graph& graph) {
  std::set<std::string> symbols;
  for (const ValueInfo& input : graph.inputs) {
    if (has_rows(graph, input) && !input.shape->front().size) symbols.insert(input.shape->front().symbol);
  }
  symbols.erase("");
  return symbols;
}

void set_one(Dimension& size) { size = {.size = 1}; }

void set_symbols(ValueInfo& info, const std::set<std::string>& symbols) {
  if (!info.shape) return;
  for (Dimension& size : *info.shape) {
    if (size.size || !symbols.contains(size.symbol)) continue;
    set_one(size);
    info.proto.clear();  // it says otherwise
  }
}

std::optional<std::int64_t> divided(std::optional<std::int64_t> count, std::int64_t rows) {
  if (!count) return count;
  return *count / rows + (*count % rows * 2 >= rows ? 1 : 0);
}

}  // namespace

std::int64_t fixed_rows_of(const Model& model) {
  std::set<std::int64_t> sizes;
  for (const ValueInfo& input : model.graph.inputs) {
    const bool is_weight = model.graph.initializers.contains(input.name);
    if (!is_weight && !input.shape) return 0;
    if (!has_rows(model.graph, input)) continue;
    const auto& first = input.shape->front().size;
    if (!first) return 0;
    sizes.insert(*first);
  }
  if (sizes.empty()) return 1;
  return sizes.size() == 1 ? std::max<std::int64_t>(*sizes.begin(), 1) : 1;
}

Model for_one_row(const Model& model) {
  Model one = model;
  const std::set<std::string> symbols = row_symbols(model.graph);
  for (ValueInfo& input : one.graph.inputs) {
    if (!has_rows(one.graph, input) || input.shape->front().size) continue;
    set_one(input.shape->front());
    input.proto.clear();
  }
  for (auto* infos : {&one.graph.inputs, &one.graph.values, &one.graph.outputs}) {
    for (ValueInfo& info : *infos) set_symbols(info, symbols);
  }
  return one;
}

ModelCount per_row(ModelCount count, std::int64_t rows) {
  ENSURE(rows > 0);
  count.flops = divided(count.flops, rows);
  count.activation_bytes = divided(count.activation_bytes, rows);
  return count;
}

}  // namespace berth::models
