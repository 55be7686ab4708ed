#include "edges/sqlite_store/profile_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <tuple>
#include <utility>

#include "base/core/ensure.h"
#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/profile_tables.h"
#include "edges/sqlite_store/detail/report_rows.h"
#include "edges/sqlite_store/detail/report_sums.h"
#include "edges/sqlite_store/detail/run_rows.h"

namespace berth::edges {
namespace {

using detail::Connection;
using detail::OpenMode;
using detail::ReportRows;
using detail::Transaction;

/// Runs and imports of others are short: whoever waits longer is stuck.
constexpr int kProfileLockWaitMs = 20'000;

tl::unexpected<Error> profile_failure(const StoreError& error) {
  switch (error.fault) {
    case StoreFault::kDamaged:
    case StoreFault::kNewer:
    case StoreFault::kForeign:
      return invalid(error.message);
    case StoreFault::kFull:
    case StoreFault::kFailed:
    case StoreFault::kLocked:
    case StoreFault::kDeposed:
      break;
  }
  return fail(ErrorCode::kUnavailable, error.message);
}

bool are_finite(const ProfilePoint& point) {
  return std::isfinite(point.rows_per_second) && std::isfinite(point.mean_us) && std::isfinite(point.mean_us_low) &&
         std::isfinite(point.mean_us_high) && std::isfinite(point.p50_us) && std::isfinite(point.p99_us);
}

Result<void> check_run(const ProfileRun& run) {
  const auto key_of = [](const ProfilePoint& point) { return std::tuple(point.processes, point.batch); };
  for (std::size_t i = 0; i < run.points.size(); ++i) {
    const ProfilePoint& point = run.points[i];
    if (!are_finite(point)) {
      return invalid(fmt::format("{}: batch {}, processes {}: wanted finite figures, found others", run.model.name,
                                 point.batch, point.processes));
    }
    if (i > 0 && key_of(run.points[i - 1]) >= key_of(point)) {
      return invalid(
          fmt::format("{}: wanted points sorted by processes and batch, found batch {}, processes {} twice "
                      "or late",
                      run.model.name, point.batch, point.processes));
    }
  }
  return {};
}

class ProfileFile : public ProfileStore {
 public:
  explicit ProfileFile(std::string path) : path_(std::move(path)) {}

  /// Opens the file, which exists, and checks it.
  Result<void> open(OpenMode mode) {
    auto opened = Connection::open(path_, mode, "");
    if (!opened) return profile_failure(opened.error());
    sqlite3_busy_timeout(opened->raw(), kProfileLockWaitMs);
    const auto has_tables = detail::has_profile_tables(*opened);
    if (!has_tables) return profile_failure(has_tables.error());
    has_tables_ = *has_tables;
    connection_ = *std::move(opened);
    return {};
  }

  Result<std::int64_t> add_all(std::span<const ProfileRun> runs) override {
    ENSURE(!runs.empty());
    for (const ProfileRun& run : runs) {
      if (auto checked = check_run(run); !checked) return pass_on(checked.error());
    }
    return write([&]() -> StoreResult<std::int64_t> {
      std::optional<std::int64_t> first;
      for (const ProfileRun& run : runs) {
        const auto id = detail::insert_run(*connection_, run);
        if (!id) return tl::unexpected(id.error());
        if (!first) first = *id;
      }
      return *first;
    });
  }

  Result<std::vector<ProfileRun>> runs() override {
    return read<std::vector<ProfileRun>>([&] { return detail::read_runs(*connection_); });
  }

  Result<std::int64_t> observe(const TimesReport& report, std::int64_t now_us) override {
    return write([&]() -> StoreResult<std::int64_t> {
      const auto earlier = detail::read_reports(*connection_);
      if (!earlier) return tl::unexpected(earlier.error());
      const ReportRows added = detail::difference(report, *earlier, now_us);
      if (added.times.empty() && added.memory.empty()) return 0;
      if (auto inserted = detail::insert_report(*connection_, added); !inserted) {
        return tl::unexpected(inserted.error());
      }
      return detail::batch_count(added);
    });
  }

