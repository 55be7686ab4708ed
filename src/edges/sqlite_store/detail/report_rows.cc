#include "edges/sqlite_store/detail/report_rows.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <utility>

#include "edges/sqlite_store/detail/profile_tables.h"
#include "live/chain/field_hash.h"

namespace berth::edges::detail {
namespace {

/// What a report has in the tables next to its own, by its id.
template <class Row>
using RowsByReport = std::map<std::int64_t, std::vector<Row>>;

Sha256 hash_of(std::int64_t id, const ReportRows& report) {
  chain::FieldHash hash("profile report 1");
  hash.add(id).add(report.url).add(report.started_us).add(report.at_us);
  hash.add(static_cast<std::uint64_t>(report.times.size()));
  for (const ObservedTimes& times : report.times) {
    hash.add(times.model).add(times.version).add(times.sha256).add(times.device).add(std::int64_t{times.batch});
    hash.add(times.count).add(times.sum_us).add(std::bit_cast<std::int64_t>(times.sum_squares));
  }
  for (const ObservedMemory& memory : report.memory) hash.add(memory.model).add(memory.version).add(memory.bytes);
  return hash.finish();
}

ObservedTimes times_of(StatementRun& row) {
  return {.model = row.text(1),
          .version = row.text(2),
          .sha256 = row.text(3),
          .device = row.text(4),
          .batch = static_cast<int>(row.integer(5)),
          .count = row.integer(6),
          .sum_us = row.integer(7),
          .sum_squares = row.real(8)};
}

ObservedMemory memory_of(StatementRun& row) {
  return {.model = row.text(1), .version = row.text(2), .bytes = row.integer(3)};
}

/// All rows of a table whose first column is the report, in the order of its key.
template <class Row>
StoreResult<RowsByReport<Row>> read_table(const Connection& connection, const char* sql, Row (*row_of)(StatementRun&)) {
  auto select = connection.prepare(sql, "read the reports");
  if (!select) return tl::unexpected(select.error());
  RowsByReport<Row> rows;
  StatementRun run = select->run();
  while (true) {
    const auto stepped = run.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return rows;
    const std::int64_t id = run.integer(0);
    rows[id].push_back(row_of(run));
    if (!run.is_well_typed()) return not_what_was_written(connection, fmt::format("a row of report {}", id));
  }
}

template <class Row>
std::vector<Row> take_rows(RowsByReport<Row>& rows, std::int64_t id) {
  const auto found = rows.find(id);
  if (found == rows.end()) return {};
  std::vector<Row> taken = std::move(found->second);
  rows.erase(found);
  return taken;
}

StoreResult<void> insert_times(const Connection& connection, std::int64_t id, const ReportRows& report) {
  auto insert = connection.prepare("INSERT INTO report_times VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "add batch times");
  if (!insert) return tl::unexpected(insert.error());
  for (const ObservedTimes& times : report.times) {
    StatementRun row = insert->run();
    row.bind(id).bind(std::string_view(times.model)).bind(std::string_view(times.version));
    row.bind(std::string_view(times.sha256)).bind(std::string_view(times.device)).bind(std::int64_t{times.batch});
    if (auto done = row.bind(times.count).bind(times.sum_us).bind(times.sum_squares).finish(); !done) return done;
  }
  return {};
}

StoreResult<void> insert_memory(const Connection& connection, std::int64_t id, const ReportRows& report) {
  auto insert = connection.prepare("INSERT INTO report_memory VALUES (?, ?, ?, ?)", "add memory");
  if (!insert) return tl::unexpected(insert.error());
  for (const ObservedMemory& memory : report.memory) {
    StatementRun row = insert->run();
    row.bind(id).bind(std::string_view(memory.model)).bind(std::string_view(memory.version));
    if (auto done = row.bind(memory.bytes).finish(); !done) return done;
  }
  return {};
}

}  // namespace

StoreResult<std::vector<ReportRows>> read_reports(const Connection& connection) {
  auto times = read_table<ObservedTimes>(
      connection, "SELECT * FROM report_times ORDER BY report, model, version, sha256, device, batch", times_of);
  if (!times) return tl::unexpected(times.error());
  auto memory =
      read_table<ObservedMemory>(connection, "SELECT * FROM report_memory ORDER BY report, model, version", memory_of);
  if (!memory) return tl::unexpected(memory.error());
  auto select = connection.prepare("SELECT id, url, started_us, at_us, hash FROM reports ORDER BY id", "read reports");
  if (!select) return tl::unexpected(select.error());
  std::vector<ReportRows> reports;
  StatementRun row = select->run();
  while (true) {
    const auto stepped = row.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) break;
    const std::int64_t id = row.integer(0);
    ReportRows report{.url = row.text(1), .started_us = row.integer(2), .at_us = row.integer(3)};
    const Sha256 hash = row.digest(4);
    report.times = take_rows(*times, id);
    report.memory = take_rows(*memory, id);
    const bool is_next = std::cmp_equal(id, reports.size() + 1);
    if (!row.is_well_typed() || !is_next || hash != hash_of(id, report)) {
      return not_what_was_written(connection, fmt::format("report {}", id));
    }
    reports.push_back(std::move(report));
  }
  if (!times->empty() || !memory->empty()) return not_what_was_written(connection, "the table of reports");
  return reports;
}

StoreResult<void> insert_report(const Connection& connection, const ReportRows& report) {
  const auto last = connection.integer("SELECT coalesce(max(id), 0) FROM reports", "read the last report");
  if (!last) return tl::unexpected(last.error());
  const std::int64_t id = *last + 1;
  const Sha256 hash = hash_of(id, report);
  auto insert = connection.prepare("INSERT INTO reports VALUES (?, ?, ?, ?, ?)", "add a report");
  if (!insert) return tl::unexpected(insert.error());
  StatementRun row = insert->run();
  row.bind(id).bind(std::string_view(report.url)).bind(report.started_us).bind(report.at_us);
  if (auto done = row.bind(hash).finish(); !done) return done;
  if (auto done = insert_times(connection, id, report); !done) return done;
  return insert_memory(connection, id, report);
}

}  // namespace berth::edges::detail
