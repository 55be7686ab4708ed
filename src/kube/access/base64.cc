#include "kube/access/base64.h"

#include <cstdint>

namespace berth::kube {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t group = 0;
  int digit_count = 0;
  int padding_count = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') {
      ++padding_count;
      group <<= 6U;
    } else {
      const std::size_t digit = kDigits.find(c);
      if (digit == std::string_view::npos || padding_count > 0) return std::nullopt;
      group = group << 6U | static_cast<std::uint32_t>(digit);
    }
    if (++digit_count < 4) continue;
    if (padding_count > 2) return std::nullopt;
    for (int i = 0; i < 3 - padding_count; ++i)
      bytes += static_cast<char>(group >> (16U - 8U * static_cast<unsigned>(i)) & 0xffU);
    group = 0;
    digit_count = 0;
  }
  if (digit_count != 0) return std::nullopt;
  return bytes;
}

}  // namespace berth::kube
