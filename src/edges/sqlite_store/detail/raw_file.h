/// Reads a file through a SQLite VFS. Not by the system's calls: closing a second descriptor of a database drops the
/// locks that this process has on it; a VFS takes care of that.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "domain/ports/journal_store.h"

namespace berth::edges::detail {

class RawFile {
 public:
  /// SQLite's kinds of files: a database and its companions.
  enum class Kind : std::uint8_t { kDatabase, kWal, kRollbackJournal };

  /// Nothing if there is no such file.
  [[nodiscard]] static StoreResult<std::optional<RawFile>> open(const std::string& database_path, Kind kind,
                                                                const std::string& vfs);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Fills `bytes` from `offset` on, with zeros beyond the end.
  [[nodiscard]] StoreResult<void> read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

 private:
  struct Closer {
    void operator()(sqlite3_file* file) const;
  };
  struct NameFree {
    void operator()(char* name) const { sqlite3_free_filename(name); }
  };
  std::unique_ptr<char, NameFree> name_;  // which the file refers to
  std::unique_ptr<sqlite3_file, Closer> file_;
  std::uint64_t size_ = 0;
};

}  // namespace berth::edges::detail
