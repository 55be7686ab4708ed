#include "serving/service/figure_service.h"

#include "base/core/ensure.h"

namespace berth::serving {

std::string_view name_of(MemoryState state) {
  switch (state) {
    case MemoryState::kCold:
      return "cold";
    case MemoryState::kLoading:
      return "loading";
    case MemoryState::kResident:
      return "resident";
    case MemoryState::kLeaving:
      return "leaving";
    case MemoryState::kUnavailable:
      return "unavailable";
  }
  ENSURE(false);
  return "";
}

}  // namespace berth::serving
