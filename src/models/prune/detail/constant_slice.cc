#include "models/prune/detail/constant_slice.h"

#include <algorithm>

#include "base/core/ensure.h"

namespace berth::models {

std::vector<bool> kept_along(const ChannelAxis& at, const std::vector<bool>& kept) {
  std::vector<bool> along;
  for (std::int64_t o = 0; o < at.outer; ++o) {
    for (const bool stays : kept) along.insert(along.end(), static_cast<std::size_t>(at.inner), stays);
  }
  return along;
}

Constant sliced(const Constant& constant, const ChannelAxis& at, const std::vector<bool>& kept) {
  const std::vector<bool> along = kept_along(at, kept);
  ENSURE(at.axis < constant.dims.size() && constant.dims[at.axis] == static_cast<std::int64_t>(along.size()));
  ENSURE(element_bits(constant.type) % 8 == 0);
  const auto element = static_cast<std::size_t>(element_bits(constant.type)) / 8;
  std::size_t before = 1;
  std::size_t block = element;
  for (std::size_t i = 0; i < at.axis; ++i) before *= static_cast<std::size_t>(constant.dims[i]);
  for (std::size_t i = at.axis + 1; i < constant.dims.size(); ++i) block *= static_cast<std::size_t>(constant.dims[i]);

  Constant part{.type = constant.type, .dims = constant.dims};
  part.dims[at.axis] = static_cast<std::int64_t>(std::ranges::count(along, true));
  part.bytes.reserve(before * block * static_cast<std::size_t>(part.dims[at.axis]));
  for (std::size_t b = 0; b < before; ++b) {
    for (std::size_t i = 0; i < along.size(); ++i) {
      if (along[i]) part.bytes.append(constant.bytes, (b * along.size() + i) * block, block);
    }
  }
  return part;
}

}  // namespace berth::models
