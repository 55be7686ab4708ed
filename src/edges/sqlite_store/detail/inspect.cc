#include "edges/sqlite_store/detail/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "edges/sqlite_store/detail/big_endian.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/raw_file.h"
#include "edges/sqlite_store/detail/wal_scan.h"

namespace berth::edges::detail {
namespace {

constexpr std::size_t kHeaderBytes = 100;
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::array<std::uint8_t, 8> kJournalMagic = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kFormatAt = 60;
constexpr std::size_t kApplicationIdAt = 68;

using Header = std::array<std::uint8_t, kHeaderBytes>;

bool is_database(std::span<const std::uint8_t> header) {
  return std::equal(kMagic.begin(), kMagic.end(), header.begin(),
                    [](char wanted, std::uint8_t found) { return static_cast<std::uint8_t>(wanted) == found; });
}

tl::unexpected<StoreError> refused(StoreFault fault, std::string message) {
  return tl::unexpected(StoreError{fault, std::move(message)});
}

std::uint64_t page_bytes_of(const Header& header) {
  const std::uint32_t stored = big_endian_16(header, 16);
  return stored == 1 ? 65536 : stored;
}

/// A write interrupted while the file was created: SQLite will restore the former state.
struct Interrupted {
  bool was_empty = false;
  std::optional<Header> header;
};

/// The content of the rollback journal, if there is one.
StoreResult<std::optional<Interrupted>> read_rollback(const std::string& path, const std::string& vfs) {
  const auto file = RawFile::open(path, RawFile::Kind::kRollbackJournal, vfs);
  if (!file) return tl::unexpected(file.error());
  if (!*file) return std::nullopt;
  std::array<std::uint8_t, 28> start{};
  if (auto read = (*file)->read(0, start); !read) return tl::unexpected(read.error());
  if (!std::equal(kJournalMagic.begin(), kJournalMagic.end(), start.begin())) return std::nullopt;
  Interrupted found;
  found.was_empty = big_endian_32(start, 16) == 0;
  std::array<std::uint8_t, 4 + kHeaderBytes> record{};  // the first one: page number, then the page
  if (auto read = (*file)->read(big_endian_32(start, 20), record); !read) return tl::unexpected(read.error());
  if (big_endian_32(record, 0) == 1) {
    found.header.emplace();
    std::copy_n(record.begin() + 4, kHeaderBytes, found.header->begin());
  }
  return found;
}

/// The effective header: of the WAL if a commit there has the first page, else the file's, else the one to which an
/// interrupted write will be rolled back. Nothing: the database is empty.
StoreResult<std::optional<Header>> find_header(const std::string& path, const std::string& vfs, const RawFile& file,
                                               const WalScan& wal) {
  Header header{};
  if (wal.first_page) {
    std::copy_n(wal.first_page->begin(), kHeaderBytes, header.begin());
    return header;
  }
  const auto rollback = read_rollback(path, vfs);
  if (!rollback) return tl::unexpected(rollback.error());
  if (*rollback && (*rollback)->was_empty) return std::nullopt;
  if (auto read = file.read(0, header); !read) return tl::unexpected(read.error());
  if (!is_database(header) && *rollback && (*rollback)->header) return *(*rollback)->header;
  return header;
}

StoreResult<void> check_owner(const std::string& path, const Header& header, const WantedDatabase& wanted) {
  if (!is_database(header)) {
    return refused(StoreFault::kForeign,
                   fmt::format("{}: wanted {}, found a file that is no database", path, wanted.name));
  }
  const std::uint32_t owner = big_endian_32(header, kApplicationIdAt);
  if (owner != wanted.owner.application_id) {
    return refused(StoreFault::kForeign,
                   fmt::format("{}: wanted {}, found a database of another program (application_id {:#x}, not {:#x})",
                               path, wanted.name, owner, wanted.owner.application_id));
  }
  const std::uint32_t format = big_endian_32(header, kFormatAt);
  if (format > wanted.owner.format) {
    return refused(StoreFault::kNewer,
                   fmt::format("{}: format {} of a later version of this program, which reads up to "
                               "{}: use that version",
                               path, format, wanted.owner.format));
  }
  if (format == 0) return damaged(path, "its header has no format");
  return {};
}

/// Whether a page is neither in the file nor in the WAL.
StoreResult<void> check_length(const std::string& path, const Header& header, const RawFile& file, const WalScan& wal) {
  const std::uint64_t page_bytes = page_bytes_of(header);
  if (page_bytes < 512) return damaged(path, "its header has no page size");
  const std::uint32_t page_count = wal.page_count != 0 ? wal.page_count : big_endian_32(header, kPageCountAt);
  const std::uint64_t there = file.size() / page_bytes;
  for (std::uint64_t page = there + 1; page <= page_count; ++page) {
    if (wal.pages.contains(static_cast<std::uint32_t>(page))) continue;
    return damaged(path, fmt::format("its end is missing: wanted {} pages, found {} bytes", page_count, file.size()));
  }
  return {};
}

}  // namespace

StoreResult<bool> has_wal(const std::string& path, const std::string& vfs) {
  const auto file = RawFile::open(path, RawFile::Kind::kWal, vfs);
  if (!file) return tl::unexpected(file.error());
  return file->has_value() && (*file)->size() > 0;
}

namespace {

/// Whether commits of the WAL would be dropped by SQLite.
StoreResult<void> check_wal(const std::string& path, const RawFile& file, const RawFile& wal_file, const WalScan& wal) {
  if (wal.broken_frame) {
    return damaged(path + "-wal",
                   fmt::format("frame {} is not what was written, and commits stand behind it", *wal.broken_frame));
  }
  const auto are_copied = are_pages_copied(wal_file, wal, file);
  if (!are_copied) return tl::unexpected(are_copied.error());
  if (*are_copied) return {};
  return damaged(path + "-wal", "its header is not what was written, and commits stand behind it");
}

StoreResult<Inspection> inspect_once(const std::string& path, const std::string& vfs, const WantedDatabase& wanted) {
  Inspection inspection;
  // The WAL first: another process may copy its pages into the file in the meantime, and then restart it.
  WalScan wal;
  const auto wal_file = RawFile::open(path, RawFile::Kind::kWal, vfs);
  if (!wal_file) return tl::unexpected(wal_file.error());
  if (*wal_file) {
    auto scanned = scan_wal(**wal_file);
    if (!scanned) return tl::unexpected(scanned.error());
    wal = *std::move(scanned);
  }
  const auto file = RawFile::open(path, RawFile::Kind::kDatabase, vfs);
  if (!file) return tl::unexpected(file.error());
  if (!*file) {
    if (wal.page_count != 0 || !wal.hidden_pages.empty())
      return damaged(path, "the file is missing or empty, but its WAL holds changes");
    inspection.is_new = true;
    return inspection;
  }
  const auto header = find_header(path, vfs, **file, wal);
  if (!header) return tl::unexpected(header.error());
  if (!*header) {
    inspection.is_new = true;
    return inspection;
  }
  if (auto checked = check_owner(path, **header, wanted); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_length(path, **header, **file, wal); !checked) return tl::unexpected(checked.error());
  if (*wal_file) {
    if (auto checked = check_wal(path, **file, **wal_file, wal); !checked) return tl::unexpected(checked.error());
  }
  if (wal.torn_bytes > 0) {
    inspection.notes.push_back(fmt::format(
        "{}-wal: the last {} bytes are torn: a write that was interrupted before it was acknowledged; they are cut off",
        path, wal.torn_bytes));
  }
  return inspection;
}

}  // namespace

StoreResult<Inspection> inspect(const std::string& path, const std::string& vfs, const WantedDatabase& wanted) {
  constexpr int kAttempts = 3;  // apparent damage may be a write of another process under way
  StoreResult<Inspection> inspection = inspect_once(path, vfs, wanted);
  for (int attempt = 1; attempt < kAttempts; ++attempt) {
    if (inspection || inspection.error().fault != StoreFault::kDamaged) break;
    inspection = inspect_once(path, vfs, wanted);
  }
  return inspection;
}

}  // namespace berth::edges::detail
