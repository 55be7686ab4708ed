#include "edges/sqlite_store/series_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "edges/sqlite_store/detail/connection.h"
#include "edges/sqlite_store/detail/owner.h"
#include "edges/sqlite_store/detail/series_rows.h"

namespace berth::edges {
namespace {

using detail::Connection;
using detail::Statement;
using detail::StatementRun;
using detail::Transaction;

constexpr detail::Owner kSeriesOwner{.application_id = 0x42727453, .format = 1};  // "BrtS"
constexpr std::int64_t kMinute = 60;
constexpr std::int64_t kPageBytes = 4096;
/// A row without its detail, for the share of the rings.
constexpr std::int64_t kRowBytes = 60;
/// One part in so many is for minutes.
constexpr std::int64_t kMinutesShare = 4;
/// Of a ring, one part in so many goes at a time, so that no commit is long.
constexpr std::int64_t kEvictedShare = 64;
constexpr int kEvictionsMax = 8;                ///< per append
constexpr std::int64_t kAgedSecondsMax = 7200;  ///< of what is too old, the span that goes per append

struct RingNames {
  SeriesRing ring;
  const char* services;
  const char* fleet;
  const char* bytes;  ///< the column of `meta`
  std::int64_t step;
};

constexpr std::array kRings = {
    RingNames{SeriesRing::kSeconds, "seconds", "fleet_seconds", "seconds_bytes", 1},
    RingNames{SeriesRing::kMinutes, "minutes", "fleet_minutes", "minutes_bytes", kMinute},
};

// ---- tables

std::string sql_of_tables(const SeriesFileOptions& options) {
  std::string sql =
      "CREATE TABLE IF NOT EXISTS meta(row INTEGER PRIMARY KEY CHECK (row = 1), world_epoch_us INTEGER NOT NULL, "
      "seconds_bytes INTEGER NOT NULL, minutes_bytes INTEGER NOT NULL) STRICT;"
      "CREATE TABLE IF NOT EXISTS services(service INTEGER PRIMARY KEY, tenant TEXT NOT NULL, "
      "name TEXT NOT NULL, seen_second INTEGER NOT NULL) STRICT;";
  for (const RingNames& names : kRings) {
    sql += fmt::format(
        "CREATE TABLE IF NOT EXISTS {}(second INTEGER NOT NULL, service INTEGER NOT NULL, seconds INTEGER NOT NULL, "
        "requests INTEGER NOT NULL, in_time INTEGER NOT NULL, late INTEGER NOT NULL, dropped INTEGER NOT NULL, "
        "accuracy_sum_micro INTEGER NOT NULL, queued_max INTEGER NOT NULL, latency_p50_us INTEGER, "
        "latency_p99_us INTEGER, detail BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (second, service)) "
        "WITHOUT ROWID, STRICT;",
        names.services);
    sql += fmt::format(
        "CREATE TABLE IF NOT EXISTS {}(second INTEGER PRIMARY KEY, covered_us INTEGER NOT NULL, available_sm_us "
        "INTEGER "
        "NOT NULL, allocated_sm_us INTEGER NOT NULL, busy_sm_us INTEGER NOT NULL, effective_sm_us INTEGER NOT NULL, "
        "lost_gpus_max INTEGER NOT NULL, micro_usd_per_hour INTEGER, checksum INTEGER NOT NULL) STRICT;",
        names.fleet);
  }
  sql += fmt::format("INSERT OR IGNORE INTO meta VALUES (1, {}, 0, 0);", options.world_epoch_us);
  return sql + detail::sql_of(kSeriesOwner);
}

std::string sql_of_settings(const SeriesFileOptions& options) {
  const std::int64_t checkpoint_pages = std::clamp<std::int64_t>(options.bytes_max / kPageBytes / 8, 8, 1000);
  return fmt::format(
      "PRAGMA page_size = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {}; "
      "PRAGMA journal_size_limit = {}",
      kPageBytes, checkpoint_pages, 2 * checkpoint_pages * kPageBytes);
}

StoreResult<void> open_tables(const Connection& connection, const SeriesFileOptions& options) {
  auto checked = detail::check_owner(connection, kSeriesOwner, "no series of figures are kept while it is there");
  if (!checked) return checked;
  auto set = connection.execute(sql_of_settings(options).c_str(), "open the series");
  if (!set) return set;
  {
    auto transaction = Transaction::begin(connection, Transaction::Kind::kWrite);
    if (!transaction) return tl::unexpected(transaction.error());
    auto made = connection.execute(sql_of_tables(options).c_str(), "make the tables");
    if (made) made = transaction->commit();
    if (!made) return made;
  }
  const auto world = connection.integer("SELECT world_epoch_us FROM meta", "read whose series it has");
  if (!world) return tl::unexpected(world.error());
  if (*world != options.world_epoch_us) return detail::damaged(connection.path(), "it has the series of another world");
  return {};
}

tl::unexpected<StoreError> damaged_row(const Connection& connection, const char* table, std::int64_t second) {
  return detail::damaged(connection.path(),
                         fmt::format("table {}, second {}: a row is not what was written", table, second));
}

// ---- the writer

class SeriesFileWriter : public SeriesWriter {
 public:
  SeriesFileWriter(Connection connection, std::int64_t bytes_max)
      : connection_(std::move(connection)), pages_max_(bytes_max / kPageBytes * 15 / 16) {}

