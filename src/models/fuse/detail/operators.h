/// What is known of standard operators.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "models/fuse/detail/sweep.h"
#include "models/graph/graph.h"

namespace berth::models {

/// Whether equal inputs give equal outputs: a standard operator (those for classical machine learning included) that
/// draws nothing at random and has no graphs inside.
[[nodiscard]] bool is_deterministic(const Node& node);

/// Whether the operator changes each element for itself, by that element alone: "Relu", "Cast".
[[nodiscard]] bool is_elementwise(const Node& node);

/// The axis as a number from 0 on. Nothing: it is not in [-rank, rank).
[[nodiscard]] std::optional<std::int64_t> axis_from_front(std::int64_t axis, std::int64_t rank);

/// Attribute `name` or, in later versions of the operator, input `input`: such as the axes of Squeeze. Nothing: neither
/// is there, or the input is not constant.
[[nodiscard]] std::optional<std::vector<std::int64_t>> int64s_of(const Sweep& sweep, const Node& node,
                                                                 std::string_view name, std::size_t input);

/// The integers in the constant that is the input; int32 ones too. Nothing: it is not constant, or no such integers.
[[nodiscard]] std::optional<std::vector<std::int64_t>> int64_input(const Sweep& sweep, const Node& node,
                                                                   std::size_t input);

/// Whether `constant`, combined element by element with a value of `rank` dimensions `dims`, gives the dimensions of
/// that value. `dims` nothing: not known.
[[nodiscard]] bool keeps_dims(const Constant& constant, const std::optional<std::vector<std::int64_t>>& dims);

/// The one number of a constant with one element. Nothing: not constant, several elements, no number.
[[nodiscard]] std::optional<double> scalar_input(const Sweep& sweep, const Node& node, std::size_t input);

}  // namespace berth::models
