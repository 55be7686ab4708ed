/// Operations and bytes of single nodes and values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "models/graph/graph.h"
#include "models/graph/value_shapes.h"

namespace berth::models::detail {

/// Multiply-adds of a node; 0 for operators that are not counted. Nothing: it is counted, and a shape that it takes is
/// not known.
[[nodiscard]] std::optional<std::int64_t> multiply_adds(const Node& node, const ValueShapes& shapes);

/// Nothing: a shape or a size that is not known, or texts.
[[nodiscard]] std::optional<std::int64_t> bytes_of_value(const std::string& name, const ValueShapes& shapes);

}  // namespace berth::models::detail
