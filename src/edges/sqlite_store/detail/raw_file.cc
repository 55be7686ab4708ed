#include "edges/sqlite_store/detail/raw_file.h"

#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "edges/sqlite_store/detail/connection.h"

namespace berth::edges::detail {
namespace {

const char* suffix_of(RawFile::Kind kind) {
  switch (kind) {
    case RawFile::Kind::kDatabase:
      return "";
    case RawFile::Kind::kWal:
      return "-wal";
    case RawFile::Kind::kRollbackJournal:
      return "-journal";
  }
  return "";
}

}  // namespace

void RawFile::Closer::operator()(sqlite3_file* file) const {
  if (file->pMethods != nullptr) file->pMethods->xClose(file);
  sqlite3_free(file);
}

StoreResult<std::optional<RawFile>> RawFile::open(const std::string& database_path, Kind kind, const std::string& vfs) {
  sqlite3_vfs* files = sqlite3_vfs_find(vfs.empty() ? nullptr : vfs.c_str());
  ENSURE(files != nullptr);
  std::vector<char> full(static_cast<std::size_t>(files->mxPathname) + 1);
  const int named = files->xFullPathname(files, database_path.c_str(), static_cast<int>(full.size()), full.data());
  const auto failed = [&](int code) {
    return tl::unexpected(store_error(code, database_path + suffix_of(kind), "read it", sqlite3_errstr(code)));
  };
  if ((named & 0xff) != SQLITE_OK) return failed(named);
  const std::string path = full.data() + std::string(suffix_of(kind));
  int is_there = 0;
  if (const int code = files->xAccess(files, path.c_str(), SQLITE_ACCESS_EXISTS, &is_there); code != SQLITE_OK) {
    return failed(code);
  }
  if (is_there == 0) return std::optional<RawFile>();

  RawFile opened;
  opened.name_.reset(const_cast<char*>(sqlite3_create_filename(path.c_str(), "", "", 0, nullptr)));
  auto* memory = static_cast<sqlite3_file*>(sqlite3_malloc(files->szOsFile));
  ENSURE(opened.name_ != nullptr && memory != nullptr);
  memory->pMethods = nullptr;
  opened.file_.reset(memory);
  // Opened as a database: for a WAL, SQLite's Unix VFS would require the database to exist.
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  if (const int code = files->xOpen(files, opened.name_.get(), memory, flags, &flags); code != SQLITE_OK) {
    return failed(code);
  }
  sqlite3_int64 size = 0;
  if (const int code = memory->pMethods->xFileSize(memory, &size); code != SQLITE_OK) return failed(code);
  opened.size_ = static_cast<std::uint64_t>(size);
  return opened;
}

StoreResult<void> RawFile::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  const int code = file_->pMethods->xRead(file_.get(), bytes.data(), static_cast<int>(bytes.size()),
                                          static_cast<sqlite3_int64>(offset));
  if (code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ) return {};
  return tl::unexpected(store_error(code, name_.get(), "read it", sqlite3_errstr(code)));
}

}  // namespace berth::edges::detail