  Result<std::vector<ObservedSum>> observed() override {
    const auto reports = read_reports();
    if (!reports) return pass_on(reports.error());
    auto sums = detail::observed_sums(*reports);
    if (!sums) return invalid(fmt::format("{}: the sums of the observed times need more than 64 bits", path_));
    return *std::move(sums);
  }

  Result<std::vector<ObservedMemorySum>> observed_memory() override {
    const auto reports = read_reports();
    if (!reports) return pass_on(reports.error());
    return detail::last_memory(*reports);
  }

 private:
  Result<std::vector<ReportRows>> read_reports() {
    return read<std::vector<ReportRows>>([&] { return detail::read_reports(*connection_); });
  }

  /// `get` in one read transaction; an empty value of a file without tables.
  template <class Value, class Get>
  Result<Value> read(const Get& get) {
    if (!connection_ || !has_tables_) return Value();
    auto transaction = Transaction::begin(*connection_, Transaction::Kind::kRead);
    if (!transaction) return profile_failure(transaction.error());
    StoreResult<Value> value = get();
    if (!value) return profile_failure(value.error());
    return *std::move(value);
  }

  /// `change` in one write transaction, which is committed if it succeeds.
  template <class Change>
  Result<std::int64_t> write(const Change& change) {
    if (!connection_) {
      if (auto opened = open(OpenMode::kWrite); !opened) return pass_on(opened.error());
    }
    auto transaction = Transaction::begin(*connection_, Transaction::Kind::kWrite);
    if (!transaction) return profile_failure(transaction.error());
    if (auto made = make_tables_if_missing(); !made) return profile_failure(made.error());
    const StoreResult<std::int64_t> value = change();
    if (!value) return profile_failure(value.error());
    if (auto committed = transaction->commit(); !committed) return profile_failure(committed.error());
    has_tables_ = true;
    return *value;
  }

  /// Another process may have made them meanwhile.
  StoreResult<void> make_tables_if_missing() {
    const auto tables =
        connection_->integer("SELECT count(*) FROM sqlite_schema WHERE name = 'runs'", "read its tables");
    if (!tables) return tl::unexpected(tables.error());
    return *tables == 0 ? detail::make_profile_tables(*connection_) : StoreResult<void>();
  }

  std::string path_;
  std::optional<Connection> connection_;  ///< absent: the file is created with the first row
  bool has_tables_ = false;
};

/// Whether the file can be created later.
Result<void> check_folder(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (folder.empty()) folder = ".";
  std::error_code unknown;
  if (!std::filesystem::is_directory(folder, unknown)) {
    return fail(ErrorCode::kUnavailable, fmt::format("{}: there is no folder {}", path, folder.string()));
  }
  if (::access(folder.c_str(), W_OK) == 0) return {};
  return fail(ErrorCode::kUnavailable, fmt::format("{}: the folder {} cannot be written", path, folder.string()));
}

}  // namespace

Result<std::unique_ptr<ProfileStore>> open_profile_store(const std::string& path, ProfileFileMode mode) {
  auto file = std::make_unique<ProfileFile>(path);
  std::error_code unknown;
  const bool is_there = std::filesystem::exists(path, unknown);
  if (!is_there && mode == ProfileFileMode::kRead) {
    return fail(ErrorCode::kNotFound, fmt::format("{}: there is no such file", path));
  }
  if (is_there && std::filesystem::is_directory(path, unknown)) {
    return invalid(fmt::format("{}: wanted a database, found a folder", path));
  }
  const auto ready = is_there ? file->open(OpenMode::kExisting) : check_folder(path);
  if (!ready) return pass_on(ready.error());
  return file;
}

}  // namespace berth::edges
