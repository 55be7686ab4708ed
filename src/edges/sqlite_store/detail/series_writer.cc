#include "edges/sqlite_store/detail/series_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "edges/sqlite_store/detail/series_rows.h"
#include "edges/sqlite_store/detail/series_tables.h"

namespace berth::edges::detail {
namespace {

/// The size of a row without its detail, to compute the shares of the rings.
constexpr std::int64_t kRowBytes = 60;
/// One part in this many is for minutes.
constexpr std::int64_t kMinutesShare = 4;
/// One part in this many of a ring is removed at a time, so that no commit takes long.
constexpr std::int64_t kEvictedShare = 32;
/// The space left free for the next append, or 1/16 of the file if that is more.
constexpr std::int64_t kRoomBytes = std::int64_t{512} << 10U;
constexpr int kEvictionsMax = 16;               ///< per append
constexpr std::int64_t kAgedSecondsMax = 7200;  ///< the span of expired data removed per append
/// The longest interval between two names of a service, in seconds of the world.
constexpr std::int64_t kNamedEvery = 60;

class SeriesFileWriter : public SeriesWriter {
 public:
  SeriesFileWriter(Connection connection, std::int64_t bytes_max)
      : connection_(std::move(connection)),
        pages_max_((bytes_max - std::max(bytes_max / 16, kRoomBytes)) / kSeriesPageBytes) {}

  [[nodiscard]] StoreResult<void> prepare() {
    for (const SeriesTables& names : kSeriesRings) {
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
    for (const SeriesTables& names : kSeriesRings) {
      auto removed = remove(names, fmt::format("second > {}", second - names.step));
      if (!removed) return removed;
    }
    return transaction->commit();
  }

 private:
  struct Ring {
    SeriesTables names{};
    Statement add;
    Statement add_fleet;
  };

  [[nodiscard]] Ring& ring_of(SeriesRing ring) { return rings_[ring == SeriesRing::kSeconds ? 0 : 1]; }

  StoreResult<void> add(SeriesRing of, const std::vector<SeriesSpan>& spans) {
    Ring& ring = ring_of(of);
    std::int64_t bytes = 0;
    for (const SeriesSpan& span : spans) {
      for (const ServiceFigures& figures : span.services) {
        const std::string rest = detail_bytes(span.second, figures);
        bytes += kRowBytes + std::ssize(rest);
        StatementRun run = ring.add.run();
        bind_row(run, span.second, figures, rest);
        if (auto added = run.finish(); !added) return added;
      }
      if (auto added = add_rest(ring, span); !added) return added;
    }
    return add_bytes(ring.names, bytes);
  }

  StoreResult<void> add_rest(Ring& ring, const SeriesSpan& span) {
    if (span.fleet) {
      StatementRun run = ring.add_fleet.run();
      bind_row(run, span.second, *span.fleet);
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

  StoreResult<void> add_bytes(const SeriesTables& names, std::int64_t bytes) {
    if (bytes == 0) return {};
    return connection_.execute(fmt::format("UPDATE meta SET {0} = {0} + {1}", names.bytes, bytes).c_str(),
                               "count figures");
  }

  StoreResult<void> remove(const SeriesTables& names, const std::string& which) {
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

  /// The oldest second of a ring, and the one after the newest; equal if it is empty.
  struct Extent {
    std::int64_t from = 0;
    std::int64_t to = 0;
  };
  StoreResult<Extent> extent_of(const SeriesTables& names) {
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
    for (const SeriesTables& names : kSeriesRings) {
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
    return remove_names(keep_from);
  }

  /// Removes the names of services that have no figures from that second on.
  StoreResult<void> remove_names(std::int64_t keep_from) {
    return connection_.execute(
        fmt::format("DELETE FROM services WHERE seen_second < {}", keep_from - kNamedEvery).c_str(), "remove names");
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
    const SeriesTables& names = kSeriesRings[*minutes > (*minutes + *seconds) / kMinutesShare ? 1 : 0];
    const auto extent = extent_of(names);
    if (!extent) return tl::unexpected(extent.error());
    const std::int64_t part = std::max(names.step, (extent->to - extent->from) / kEvictedShare);
    if (auto removed = remove(names, fmt::format("second < {}", extent->from + part)); !removed) return removed;
    std::int64_t first = INT64_MAX;
    for (const SeriesTables& ring : kSeriesRings) {
      const auto left = extent_of(ring);
      if (!left) return tl::unexpected(left.error());
      if (left->from != left->to) first = std::min(first, left->from);
    }
    return first == INT64_MAX ? StoreResult<void>() : remove_names(first);
  }

  Connection connection_;
  std::int64_t pages_max_;
  std::int64_t known_first_ = INT64_MIN;  ///< no data is older
  std::array<Ring, 2> rings_;
  Statement name_;
};

}  // namespace

StoreResult<std::unique_ptr<SeriesWriter>> make_series_writer(Connection connection, std::int64_t bytes_max) {
  auto writer = std::make_unique<SeriesFileWriter>(std::move(connection), bytes_max);
  if (auto prepared = writer->prepare(); !prepared) return tl::unexpected(prepared.error());
  return writer;
}

}  // namespace berth::edges::detail
