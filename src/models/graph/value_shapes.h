/// What the engine's own inference says of the values of a model.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/graph/constant.h"

namespace berth::models {

struct ValueShape {
  ElementType type = ElementType::kUndefined;  ///< kUndefined: not known
  /// -1: any size. Nothing: the number of dimensions is not known.
  std::optional<std::vector<std::int64_t>> dims = std::nullopt;

  friend bool operator==(const ValueShape&, const ValueShape&) = default;
};

/// By the name of the value. A name that is missing: not known.
using ValueShapes = std::map<std::string, ValueShape, std::less<>>;

}  // namespace berth::models
