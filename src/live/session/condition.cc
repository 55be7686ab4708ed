#include "live/session/condition.h"

namespace berth::live {

std::string_view word(ConditionStatus status) {
  constexpr std::string_view kWords[] = {"True", "False", "Unknown"};
  return kWords[static_cast<std::size_t>(status)];
}

std::string_view word(ConditionType type) {
  constexpr std::string_view kWords[kConditionTypes] = {"Placed", "Serving", "FloorMet", "InTime"};
  return kWords[static_cast<std::size_t>(type)];
}

}  // namespace berth::live
