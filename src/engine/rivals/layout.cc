#include "engine/rivals/layout.h"

#include <algorithm>

namespace berth::partition {

std::vector<Slice> slices_of(const Layout& layout, ServiceId service) {
  std::vector<Slice> slices;
  for (const Holding& holding : layout) {
    if (holding.role != Role::kInference) continue;
    if (std::ranges::binary_search(holding.services, service)) slices.push_back(holding.slice);
  }
  return slices;
}

}  // namespace berth::partition