  [[nodiscard]] StoreResult<void> prepare() {
    for (const RingNames& names : kRings) {
      Ring& ring = ring_of(names.ring);
      ring.names = names;
      const std::string add =
          fmt::format("INSERT OR REPLACE INTO {} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", names.services);
      const std::string add_fleet =
          fmt::format("INSERT OR REPLACE INTO {} VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", names.fleet);
      for (const auto& [statement, sql] : {std::pair(&ring.add, &add), std::pair(&ring.add_fleet, &add_fleet)}) {
        auto prepared = connection_.prepare(sql->c_str(), "add figures");
        if (!prepared) return tl::unexpected(prepared.error());
        *statement = std::move(*prepared);
      }
    }
    auto name = connection_.prepare("INSERT OR REPLACE INTO services VALUES (?, ?, ?, ?)", "name a service");
    if (!name) return tl::unexpected(name.error());
    name_ = std::move(*name);
    return {};
  }

  [[nodiscard]] StoreResult<void> append(const SeriesBatch& batch) override {
    auto transaction = Transaction::begin(connection_, Transaction::Kind::kWrite);
    if (!transaction) return tl::unexpected(transaction.error());
    if (auto added = add(SeriesRing::kSeconds, batch.seconds); !added) return added;
    if (auto added = add(SeriesRing::kMinutes, batch.minutes); !added) return added;
    if (auto evicted = evict_old(batch.keep_from); !evicted) return evicted;
    if (auto evicted = evict_excess(); !evicted) return evicted;
    return transaction->commit();
  }

  [[nodiscard]] StoreResult<void> discard_from(std::int64_t second) override {
    auto transaction = Transaction::begin(connection_, Transaction::Kind::kWrite);
    if (!transaction) return tl::unexpected(transaction.error());
    for (const RingNames& names : kRings) {
      auto removed = remove(names, fmt::format("second > {}", second - names.step));
      if (!removed) return removed;
    }
    return transaction->commit();
  }

 private:
  struct Ring {
    RingNames names{};
    Statement add;
    Statement add_fleet;
  };

  [[nodiscard]] Ring& ring_of(SeriesRing ring) { return rings_[ring == SeriesRing::kSeconds ? 0 : 1]; }

  StoreResult<void> add(SeriesRing of, const std::vector<SeriesSpan>& spans) {
    Ring& ring = ring_of(of);
    std::int64_t bytes = 0;
    for (const SeriesSpan& span : spans) {
      for (const ServiceFigures& figures : span.services) {
        const std::string rest = detail::detail_bytes(span.second, figures);
        bytes += kRowBytes + std::ssize(rest);
        StatementRun run = ring.add.run();
        detail::bind_row(run, span.second, figures, rest);
        if (auto added = run.finish(); !added) return added;
      }
      if (auto added = add_rest(ring, span); !added) return added;
    }
    return add_bytes(ring.names, bytes);
  }

