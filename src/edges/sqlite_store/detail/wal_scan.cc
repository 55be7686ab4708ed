#include "edges/sqlite_store/detail/wal_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>

#include "edges/sqlite_store/detail/big_endian.h"

namespace berth::edges::detail {
namespace {

constexpr std::size_t kWalHeaderBytes = 32;
constexpr std::size_t kFrameHeaderBytes = 24;
constexpr std::uint32_t kWalMagic = 0x377f0682;  // the lowest bit: checksums over big-endian words
constexpr std::uint32_t kWalVersion = 3007000;
constexpr std::uint32_t kEarlierUsesMax = 1U << 20U;

/// The running checksum of a WAL.
struct Checksum {
  bool is_big_endian = false;
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  /// Requires: a multiple of 8 bytes.
  void add(std::span<const std::uint8_t> bytes) {
    const auto word = [&](std::size_t offset) {
      const std::uint32_t value = big_endian_32(bytes, offset);
      return is_big_endian ? value : __builtin_bswap32(value);
    };
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      first += word(i) + second;
      second += word(i + 4) + first;
    }
  }
  [[nodiscard]] bool is_stored_at(std::span<const std::uint8_t> bytes, std::size_t offset) const {
    return first == big_endian_32(bytes, offset) && second == big_endian_32(bytes, offset + 4);
  }
};

struct WalHeader {
  std::uint32_t page_bytes = 0;
  std::array<std::uint8_t, 8> salt{};
  Checksum checksum;
};

std::optional<WalHeader> parse_header(std::span<const std::uint8_t> bytes) {
  const std::uint32_t magic = big_endian_32(bytes, 0);
  WalHeader header;
  header.page_bytes = big_endian_32(bytes, 8);
  if ((magic & ~1U) != kWalMagic || big_endian_32(bytes, 4) != kWalVersion) return std::nullopt;
  if (!std::has_single_bit(header.page_bytes) || header.page_bytes < 512 || header.page_bytes > 65536)
    return std::nullopt;
  header.checksum.is_big_endian = (magic & 1U) != 0;
  header.checksum.add(bytes.first(24));
  if (!header.checksum.is_stored_at(bytes, 24)) return std::nullopt;
  std::copy_n(bytes.begin() + 16, header.salt.size(), header.salt.begin());
  return header;
}

/// The frames of a commit that has not ended yet.
struct OpenCommit {
  std::vector<std::uint32_t> pages;
  std::optional<std::vector<std::uint8_t>> first_page;
};

/// Whether a frame was written before the WAL began anew: the first salt counts these beginnings.
bool is_from_earlier_use(const WalHeader& header, std::span<const std::uint8_t> frame) {
  const std::uint32_t age = big_endian_32(header.salt, 0) - big_endian_32(frame, 8);
  return age >= 1 && age <= kEarlierUsesMax;
}

/// What stands behind the last commit, up to the first frame of an earlier use of the file.
StoreResult<std::uint64_t> torn_bytes(const RawFile& file, const WalHeader& header, std::uint64_t offset) {
  const std::uint64_t begin = offset;
  std::array<std::uint8_t, kFrameHeaderBytes> frame{};
  for (; offset + kFrameHeaderBytes <= file.size(); offset += kFrameHeaderBytes + header.page_bytes) {
    if (auto read = file.read(offset, frame); !read) return tl::unexpected(read.error());
    if (is_from_earlier_use(header, frame)) return offset - begin;
  }
  return file.size() > begin ? file.size() - begin : 0;
}

}  // namespace

StoreResult<WalScan> scan_wal(const RawFile& file) {
  WalScan scan;
  std::array<std::uint8_t, kWalHeaderBytes> bytes{};
  if (auto read = file.read(0, bytes); !read) return tl::unexpected(read.error());
  std::optional<WalHeader> header = parse_header(bytes);
  if (!header) {
    scan.torn_bytes = file.size();
    return scan;
  }
  std::vector<std::uint8_t> frame(kFrameHeaderBytes + header->page_bytes);
  const std::span<const std::uint8_t> page = std::span(frame).subspan(kFrameHeaderBytes);
  Checksum checksum = header->checksum;
  OpenCommit open;
  std::uint64_t committed_end = kWalHeaderBytes;
  for (std::uint64_t at = kWalHeaderBytes; at + frame.size() <= file.size(); at += frame.size()) {
    if (auto read = file.read(at, frame); !read) return tl::unexpected(read.error());
    const std::uint32_t number = big_endian_32(frame, 0);
    checksum.add(std::span(frame).first(8));
    checksum.add(page);
    const bool has_salt = std::equal(header->salt.begin(), header->salt.end(), frame.begin() + 8);
    if (number == 0 || !has_salt || !checksum.is_stored_at(frame, 16)) break;
    open.pages.push_back(number);
    if (number == 1) open.first_page.emplace(page.begin(), page.end());
    const std::uint32_t page_count = big_endian_32(frame, 4);
    if (page_count == 0) continue;
    scan.page_count = page_count;
    scan.pages.insert(open.pages.begin(), open.pages.end());
    if (open.first_page) scan.first_page = std::move(open.first_page);
    open = {};
    committed_end = at + frame.size();
  }
  const auto torn = torn_bytes(file, *header, committed_end);
  if (!torn) return tl::unexpected(torn.error());
  scan.torn_bytes = *torn;
  return scan;
}

}  // namespace berth::edges::detail
