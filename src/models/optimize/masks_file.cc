#include "models/optimize/masks_file.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::models {
namespace {

/// Numbers of the zip format (APPNOTE.TXT 4.3), little-endian.
void add_number(std::string& bytes, std::uint32_t number, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8U * static_cast<unsigned>(i)) & 0xffU);
}
void add_u16(std::string& bytes, std::uint32_t number) { add_number(bytes, number, 2); }
void add_u32(std::string& bytes, std::uint32_t number) { add_number(bytes, number, 4); }

std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ (0xedb88320U & (0U - (crc & 1U)));
  }
  return ~crc;
}

/// Version 1.0 of NumPy's format: its header ends at a multiple of 64.
std::string npy_of(const std::vector<bool>& values) {
  std::string header = fmt::format("{{'descr': '|b1', 'fortran_order': False, 'shape': ({},), }}", values.size());
  constexpr std::size_t kPrefix = 10;
  constexpr std::size_t kAlignment = 64;
  while ((kPrefix + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  add_u16(bytes, static_cast<std::uint32_t>(header.size()));
  bytes += header;
  for (const bool value : values) bytes += static_cast<char>(value ? 1 : 0);
  return bytes;
}

/// What both headers of a file in the archive hold: it is stored as it is, at the first moment that zip knows.
void add_entry_fields(std::string& bytes, std::string_view name, std::string_view content) {
  constexpr std::uint32_t kVersion = 20;
  constexpr std::uint32_t kUtf8 = 1U << 11U;
  constexpr std::uint32_t kFirstDay = 1U << 5U | 1U;
  add_u16(bytes, kVersion);
  add_u16(bytes, kUtf8);
  add_u16(bytes, 0);  // stored
  add_u16(bytes, 0);
  add_u16(bytes, kFirstDay);
  add_u32(bytes, crc32_of(content));
  add_u32(bytes, static_cast<std::uint32_t>(content.size()));
  add_u32(bytes, static_cast<std::uint32_t>(content.size()));
  add_u16(bytes, static_cast<std::uint32_t>(name.size()));
  add_u16(bytes, 0);
}

}  // namespace

std::string write_masks(std::span<const ChannelMask> masks) {
  constexpr std::uint32_t kLocalHeader = 0x04034b50;
  constexpr std::uint32_t kCentralHeader = 0x02014b50;
  constexpr std::uint32_t kEnd = 0x06054b50;
  std::string archive;
  std::string central;
  for (const ChannelMask& mask : masks) {
    const std::string name = fmt::format("{}:{}.npy", mask.weight, mask.axis);
    const std::string content = npy_of(mask.kept);
    add_u32(central, kCentralHeader);
    add_u16(central, 20);
    add_entry_fields(central, name, content);
    add_u16(central, 0);  // no comment
    add_u16(central, 0);  // the first disk
    add_u16(central, 0);
    add_u32(central, 0);
    add_u32(central, static_cast<std::uint32_t>(archive.size()));
    central += name;
    add_u32(archive, kLocalHeader);
    add_entry_fields(archive, name, content);
    archive += name + content;
  }
  const auto central_at = static_cast<std::uint32_t>(archive.size());
  archive += central;
  add_u32(archive, kEnd);
  add_u32(archive, 0);
  add_u16(archive, static_cast<std::uint32_t>(masks.size()));
  add_u16(archive, static_cast<std::uint32_t>(masks.size()));
  add_u32(archive, static_cast<std::uint32_t>(central.size()));
  add_u32(archive, central_at);
  add_u16(archive, 0);
  return archive;
}

}  // namespace berth::models
