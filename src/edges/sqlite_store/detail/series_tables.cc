#include "edges/sqlite_store/detail/series_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "edges/sqlite_store/detail/owner.h"

namespace berth::edges::detail {
namespace {

constexpr Owner kSeriesOwner{.application_id = 0x42727453, .format = 1};  // "BrtS"

std::string sql_of_tables(const SeriesFileOptions& options) {
  std::string sql =
      "CREATE TABLE IF NOT EXISTS meta(row INTEGER PRIMARY KEY CHECK (row = 1), world_epoch_us INTEGER NOT NULL, "
      "seconds_bytes INTEGER NOT NULL, minutes_bytes INTEGER NOT NULL) STRICT;"
      "CREATE TABLE IF NOT EXISTS services(service INTEGER PRIMARY KEY, tenant TEXT NOT NULL, "
      "name TEXT NOT NULL, seen_second INTEGER NOT NULL) STRICT;";
  for (const SeriesTables& names : kSeriesRings) {
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
  return sql + sql_of(kSeriesOwner);
}

std::string sql_of_settings(const SeriesFileOptions& options) {
  const std::int64_t checkpoint_pages = std::clamp<std::int64_t>(options.bytes_max / kSeriesPageBytes / 8, 128, 1000);
  return fmt::format(
      "PRAGMA page_size = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = {}; "
      "PRAGMA journal_size_limit = {}",
      kSeriesPageBytes, checkpoint_pages, 2 * checkpoint_pages * kSeriesPageBytes);
}

}  // namespace

StoreResult<void> open_series_tables(const Connection& connection, const SeriesFileOptions& options) {
  auto checked = check_owner(connection, kSeriesOwner, "no series of figures are kept while it is there");
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
  if (*world != options.world_epoch_us) return damaged(connection.path(), "it has the series of another world");
  return {};
}

}  // namespace berth::edges::detail