  StoreResult<void> add_rest(Ring& ring, const SeriesSpan& span) {
    if (span.fleet) {
      StatementRun run = ring.add_fleet.run();
      detail::bind_row(run, span.second, *span.fleet);
      if (auto added = run.finish(); !added) return added;
    }
    for (const SeriesName& each : span.names) {
      auto named = name_.run()
                       .bind(each.service)
                       .bind(std::string_view(each.tenant))
                       .bind(std::string_view(each.name))
                       .bind(span.second)
                       .finish();
      if (!named) return named;
    }
    return {};
  }

  StoreResult<void> add_bytes(const RingNames& names, std::int64_t bytes) {
    if (bytes == 0) return {};
    return connection_.execute(fmt::format("UPDATE meta SET {0} = {0} + {1}", names.bytes, bytes).c_str(),
                               "count figures");
  }

  StoreResult<void> remove(const RingNames& names, const std::string& which) {
    const auto bytes = connection_.integer(
        fmt::format("SELECT coalesce(sum({} + length(detail)), 0) FROM {} WHERE {}", kRowBytes, names.services, which)
            .c_str(),
        "count figures");
    if (!bytes) return tl::unexpected(bytes.error());
    const std::string sql =
        fmt::format("DELETE FROM {} WHERE {}; DELETE FROM {} WHERE {}", names.services, which, names.fleet, which);
    if (auto removed = connection_.execute(sql.c_str(), "remove figures"); !removed) return removed;
    return add_bytes(names, -*bytes);
  }

  /// The oldest second of a ring, and the one behind the newest; equal if it is empty.
  struct Extent {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  StoreResult<Extent> extent_of(const RingNames& names) {
    Extent extent{.from = INT64_MAX, .to = INT64_MIN};
    for (const char* table : {names.services, names.fleet}) {
      const auto has_rows = connection_.integer(fmt::format("SELECT EXISTS (SELECT 1 FROM {})", table).c_str(), "look");
      if (!has_rows) return tl::unexpected(has_rows.error());
      if (*has_rows == 0) continue;
      const auto first = connection_.integer(fmt::format("SELECT min(second) FROM {}", table).c_str(), "look");
      if (!first) return tl::unexpected(first.error());
      const auto last = connection_.integer(fmt::format("SELECT max(second) FROM {}", table).c_str(), "look");
      if (!last) return tl::unexpected(last.error());
      extent = {.from = std::min(extent.from, *first), .to = std::max(extent.to, *last + names.step)};
    }
    if (extent.from >= extent.to) return Extent();
    return extent;
  }

  StoreResult<void> evict_old(std::int64_t keep_from) {
    if (keep_from <= known_first_) return {};
    std::int64_t first = INT64_MAX;
    for (const RingNames& names : kRings) {
      const auto extent = extent_of(names);
      if (!extent) return tl::unexpected(extent.error());
      if (extent->from == extent->to) continue;
      const std::int64_t until = std::min(keep_from, extent->from + kAgedSecondsMax);
      if (extent->from < until) {
        if (auto removed = remove(names, fmt::format("second < {}", until)); !removed) return removed;
      }
      first = std::min(first, std::max(extent->from, until));
    }
    if (first != INT64_MAX) known_first_ = first;
    return connection_.execute(fmt::format("DELETE FROM services WHERE seen_second < {}", keep_from - kMinute).c_str(),
                               "remove names");
  }

  StoreResult<void> evict_excess() {
    for (int i = 0; i < kEvictionsMax; ++i) {
      const auto free = connection_.integer("PRAGMA freelist_count", "count pages");
      if (!free) return tl::unexpected(free.error());
      const auto all = connection_.integer("PRAGMA page_count", "count pages");
      if (!all) return tl::unexpected(all.error());
      if (*all - *free <= pages_max_) return {};
      if (auto evicted = evict_part(); !evicted) return evicted;
    }
    return {};
  }

