#include "surface/cli/profile/show_run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "base/json/value.h"
#include "domain/profile_book/point_text.h"
#include "surface/cli/profile/book_json.h"
#include "surface/cli/profile/book_words.h"
#include "surface/cli/profile/read_book.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/optimize_words.h"

namespace berth::cli {
namespace {

using profile_book::ModelInForce;
using profile_book::PlaceInForce;
using profile_book::PointInForce;

std::string if_measured(double micros) {
  return micros > 0 ? figures::duration_text(micros) : std::string(kAbsentText);
}

std::string bytes_cell(const std::optional<std::int64_t>& bytes) { return shown(bytes, figures::bytes_text); }

std::string interval_cell(const ProfilePoint& point) {
  if (!point.rate_text.empty() || point.mean_us <= 0) return std::string(kAbsentText);
  return fmt::format("{} to {}", figures::duration_text(point.mean_us_low), figures::duration_text(point.mean_us_high));
}

std::vector<std::string> point_headings() {
  return {"batch", "processes", "rows/s", "mean", "95 % interval", "p50", "p99", "batches", "memory"};
}

std::vector<std::string> measured_cells(const ProfilePoint& point) {
  std::vector<std::string> cells = {fmt::format("{}", point.batch), fmt::format("{}", point.processes)};
  const bool has_times = point.fits && point.mean_us > 0;
  cells.push_back(has_times ? (point.rate_text.empty() ? significant(point.rows_per_second) : point.rate_text)
                            : std::string(kAbsentText));
  cells.push_back(has_times ? measured_latency_words(point) : std::string(kAbsentText));
  cells.push_back(interval_cell(point));
  cells.push_back(if_measured(point.p50_us));
  cells.push_back(if_measured(point.p99_us));
  cells.push_back(point.batches > 0 ? with_separators(point.batches) : std::string(kAbsentText));
  cells.push_back(bytes_cell(point.memory_bytes));
  return cells;
}

std::string remark_on(const ProfilePoint& point) {
  if (!point.fits) return "does not fit";
  if (!point.rate_text.empty()) return "imported";
  return point.is_short ? "interval wider than 2 %" : "";
}

std::string remark_on(const PointInForce& point) {
  if (point.is_drift()) return "drift";
  if (point.is_replaced()) return "replaced by what was observed";
  return point.run == 0 ? "only observed" : remark_on(point.measured);
}

std::string place_text(const PlaceInForce& place, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {point_headings()};
  rows.front().insert(rows.front().end(), {"observed", "batches", ""});
  for (const PointInForce& point : place.points) {
    std::vector<std::string> row = measured_cells(point.measured);
    row.push_back(point.observed ? figures::duration_text(point.observed->mean_us) : std::string(kAbsentText));
    row.push_back(point.observed ? with_separators(point.observed->count) : std::string(kAbsentText));
    row.push_back(remark_on(point));
    rows.push_back(std::move(row));
  }
  std::string text = fmt::format("\n{}", place_words(place.label, place.machine));
  if (!place.machine.engine.empty()) text += ", " + printable(place.machine.engine);
  if (!place.machine.processor.empty()) text += ", " + printable(place.machine.processor);
  if (place.memory_at_load_bytes) text += ", " + figures::bytes_text(*place.memory_at_load_bytes) + " at load";
  return text + "\n" + styled_table(rows, has_colour);
}

std::string run_text(const ProfileRun& run, bool has_colour) {
  std::vector<std::vector<std::string>> rows = {point_headings()};
  rows.front().emplace_back("");
  for (const ProfilePoint& point : run.points) {
    rows.push_back(measured_cells(point));
    rows.back().push_back(remark_on(point));
  }
  return fmt::format("\nrun {}, {}, berth {}: {}{}\n{}", run.id, minute_text(run.started_us),
                     printable(run.berth_version), place_words(run.label, run.machine),
                     run.fixed_batch == 0 ? "" : fmt::format(", only batch {}", run.fixed_batch),
                     styled_table(rows, has_colour));
}

std::string count_words(const std::optional<std::int64_t>& count) { return shown(count, with_separators); }

std::string model_text(const ModelInForce& model, const ProfileBook& book) {
  const ProfiledModel& known = model.model;
  std::string text = printable(model.name) + "\n";
  if (!known.sha256.empty())
    text += fmt::format("sha256 {}, {}\n", known.sha256, figures::bytes_text(known.file_bytes));
  if (!known.url.empty()) text += printable(known.url) + "\n";
  text +=
      fmt::format("FLOPs per row {}, activations {}, parameters {}, weights {}\n", count_words(known.flops),
                  bytes_cell(known.activation_bytes), count_words(known.parameters), bytes_cell(known.weight_bytes));
  for (const ObservedMemorySum& sum : book.memory) {
    if (sum.memory.model != model.name) continue;
    text += fmt::format("memory of version {} at {}: {} on {}\n", printable(sum.memory.version), printable(sum.url),
                        figures::bytes_text(sum.memory.bytes), minute_text(sum.last_us));
  }
  return text;
}

std::string show_table(const ModelInForce& model, const ProfileBook& book, bool has_history, bool has_colour) {
  std::string text = model_text(model, book);
  for (const PlaceInForce& place : model.places) {
    text += place_text(place, has_colour);
    for (const PointInForce& point : place.points) {
      if (point.is_drift()) text += drift_line(model.name, place, point) + "\n";
    }
  }
  if (!has_history) return text;
  for (const ProfileRun& run : book.runs) {
    if (run.model.name == model.name) text += run_text(run, has_colour);
  }
  return text;
}

std::string show_json(const ModelInForce& model, const ProfileBook& book, bool has_history) {
  json::Value::List memory;
  for (const ObservedMemorySum& sum : book.memory) {
    if (sum.memory.model != model.name) continue;
    memory.push_back(json::Value::Object{
        {"url", sum.url}, {"version", sum.memory.version}, {"bytes", sum.memory.bytes}, {"at_us", sum.last_us}});
  }
  json::Value::Object object{{"berth", 1}, {"model", model_json(model)}, {"observed_memory", std::move(memory)}};
  if (has_history) {
    json::Value::List runs;
    for (const ProfileRun& run : book.runs) {
      if (run.model.name == model.name) runs.push_back(run_json(run));
    }
    object.emplace_back("runs", std::move(runs));
  }
  return json::Value(std::move(object)).to_line();
}

}  // namespace

Result<std::string> run_show_profile(const ShowProfileRequest& request, const VerbContext& context) {
  const auto book = read_profile_book(request.db);
  if (!book) return pass_on(book.error());
  const auto model = find_profiled(*book, request.db, request.name);
  if (!model) return pass_on(model.error());
  if (request.format == OutputFormat::kJson) return show_json(*model, *book, request.has_history);
  return show_table(*model, *book, request.has_history, context.has_colour());
}

}  // namespace berth::cli
