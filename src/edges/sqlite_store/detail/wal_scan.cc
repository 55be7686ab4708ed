#include "edges/sqlite_store/detail/wal_scan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
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
constexpr std::size_t kSaltBytes = 8;
constexpr std::size_t kPageBytes = 4096;  // of every journal: tables.cc

/// The running checksum of a WAL.
struct Checksum {
  bool is_big_endian = false;
  std::uint32_t first = 0;
  std::uint32_t second = 0;

  /// The checksum stored in the frame.
  [[nodiscard]] static Checksum stored_in(std::span<const std::uint8_t> frame, bool is_big_endian) {
    return {.is_big_endian = is_big_endian, .first = big_endian_32(frame, 16), .second = big_endian_32(frame, 20)};
  }
  /// The checksum of the frame that follows the one with this checksum.
  [[nodiscard]] Checksum after(std::span<const std::uint8_t> frame) const {
    Checksum next = *this;
    next.add(frame.first(8));
    next.add(frame.subspan(kFrameHeaderBytes));
    return next;
  }
  /// Requires: the number of bytes is a multiple of 8.
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
  std::array<std::uint8_t, kSaltBytes> salt{};
  Checksum checksum;
};

bool has_salt(std::span<const std::uint8_t> frame, std::span<const std::uint8_t> salt) {
  return std::ranges::equal(frame.subspan(8, kSaltBytes), salt);
}

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

/// Whether a frame was written before the last restart of the WAL: the first salt counts restarts.
bool is_from_earlier_use(const WalHeader& header, std::span<const std::uint8_t> frame) {
  const std::uint32_t age = big_endian_32(header.salt, 0) - big_endian_32(frame, 8);
  return age >= 1 && age <= kEarlierUsesMax;
}

/// The bytes after the last commit, up to the first frame of an earlier use of the file.
StoreResult<std::uint64_t> torn_bytes(const RawFile& file, const WalHeader& header, std::uint64_t offset) {
  const std::uint64_t begin = offset;
  std::array<std::uint8_t, kFrameHeaderBytes> frame{};
  for (; offset + kFrameHeaderBytes <= file.size(); offset += kFrameHeaderBytes + header.page_bytes) {
    if (auto read = file.read(offset, frame); !read) return tl::unexpected(read.error());
    if (is_from_earlier_use(header, frame)) return offset - begin;
  }
  return file.size() > begin ? file.size() - begin : 0;
}

/// Whether the frames from a broken one on prove that a commit is damaged, and not just a write interrupted: one of
/// them continues where a commit ended, so that commit was complete before. Leftovers of a refused or interrupted
/// commit never continue after its end, as the next commit overwrote them. `checksum` is the one that the broken frame
/// should have.
StoreResult<bool> is_commit_broken(const RawFile& file, const WalHeader& header, std::uint64_t at,
                                   const Checksum& checksum) {
  std::vector<std::uint8_t> frame(kFrameHeaderBytes + header.page_bytes);
  std::vector<Checksum> before;  // possible ones of the frame before: the damage may be in the checksum itself
  bool is_behind_commit = false;
  for (; at + frame.size() <= file.size(); at += frame.size()) {
    if (auto read = file.read(at, frame); !read) return tl::unexpected(read.error());
    const auto precedes = [&](const Checksum& each) { return each.after(frame).is_stored_at(frame, 16); };
    if (is_behind_commit && has_salt(frame, header.salt) && std::ranges::any_of(before, precedes)) return true;
    before = before.empty() ? std::vector{checksum} : std::vector<Checksum>();
    before.push_back(Checksum::stored_in(frame, header.checksum.is_big_endian));
    is_behind_commit = big_endian_32(frame, 4) != 0;
  }
  return false;
}

/// Whether the header is unchanged: another process may have restarted the WAL since it was read.
StoreResult<bool> has_header(const RawFile& file, std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, kWalHeaderBytes> now{};
  if (auto read = file.read(0, now); !read) return tl::unexpected(read.error());
  return std::ranges::equal(now, bytes);
}

/// See `WalScan::hidden_pages`: taken from the first run of consecutive frames, up to the end of their last commit.
StoreResult<std::map<std::uint32_t, std::uint64_t>> hidden_pages(const RawFile& file) {
  constexpr bool kIsBigEndian = std::endian::native == std::endian::big;  // as SQLite writes checksums
  std::map<std::uint32_t, std::uint64_t> pages;
  std::map<std::uint32_t, std::uint64_t> open;
  std::vector<std::uint8_t> frame(kFrameHeaderBytes + kPageBytes);
  std::vector<std::uint8_t> before;
  bool has_begun = false;
  std::uint32_t page_count = 0;
  for (std::uint64_t at = kWalHeaderBytes; at + frame.size() <= file.size(); at += frame.size()) {
    if (auto read = file.read(at, frame); !read) return tl::unexpected(read.error());
    const bool follows = !before.empty() && has_salt(frame, std::span(before).subspan(8, kSaltBytes)) &&
                         Checksum::stored_in(before, kIsBigEndian).after(frame).is_stored_at(frame, 16);
    if (!follows) {
      if (has_begun) break;
      pages.clear();
      open.clear();
    }
    has_begun = has_begun || follows;
    open.insert_or_assign(big_endian_32(frame, 0), at + kFrameHeaderBytes);
    if (big_endian_32(frame, 4) != 0) {
      page_count = big_endian_32(frame, 4);
      for (const auto& [page, offset] : std::exchange(open, {})) pages.insert_or_assign(page, offset);
    }
    before = frame;
  }
  if (!has_begun) return std::map<std::uint32_t, std::uint64_t>();
  pages.erase(pages.upper_bound(page_count), pages.end());
  return pages;
}

}  // namespace

StoreResult<WalScan> scan_wal(const RawFile& file) {
  WalScan scan;
  std::array<std::uint8_t, kWalHeaderBytes> bytes{};
  if (auto read = file.read(0, bytes); !read) return tl::unexpected(read.error());
  std::optional<WalHeader> header = parse_header(bytes);
  if (!header) {
    scan.torn_bytes = file.size();
    auto hidden = hidden_pages(file);
    if (!hidden) return tl::unexpected(hidden.error());
    scan.hidden_pages = *std::move(hidden);
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
    checksum = checksum.after(frame);
    if (number == 0 || !has_salt(frame, header->salt) || !checksum.is_stored_at(frame, 16)) {
      const auto is_broken = is_commit_broken(file, *header, at, checksum);
      if (!is_broken) return tl::unexpected(is_broken.error());
      const auto is_same_use = has_header(file, bytes);
      if (!is_same_use) return tl::unexpected(is_same_use.error());
      if (*is_broken && *is_same_use) scan.broken_frame = (at - kWalHeaderBytes) / frame.size() + 1;
      break;
    }
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

StoreResult<bool> are_pages_copied(const RawFile& wal, const WalScan& scan, const RawFile& file) {
  std::array<std::uint8_t, kPageBytes> written{};
  std::array<std::uint8_t, kPageBytes> copied{};
  for (const auto& [page, offset] : scan.hidden_pages) {
    if (page == 0) return false;
    if (auto read = wal.read(offset, written); !read) return tl::unexpected(read.error());
    if (auto read = file.read((page - 1) * std::uint64_t{kPageBytes}, copied); !read)
      return tl::unexpected(read.error());
    if (written != copied) return false;
  }
  return true;
}

}  // namespace berth::edges::detail