  StoreResult<void> evict_part() {
    const auto minutes = connection_.integer("SELECT minutes_bytes FROM meta", "count figures");
    if (!minutes) return tl::unexpected(minutes.error());
    const auto seconds = connection_.integer("SELECT seconds_bytes FROM meta", "count figures");
    if (!seconds) return tl::unexpected(seconds.error());
    const RingNames& names = kRings[*minutes > (*minutes + *seconds) / kMinutesShare ? 1 : 0];
    const auto extent = extent_of(names);
    if (!extent) return tl::unexpected(extent.error());
    const std::int64_t part = std::max(names.step, (extent->to - extent->from) / kEvictedShare);
    return remove(names, fmt::format("second < {}", extent->from + part));
  }

  Connection connection_;
  std::int64_t pages_max_;
  std::int64_t known_first_ = INT64_MIN;  ///< nothing is older
  std::array<Ring, 2> rings_;
  Statement name_;
};

// ---- the reader

class SeriesFileReader : public SeriesReader {
 public:
  explicit SeriesFileReader(Connection connection) : connection_(std::move(connection)) {}

  [[nodiscard]] StoreResult<void> prepare() {
    constexpr const char* kDoing = "read figures";
    for (const RingNames& names : kRings) {
      Ring& ring = rings_[names.ring == SeriesRing::kSeconds ? 0 : 1];
      ring.names = names;
      const std::string all =
          fmt::format("SELECT * FROM {} WHERE second >= ? AND second < ? ORDER BY second, service", names.services);
      const std::string one = fmt::format("SELECT * FROM {} WHERE second = ? AND service = ?", names.services);
      const std::string fleet =
          fmt::format("SELECT * FROM {} WHERE second >= ? AND second < ? ORDER BY second", names.fleet);
      const std::string range = fmt::format(
          "SELECT min(first), max(last) FROM (SELECT (SELECT min(second) FROM {0}) AS first, (SELECT max(second) FROM "
          "{0}) AS last UNION ALL SELECT (SELECT min(second) FROM {1}), (SELECT max(second) FROM {1}))",
          names.services, names.fleet);
      for (const auto& [statement, sql] : {std::pair(&ring.all, &all), std::pair(&ring.one, &one),
                                           std::pair(&ring.fleet, &fleet), std::pair(&ring.range, &range)}) {
        auto prepared = connection_.prepare(sql->c_str(), kDoing);
        if (!prepared) return tl::unexpected(prepared.error());
        *statement = std::move(*prepared);
      }
    }
    return {};
  }

  [[nodiscard]] StoreResult<std::optional<Range>> range(SeriesRing ring) override {
    StatementRun run = ring_of(ring).range.run();
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (run.is_null(0) || run.is_null(1)) return std::nullopt;
    return Range{.first = run.integer(0), .last = run.integer(1)};
  }

  [[nodiscard]] StoreResult<std::vector<SeriesSpan>> read(const SeriesQuery& query) override {
    auto transaction = Transaction::begin(connection_, Transaction::Kind::kRead);
    if (!transaction) return tl::unexpected(transaction.error());
    std::vector<SeriesSpan> spans;
    auto services = query.service ? read_one(query, *query.service, spans) : read_all(query, spans);
    if (!services) return tl::unexpected(services.error());
    if (query.service && *query.service != kAllServices) return spans;
    return with_fleet(query, std::move(spans));
  }

 private:
  struct Ring {
    RingNames names{};
    Statement all;
    Statement one;
    Statement fleet;
    Statement range;
  };

  [[nodiscard]] Ring& ring_of(SeriesRing ring) { return rings_[ring == SeriesRing::kSeconds ? 0 : 1]; }

  StoreResult<void> read_all(const SeriesQuery& query, std::vector<SeriesSpan>& spans) {
    Ring& ring = ring_of(query.ring);
    StatementRun run = ring.all.run();
    run.bind(query.from).bind(query.to);
    while (true) {
      const auto stepped = run.step();
      if (!stepped) return tl::unexpected(stepped.error());
      if (!*stepped) return {};
      const std::int64_t second = run.integer(0);
      auto figures = detail::read_row(run, second);
      if (!figures) return damaged_row(connection_, ring.names.services, second);
      if (spans.empty() || spans.back().second != second) spans.push_back({.second = second});
      spans.back().services.push_back(std::move(*figures));
    }
  }

