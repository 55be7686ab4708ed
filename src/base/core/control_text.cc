#include "base/core/control_text.h"

namespace berth {

std::size_t control_size(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7F) return 1;
  const bool is_c1 = byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
  return is_c1 ? 2 : 0;
}

bool has_control(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (control_size(text, at) > 0) return true;
  }
  return false;
}

}  // namespace berth
