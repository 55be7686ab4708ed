#include "surface/cli/shared/printable.h"

namespace berth::cli {

bool is_c1_control(std::string_view text, std::size_t at) {
  return text[at] == '\xC2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c1 = is_c1_control(text, i);
    result += byte < 0x20 || byte == 0x7F || is_c1 ? '?' : text[i];
    if (is_c1) ++i;
  }
  return result;
}

}  // namespace berth::cli