  /// Second by second: between two seconds of one service lie those of all others.
  StoreResult<void> read_one(const SeriesQuery& query, std::uint64_t service, std::vector<SeriesSpan>& spans) {
    Ring& ring = ring_of(query.ring);
    const auto known = range(query.ring);
    if (!known) return tl::unexpected(known.error());
    if (!*known) return {};
    const std::int64_t to = std::min(query.to, (*known)->last + 1);
    const std::int64_t step = ring.names.step;
    const std::int64_t first = std::max(query.from, (*known)->first);
    for (std::int64_t second = (first + step - 1) / step * step; second < to; second += step) {
      StatementRun run = ring.one.run();
      const auto stepped = run.bind(second).bind(service).step();
      if (!stepped) return tl::unexpected(stepped.error());
      if (!*stepped) continue;
      auto figures = detail::read_row(run, second);
      if (!figures) return damaged_row(connection_, ring.names.services, second);
      spans.push_back({.second = second, .services = {std::move(*figures)}});
    }
    return {};
  }

  StoreResult<std::vector<SeriesSpan>> with_fleet(const SeriesQuery& query, std::vector<SeriesSpan> spans) {
    Ring& ring = ring_of(query.ring);
    StatementRun run = ring.fleet.run();
    run.bind(query.from).bind(query.to);
    std::vector<SeriesSpan> both;
    auto next = spans.begin();
    while (true) {
      const auto stepped = run.step();
      if (!stepped) return tl::unexpected(stepped.error());
      if (!*stepped) break;
      const std::int64_t second = run.integer(0);
      while (next != spans.end() && next->second < second) both.push_back(std::move(*next++));
      if (next != spans.end() && next->second == second) {
        both.push_back(std::move(*next++));
      } else {
        both.push_back({.second = second});
      }
      both.back().fleet = detail::read_fleet_row(run, second);
      if (!both.back().fleet) return damaged_row(connection_, ring.names.fleet, second);
    }
    both.insert(both.end(), std::move_iterator(next), std::move_iterator(spans.end()));
    return both;
  }

  Connection connection_;
  std::array<Ring, 2> rings_;
};

}  // namespace

StoreResult<SeriesStore> open_series_file(const std::string& path, const SeriesFileOptions& options) {
  auto connection = Connection::open(path, detail::OpenMode::kWrite, options.vfs);
  if (!connection) return tl::unexpected(connection.error());
  connection->set_checkpoint_on_close(false);  // what is refused stays as it is
  if (auto opened = open_tables(*connection, options); !opened) return tl::unexpected(opened.error());
  connection->set_checkpoint_on_close(true);
  auto writer = std::make_unique<SeriesFileWriter>(std::move(*connection), options.bytes_max);
  if (auto prepared = writer->prepare(); !prepared) return tl::unexpected(prepared.error());
  auto for_reading = Connection::open(path, detail::OpenMode::kRead, options.vfs);
  if (!for_reading) return tl::unexpected(for_reading.error());
  auto reader = std::make_unique<SeriesFileReader>(std::move(*for_reading));
  if (auto prepared = reader->prepare(); !prepared) return tl::unexpected(prepared.error());
  return SeriesStore{.writer = std::move(writer), .reader = std::move(reader)};
}

StoreResult<void> set_series_file_aside(const std::string& path) {
  const std::string aside = path + ".damaged";
  for (const char* end : {"", "-wal", "-shm"}) {
    std::error_code error;
    std::filesystem::remove(aside + end, error);
    if (!std::filesystem::exists(path + end, error)) continue;
    std::filesystem::rename(path + end, aside + end, error);
    if (error) {
      return tl::unexpected(
          StoreError{StoreFault::kFailed, fmt::format("{}{}: cannot rename it: {}", path, end, error.message())});
    }
  }
  return {};
}

}  // namespace berth::edges
