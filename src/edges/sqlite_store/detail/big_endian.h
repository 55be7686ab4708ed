/// Numbers in SQLite's files: highest byte first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace berth::edges::detail {

[[nodiscard]] inline std::uint32_t big_endian_32(std::span<const std::uint8_t> bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (const std::uint8_t byte : bytes.subspan(offset, 4)) value = value << 8U | byte;
  return value;
}

[[nodiscard]] inline std::uint32_t big_endian_16(std::span<const std::uint8_t> bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(bytes[offset] << 8U) | bytes[offset + 1];
}

}  // namespace berth::edges::detail
