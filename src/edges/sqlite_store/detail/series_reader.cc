#include "edges/sqlite_store/detail/series_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "edges/sqlite_store/detail/series_rows.h"
#include "edges/sqlite_store/detail/series_tables.h"

namespace berth::edges::detail {
namespace {

tl::unexpected<StoreError> damaged_row(const Connection& connection, const char* table, std::int64_t second) {
  return damaged(connection.path(), fmt::format("table {}, second {}: a row is not what was written", table, second));
}

class SeriesFileReader : public SeriesReader {
 public:
  explicit SeriesFileReader(Connection connection) : connection_(std::move(connection)) {}

  [[nodiscard]] StoreResult<void> prepare() {
    constexpr const char* kDoing = "read figures";
    for (const SeriesTables& names : kSeriesRings) {
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
    SeriesTables names{};
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
      auto figures = read_row(run, second);
      if (!figures) return damaged_row(connection_, ring.names.services, second);
      if (spans.empty() || spans.back().second != second) spans.push_back({.second = second});
      spans.back().services.push_back(std::move(*figures));
    }
  }

  /// Reads second by second: between two seconds of one service are those of all others.
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
      auto figures = read_row(run, second);
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
      both.back().fleet = read_fleet_row(run, second);
      if (!both.back().fleet) return damaged_row(connection_, ring.names.fleet, second);
    }
    both.insert(both.end(), std::move_iterator(next), std::move_iterator(spans.end()));
    return both;
  }

  Connection connection_;
  std::array<Ring, 2> rings_;
};

}  // namespace

StoreResult<std::unique_ptr<SeriesReader>> make_series_reader(Connection connection) {
  auto reader = std::make_unique<SeriesFileReader>(std::move(connection));
  if (auto prepared = reader->prepare(); !prepared) return tl::unexpected(prepared.error());
  return reader;
}

}  // namespace berth::edges::detail
