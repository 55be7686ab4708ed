#include "edges/sqlite_store/detail/run_rows.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <optional>
#include <utility>

#include "edges/sqlite_store/detail/profile_tables.h"
#include "live/chain/field_hash.h"

namespace berth::edges::detail {
namespace {

using chain::FieldHash;

constexpr const char* kSelectRuns =
    "SELECT runs.id, started_us, berth_version, label, memory_at_load_bytes, fixed_batch, hash, sha256, name, url, "
    "file_bytes, flops, activation_bytes, parameters, weight_bytes, device, processor, flags, memory_bytes, driver, "
    "engine, threads FROM runs JOIN models ON models.id = model JOIN machines ON machines.id = machine ORDER BY "
    "runs.id";
constexpr const char* kSelectPoints =
    "SELECT run, processes, batch, fits, rows_per_second, mean_us, mean_us_low, mean_us_high, p50_us, p99_us, batches, "
    "is_short, memory_bytes, rate_text, latency_text FROM points ORDER BY run, processes, batch";

void add_real(FieldHash& hash, double value) { hash.add(std::bit_cast<std::int64_t>(value)); }

void add_optional(FieldHash& hash, const std::optional<std::int64_t>& value) {
  hash.add(std::int64_t{value ? 1 : 0}).add(value.value_or(0));
}

Sha256 fingerprint_of(const ProfiledModel& model) {
  FieldHash hash("profiled model 1");
  hash.add(model.sha256).add(model.name).add(model.url).add(model.file_bytes);
  add_optional(hash, model.flops);
  add_optional(hash, model.activation_bytes);
  add_optional(hash, model.parameters);
  add_optional(hash, model.weight_bytes);
  return hash.finish();
}

Sha256 fingerprint_of(const ProfilingMachine& machine) {
  FieldHash hash("profiling machine 1");
  hash.add(machine.device).add(machine.processor).add(machine.flags).add(machine.memory_bytes).add(machine.driver);
  return hash.add(machine.engine).add(std::int64_t{machine.threads}).finish();
}

void add_point(FieldHash& hash, const ProfilePoint& point) {
  hash.add(std::int64_t{point.batch}).add(std::int64_t{point.processes}).add(std::int64_t{point.fits ? 1 : 0});
  for (const double figure :
       {point.rows_per_second, point.mean_us, point.mean_us_low, point.mean_us_high, point.p50_us, point.p99_us}) {
    add_real(hash, figure);
  }
  hash.add(point.batches).add(std::int64_t{point.is_short ? 1 : 0});
  add_optional(hash, point.memory_bytes);
  hash.add(point.rate_text).add(point.latency_text);
}

Sha256 hash_of(const ProfileRun& run) {
  FieldHash hash("profile run 1");
  hash.add(run.id).add(run.started_us).add(run.berth_version).add(run.label);
  hash.add(fingerprint_of(run.model)).add(fingerprint_of(run.machine));
  add_optional(hash, run.memory_at_load_bytes);
  hash.add(std::int64_t{run.fixed_batch}).add(static_cast<std::uint64_t>(run.points.size()));
  for (const ProfilePoint& point : run.points) add_point(hash, point);
  return hash.finish();
}

/// The id of the row with that fingerprint, if there is one.
StoreResult<std::optional<std::int64_t>> find_row(const Connection& connection, const char* sql,
                                                  const Sha256& fingerprint) {
  auto select = connection.prepare(sql, "look for a row");
  if (!select) return tl::unexpected(select.error());
  StatementRun run = select->run();
  const auto stepped = run.bind(fingerprint).step();
  if (!stepped) return tl::unexpected(stepped.error());
  return *stepped ? std::optional(run.integer(0)) : std::nullopt;
}

StoreResult<std::int64_t> model_row(const Connection& connection, const ProfiledModel& model) {
  const Sha256 fingerprint = fingerprint_of(model);
  const auto found = find_row(connection, "SELECT id FROM models WHERE fingerprint = ?", fingerprint);
  if (!found) return tl::unexpected(found.error());
  if (*found) return **found;
  auto insert = connection.prepare("INSERT INTO models VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "add a model");
  if (!insert) return tl::unexpected(insert.error());
  StatementRun run = insert->run();
  run.bind(fingerprint).bind(std::string_view(model.sha256)).bind(std::string_view(model.name));
  run.bind(std::string_view(model.url)).bind(model.file_bytes).bind(model.flops).bind(model.activation_bytes);
  if (auto done = run.bind(model.parameters).bind(model.weight_bytes).finish(); !done) {
    return tl::unexpected(done.error());
  }
  return sqlite3_last_insert_rowid(connection.raw());
}

StoreResult<std::int64_t> machine_row(const Connection& connection, const ProfilingMachine& machine) {
  const Sha256 fingerprint = fingerprint_of(machine);
  const auto found = find_row(connection, "SELECT id FROM machines WHERE fingerprint = ?", fingerprint);
  if (!found) return tl::unexpected(found.error());
  if (*found) return **found;
  auto insert = connection.prepare("INSERT INTO machines VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)", "add a machine");
  if (!insert) return tl::unexpected(insert.error());
  StatementRun run = insert->run();
  run.bind(fingerprint).bind(std::string_view(machine.device)).bind(std::string_view(machine.processor));
  run.bind(std::string_view(machine.flags)).bind(machine.memory_bytes).bind(std::string_view(machine.driver));
  if (auto done = run.bind(std::string_view(machine.engine)).bind(std::int64_t{machine.threads}).finish(); !done) {
    return tl::unexpected(done.error());
  }
  return sqlite3_last_insert_rowid(connection.raw());
}

StoreResult<void> insert_points(const Connection& connection, std::int64_t id, const ProfileRun& run) {
  auto insert =
      connection.prepare("INSERT INTO points VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "add a point");
  if (!insert) return tl::unexpected(insert.error());
  for (const ProfilePoint& point : run.points) {
    StatementRun row = insert->run();
    row.bind(id).bind(std::int64_t{point.processes}).bind(std::int64_t{point.batch});
    row.bind(std::int64_t{point.fits ? 1 : 0}).bind(point.rows_per_second).bind(point.mean_us);
    row.bind(point.mean_us_low).bind(point.mean_us_high).bind(point.p50_us).bind(point.p99_us).bind(point.batches);
    row.bind(std::int64_t{point.is_short ? 1 : 0}).bind(point.memory_bytes);
    row.bind(std::string_view(point.rate_text)).bind(std::string_view(point.latency_text));
    if (auto done = row.finish(); !done) return done;
  }
  return {};
}

/// The number that the next run gets.
StoreResult<std::int64_t> next_run_id(const Connection& connection) {
  const auto last = connection.integer("SELECT coalesce(max(id), 0) FROM runs", "read the last run");
  if (!last) return tl::unexpected(last.error());
  return *last + 1;
}

ProfilePoint point_of(StatementRun& row) {
  return {.batch = static_cast<int>(row.integer(2)),
          .processes = static_cast<int>(row.integer(1)),
          .fits = row.integer(3) == 1,
          .rows_per_second = row.real(4),
          .mean_us = row.real(5),
          .mean_us_low = row.real(6),
          .mean_us_high = row.real(7),
          .p50_us = row.real(8),
          .p99_us = row.real(9),
          .batches = row.integer(10),
          .is_short = row.integer(11) == 1,
          .memory_bytes = row.optional_integer(12),
          .rate_text = row.text(13),
          .latency_text = row.text(14)};
}

ProfileRun run_of(StatementRun& row) {
  ProfileRun run{.id = row.integer(0), .started_us = row.integer(1)};
  run.berth_version = row.text(2);
  run.label = row.text(3);
  run.memory_at_load_bytes = row.optional_integer(4);
  run.fixed_batch = static_cast<int>(row.integer(5));
  run.model = {.name = row.text(8),
               .sha256 = row.text(7),
               .url = row.text(9),
               .file_bytes = row.integer(10),
               .flops = row.optional_integer(11),
               .activation_bytes = row.optional_integer(12),
               .parameters = row.optional_integer(13),
               .weight_bytes = row.optional_integer(14)};
  run.machine = {.device = row.text(15),
                 .processor = row.text(16),
                 .flags = row.text(17),
                 .memory_bytes = row.integer(18),
                 .driver = row.text(19),
                 .engine = row.text(20),
                 .threads = static_cast<int>(row.integer(21))};
  return run;
}

StoreResult<std::map<std::int64_t, std::vector<ProfilePoint>>> read_points(const Connection& connection) {
  auto select = connection.prepare(kSelectPoints, "read the points");
  if (!select) return tl::unexpected(select.error());
  std::map<std::int64_t, std::vector<ProfilePoint>> points;
  StatementRun row = select->run();
  while (true) {
    const auto stepped = row.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) return points;
    const std::int64_t id = row.integer(0);
    points[id].push_back(point_of(row));
    if (!row.is_well_typed()) return not_what_was_written(connection, fmt::format("a point of run {}", id));
  }
}

}  // namespace

StoreResult<std::int64_t> insert_run(const Connection& connection, const ProfileRun& run) {
  const auto model = model_row(connection, run.model);
  if (!model) return tl::unexpected(model.error());
  const auto machine = machine_row(connection, run.machine);
  if (!machine) return tl::unexpected(machine.error());
  const auto id = next_run_id(connection);
  if (!id) return tl::unexpected(id.error());
  auto insert = connection.prepare("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "add a run");
  if (!insert) return tl::unexpected(insert.error());
  ProfileRun numbered = run;
  numbered.id = *id;
  const Sha256 hash = hash_of(numbered);
  StatementRun row = insert->run();
  row.bind(*id).bind(run.started_us).bind(std::string_view(run.berth_version)).bind(std::string_view(run.label));
  row.bind(*model).bind(*machine).bind(run.memory_at_load_bytes).bind(std::int64_t{run.fixed_batch}).bind(hash);
  if (auto done = row.finish(); !done) return tl::unexpected(done.error());
  if (auto done = insert_points(connection, *id, run); !done) return tl::unexpected(done.error());
  return *id;
}

StoreResult<std::vector<ProfileRun>> read_runs(const Connection& connection) {
  auto points = read_points(connection);
  if (!points) return tl::unexpected(points.error());
  auto select = connection.prepare(kSelectRuns, "read the runs");
  if (!select) return tl::unexpected(select.error());
  std::vector<ProfileRun> runs;
  StatementRun row = select->run();
  while (true) {
    const auto stepped = row.step();
    if (!stepped) return tl::unexpected(stepped.error());
    if (!*stepped) break;
    ProfileRun run = run_of(row);
    const Sha256 hash = row.digest(6);
    if (const auto found = points->find(run.id); found != points->end()) run.points = std::move(found->second);
    points->erase(run.id);
    const bool is_next = std::cmp_equal(run.id, runs.size() + 1);
    if (!row.is_well_typed() || !is_next || hash != hash_of(run)) {
      return not_what_was_written(connection, fmt::format("run {}", run.id));
    }
    runs.push_back(std::move(run));
  }
  if (!points->empty()) return not_what_was_written(connection, "the table of runs");
  return runs;
}

}  // namespace berth::edges::detail
