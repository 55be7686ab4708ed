#include "tier/estimate/detail/forest_file.h"

#include <cstdint>

namespace berth::tier {
namespace {

constexpr std::string_view kMagic = "berth tier forest ";
constexpr std::string_view kVersion = "1 ";
constexpr std::size_t kChecksumDigits = 16;

/// FNV-1a with 64 bits (Fowler, Noll and Vo).
std::string checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(hash >> shift) & 15U];
  return text;
}

}  // namespace

std::string forest_file(std::string_view bytes) {
  std::string content = std::string(kMagic) + std::string(kVersion) + checksum(bytes) + "\n";
  return content.append(bytes);
}

Result<std::string_view> forest_file_bytes(std::string_view content, std::string_view file) {
  const std::string at = std::string(file) + ": ";
  if (!content.starts_with(kMagic)) {
    return invalid(at + "wanted a forest that `berth tier train` wrote, found another file");
  }
  content.remove_prefix(kMagic.size());
  if (!content.starts_with(kVersion)) return invalid(at + "wanted a forest of format 1, found another format");
  content.remove_prefix(kVersion.size());
  if (content.size() <= kChecksumDigits || content[kChecksumDigits] != '\n') {
    return invalid(at + "wanted a forest with a checksum of 16 digits, found none: the file is damaged");
  }
  const std::string_view stated = content.substr(0, kChecksumDigits);
  const std::string_view bytes = content.substr(kChecksumDigits + 1);
  if (const std::string found = checksum(bytes); found != stated) {
    return invalid(at + "wanted content of checksum " + std::string(stated) + ", found " + found +
                   ": the file is damaged");
  }
  return bytes;
}

}  // namespace berth::tier
