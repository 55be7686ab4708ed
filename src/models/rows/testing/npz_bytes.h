// Files of NumPy, written byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::testing {

/// So many bytes of the number, the lowest first.
inline std::string little_endian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 0xFFU);
  return text;
}

/// An array with this header, a dictionary of Python, in version `version` of the format.
inline std::string npy_of(std::string_view dictionary, std::string_view elements, int version = 1) {
  std::string header(dictionary);
  const std::size_t size_bytes = version == 1 ? 2 : 4;
  while ((8 + size_bytes + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  return "\x93NUMPY" + little_endian(static_cast<std::uint64_t>(version), 1) + std::string(1, '\0') +
         little_endian(header.size(), size_bytes) + header + std::string(elements);
}

/// Such as npy_of("<f4", "(2,)", ..).
inline std::string npy_of(std::string_view descr, std::string_view shape, std::string_view elements) {
  return npy_of(
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + std::string(shape) + ", }",
      elements);
}

inline std::uint32_t crc32_of(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

/// An entry of a zip archive, and what its headers say.
struct ZipEntry {
  std::string name = {};
  std::string packed = {};
  std::uint16_t method = 0;  ///< 0: stored, 8: deflated
  std::uint32_t crc32 = 0;
  std::uint32_t unpacked = 0;  ///< bytes
};

inline ZipEntry stored(std::string_view name, std::string_view bytes) {
  return {.name = std::string(name),
          .packed = std::string(bytes),
          .crc32 = crc32_of(bytes),
          .unpacked = static_cast<std::uint32_t>(bytes.size())};
}

/// As a stream of RFC 1951 with one block that is not compressed. Requires: below 64 KiB.
inline ZipEntry deflated(std::string_view name, std::string_view bytes) {
  ZipEntry entry = stored(name, bytes);
  entry.method = 8;
  entry.packed = "\x01" + little_endian(bytes.size(), 2) + little_endian(~bytes.size(), 2) + std::string(bytes);
  return entry;
}

inline std::string zip_of(const std::vector<ZipEntry>& entries) {
  std::string files;
  std::string folder;
  for (const ZipEntry& entry : entries) {
    const std::string common = little_endian(20, 2) + little_endian(0, 2) + little_endian(entry.method, 2) +
                               little_endian(0x5A210000, 4) + little_endian(entry.crc32, 4) +
                               little_endian(entry.packed.size(), 4) + little_endian(entry.unpacked, 4) +
                               little_endian(entry.name.size(), 2) + little_endian(0, 2);
    folder += little_endian(0x02014B50, 4) + little_endian(20, 2) + common + std::string(10, '\0') +
              little_endian(files.size(), 4) + entry.name;
    files += little_endian(0x04034B50, 4) + common + entry.name + entry.packed;
  }
  return files + folder + little_endian(0x06054B50, 4) + little_endian(0, 4) + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(folder.size(), 4) + little_endian(files.size(), 4) +
         little_endian(0, 2);
}

/// The archive that NumPy's savez makes of arrays: pairs of a name and the bytes of its .npy.
inline std::string npz_of(const std::vector<std::pair<std::string, std::string>>& arrays) {
  std::vector<ZipEntry> entries;
  for (const auto& [name, bytes] : arrays) entries.push_back(stored(name + ".npy", bytes));
  return zip_of(entries);
}

}  // namespace berth::testing
