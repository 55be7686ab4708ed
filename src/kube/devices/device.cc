#include "kube/devices/device.h"

#include <string_view>

namespace berth::kube {

bool tolerates(const Toleration& toleration, std::string_view key, std::string_view value, std::string_view effect) {
  if (!toleration.effect.empty() && toleration.effect != effect) return false;
  if (toleration.key.empty()) return toleration.is_any_value;
  return toleration.key == key && (toleration.is_any_value || toleration.value == value);
}

}  // namespace berth::kube
