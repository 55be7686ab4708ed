/// What exists on a GPU, as its device reports it.
#pragma once

#include <vector>

#include "domain/values/slice.h"

namespace berth::world {

struct ObservedLayout {
  std::vector<Slice> slices;  ///< ascending
  /// Those of them on which nothing can run: an interrupted change left them.
  std::vector<Slice> orphans = {};
  /// Only foreign slices are observed: our own ones stay as they are known.
  bool is_of_others = false;
};

}  // namespace berth::world
