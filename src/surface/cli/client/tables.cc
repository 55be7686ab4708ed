#include "surface/cli/client/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/core/ensure.h"
#include "surface/cli/client/node.h"
#include "surface/cli/client/readable.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using Row = std::vector<std::string>;
using yaml::Node;

/// A column of a kind's table.
struct Column {
  std::string heading;
  std::function<std::string(const Node&)> cell;
  bool is_wide = false;    ///< only in the wide table
  std::string needs = {};  ///< a path; the column is shown only if an object has it, as in a world of real GPUs
};

Column text(std::string heading, std::string path, bool is_wide = false) {
  return {std::move(heading), [path = std::move(path)](const Node& object) { return text_cell(object, path); },
          is_wide};
}
Column scheduling() { return {"SCHEDULING", scheduling_cell}; }
Column number(std::string heading, std::string path, bool is_wide = false) {
  return {std::move(heading), [path = std::move(path)](const Node& object) { return number_cell(object, path); },
          is_wide};
}

/// "2/3": the slices that serve, and how many the load of the last minute needs; "2/-" if that is unknown.
std::string slices_cell(const Node& service) {
  const auto serving = std::ranges::count_if(items_at(service, "status.slices"), [](const Node& slice) {
    return text_at(slice, "state").value_or("") == "serving";
  });
  const std::string needed = number_cell(service, "status.needed_slices");
  return fmt::format("{}/{}", serving, needed.empty() ? std::string(kAbsentText) : needed);
}

/// The share of the last minute's requests that were answered in time.
std::string in_time_cell(const Node& service) {
  const auto requests = number_at(service, "status.last_minute.requests");
  const auto in_time = number_at(service, "status.last_minute.in_time");
  return requests && in_time && *requests > 0 ? percent(*in_time / *requests) : "";
}

/// Conditions that do not hold: "FloorMet=False". A service without requests is no news: IN TIME says so.
std::string conditions_cell(const Node& object) {
  std::string cell;
  for (const Node& condition : items_at(object, "status.conditions")) {
    const std::string status = text_at(condition, "status").value_or("Unknown");
    const std::string type = text_at(condition, "type").value_or("");
    const bool is_bad_if_true = type == "CrashLoop" || type == "ProgramRefused";
    if (status == (is_bad_if_true ? "False" : "True") || (type == "InTime" && status == "Unknown")) continue;
    if (!cell.empty()) cell += ',';
    cell += type + "=" + status;
  }
  return cell;
}

/// Why a GPU or a node is lost or closed.
std::string reason_cell(const Node& object) {
  std::string cell;
  for (const char* path :
       {"status.health_reason", "status.scheduling_reason", "status.unprofiled_reason", "status.reason"}) {
    const auto reason = text_at(object, path);
    if (reason && !reason->empty()) cell += (cell.empty() ? "" : "; ") + *reason;
  }
  return cell;
}

std::string labels_cell(const Node& object) {
  const Node* labels = find_node(object, "metadata.labels");
  const auto* map = labels == nullptr ? nullptr : std::get_if<yaml::Map>(&labels->value);
  std::string cell;
  if (map == nullptr) return cell;
  for (const yaml::Entry& entry : *map)
    cell += (cell.empty() ? "" : ",") + entry.key + "=" + text_at(entry.value, "").value_or("");
  return cell;
}

std::string count_cell(const Node& object, std::string_view path) {
  return find_node(object, path) == nullptr ? "" : fmt::format("{}", items_at(object, path).size());
}

std::vector<Column> service_columns() {
  return {text("TENANT", "metadata.namespace"),
          text("NAME", "metadata.name"),
          text("PHASE", "status.phase"),
          {"SERVING", slices_cell},
          {.heading = "LOAD",
           .cell = [](const Node& service) { return load_word(service, "status.load"); },
           .needs = "status.load"},
          number("REQUESTS/MIN", "status.last_minute.requests"),
          {"IN TIME", in_time_cell},
          number("P99 MS", "status.last_minute.latency_p99_ms"),
          number("TARGET MS", "spec.slo.latency_ms"),
          number("P50 MS", "status.last_minute.latency_p50_ms", true),
          number("LATE", "status.last_minute.late", true),
          number("DROPPED", "status.last_minute.dropped", true),
          {"GOODPUT", [](const Node& object) { return share_cell(object, "status.last_minute.goodput"); }, true},
          number("CAPACITY/S", "status.capacity_requests_per_second", true),
          {"AGREED", [](const Node& object) { return share_cell(object, "status.agreed_attainment"); }, true},
          text("VERSION", "metadata.resourceVersion", true),
          {"LABELS", labels_cell, true},
          {"NOT MET", conditions_cell}};
}

/// The UUID by which clients of the driver know a GPU or a slice.
Column wide_uuid() {
  return {.heading = "UUID",
          .cell = [](const Node& object) { return text_cell(object, "status.uuid"); },
          .is_wide = true,
          .needs = "status.uuid"};
}

std::vector<Column> gpu_columns() {
  return {text("NAME", "metadata.name"),
          text("MODEL", "status.model"),
          text("NODE", "status.node"),
          text("HEALTH", "status.health"),
          scheduling(),
          text("UNITS", "status.units"),
          text("HEALTH SINCE", "status.health_since", true),
          text("SCHEDULING SINCE", "status.scheduling_since", true),
          wide_uuid(),
          {"REASON", reason_cell}};
}

std::vector<Column> node_columns() {
  return {text("NAME", "metadata.name"),
          {"GPUS", [](const Node& object) { return count_cell(object, "status.gpus"); }},
          text("HEALTH", "status.health"),
          scheduling(),
          {"REASON", reason_cell}};
}

std::vector<Column> slice_columns() {
  return {text("NAME", "metadata.name"),
          text("GPU", "status.gpu"),
          text("PROFILE", "status.profile"),
          text("START", "status.start"),
          text("STATE", "status.state"),
          text("TENANT", "status.tenant"),
          text("SERVICE", "status.service"),
          text("ROLE", "status.role"),
          text("GENERATION", "status.generation", true),
          wide_uuid()};
}

std::vector<Column> plan_columns() {
  return {text("NAME", "metadata.name"),
          text("PHASE", "status.phase"),
          {"ACTIONS", [](const Node& object) { return count_cell(object, "spec.actions"); }},
          number("OBJECTIVE", "spec.objective"),
          number("BOUND", "spec.bound"),
          {"GAP", [](const Node& object) { return share_cell(object, "spec.gap"); }},
          text("ACTS AT", "spec.acts_at", true),
          text("EXPIRES AT", "spec.expires_at", true),
          number("PROMISED GAIN", "spec.promised_gain", true),
          text("MESSAGE", "status.message")};
}

std::vector<Column> fault_columns() {
  return {text("NAME", "metadata.name"),
          text("KIND", "spec.kind"),
          text("FIRST GPU", "spec.gpu"),
          number("GPUS LEFT", "status.gpus_left"),
          number("ACTIONS LEFT", "status.actions_left"),
          number("SECONDS", "spec.seconds")};
}

/// "service/vision/detector", "gpu/gpu-3": the object of an event under the kind that commands take.
std::string object_cell(const Node& event) {
  std::string kind = text_at(event, "object.kind").value_or("");
  if (kind == "GpuService" || kind == "GpuSlice") kind.erase(0, std::string_view("Gpu").size());
  std::ranges::transform(kind, kind.begin(),
                         [](char c) { return 'A' <= c && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const auto tenant = text_at(event, "object.namespace");
  return kind + "/" + (tenant && kind == word_of(Kind::kService) ? *tenant + "/" : "") +
         text_at(event, "object.name").value_or("");
}

std::vector<Column> event_columns() {
  return {text("EVENT", "sequence"),
          text("TIME", "time", true),
          text("KIND", "kind"),
          {"OBJECT", object_cell},
          text("MESSAGE", "message")};
}

/// "A100-80GB 3g.40gb x1.3 (214)": the factor that plans count on, the measured one where it differs from it, and by
/// how many batches.
std::string speeds_cell(const Node& object) {
  std::string cell;
  for (const Node& place : items_at(object, "status.speeds")) {
    const std::string factor = number_cell(place, "factor");
    const std::string measured = number_cell(place, "measured");
    if (!cell.empty()) cell += "; ";
    cell += fmt::format("{} {} x{}", text_cell(place, "gpu_model"), text_cell(place, "profile"), factor);
    if (!measured.empty() && measured != factor) cell += fmt::format(", measured x{}", measured);
    if (const std::string batches = number_cell(place, "batches"); !batches.empty()) cell += " by " + batches;
  }
  return cell;
}

std::vector<Column> calibration_columns() {
  return {text("TENANT", "metadata.namespace"),
          text("NAME", "metadata.name"),
          number("FORECASTS", "status.forecasts.judged"),
          {"IN 80%", [](const Node& object) { return share_cell(object, "status.forecasts.inside_80"); }},
          {"IN 95%", [](const Node& object) { return share_cell(object, "status.forecasts.inside_95"); }},
          {"TIME OF BATCHES / TABLE", speeds_cell}};
}

/// "$0.0123".
std::string idle_cost_cell(const Node& object) {
  const std::optional<double> micro_usd = number_at(object, "status.idle_micro_usd");
  return micro_usd ? fmt::format("${:.4f}", *micro_usd / 1e6) : "";
}

std::vector<Column> warm_columns() {
  return {text("TENANT", "metadata.namespace"),
          text("NAME", "metadata.name"),
          text("PHASE", "status.phase"),
          number("SLICES", "status.slices"),
          text("NEXT EXPECTED", "status.expected_next"),
          {"IDLE COST", idle_cost_cell},
          number("COLD STARTS", "status.cold_starts"),
          number("PRELOADS", "status.preloads"),
          number("HITS", "status.hits"),
          text("REASON", "status.reason")};
}

std::vector<Column> columns_of(Kind kind) {
  switch (kind) {
    case Kind::kTenant:
      return {text("NAME", "metadata.name"),
              text("VERSION", "metadata.resourceVersion", true),
              {"LABELS", labels_cell, true}};
    case Kind::kService:
      return service_columns();
    case Kind::kNode:
      return node_columns();
    case Kind::kGpu:
      return gpu_columns();
    case Kind::kSlice:
      return slice_columns();
    case Kind::kPlan:
      return plan_columns();
    case Kind::kFault:
      return fault_columns();
    case Kind::kEvent:
      return event_columns();
    case Kind::kCalibration:
      return calibration_columns();
    case Kind::kWarm:
      return warm_columns();
  }
  return {};
}

/// Where objects of a kind have the time from which their age counts; empty: they have none worth showing.
std::string since_path(Kind kind) {
  switch (kind) {
    case Kind::kTenant:
    case Kind::kService:
    case Kind::kSlice:
    case Kind::kFault:
      return "metadata.creationTimestamp";
    case Kind::kPlan:
      return "spec.made_at";
    case Kind::kEvent:
      return "time";
    case Kind::kNode:
    case Kind::kGpu:
    case Kind::kCalibration:
    case Kind::kWarm:
      return "";
  }
  return "";
}

constexpr const char* kAge = "AGE";

/// Adds the age, before a last column of free text.
void add_age(std::vector<Column>& columns, Kind kind, const std::optional<std::string>& now) {
  const std::string path = since_path(kind);
  if (path.empty()) return;
  const bool ends_in_text = kind == Kind::kService || kind == Kind::kPlan || kind == Kind::kEvent;
  columns.insert(columns.end() - (ends_in_text ? 1 : 0), {.heading = kAge, .cell = [path, now](const Node& object) {
                                                            return age_text(text_at(object, path), now).value_or("");
                                                          }});
}

}  // namespace

std::string columns_text(const std::vector<std::string>& headings, const std::vector<Row>& rows) {
  std::vector<Row> lines = {headings};
  for (const Row& row : rows) {
    ENSURE(row.size() == headings.size());
    Row& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(cell.empty() ? std::string(kAbsentText) : printable(cell));
  }
  std::string text;
  for (const std::string& line : aligned(lines, {.gap = kColumnGap, .is_all_to_left = true})) text += line + "\n";
  return text;
}

bool has_age(Kind kind) { return !since_path(kind).empty(); }

ObjectRows object_rows(Kind kind, const std::vector<Node>& objects, const TableView& view) {
  std::vector<Column> columns = columns_of(kind);
  add_age(columns, kind, view.now);
  if (!view.is_wide) std::erase_if(columns, [](const Column& column) { return column.is_wide; });
  std::erase_if(columns, [&](const Column& column) {
    return !column.needs.empty() &&
           std::ranges::none_of(objects, [&](const Node& each) { return find_node(each, column.needs) != nullptr; });
  });
  ObjectRows result;
  for (const Column& column : columns) {
    if (column.heading == kAge) result.age_column = result.headings.size();
    result.headings.push_back(column.heading);
  }
  for (const Node& object : objects) {
    Row& row = result.rows.emplace_back();
    for (const Column& column : columns) row.push_back(column.cell(object));
  }
  return result;
}

std::string objects_table(Kind kind, const std::vector<Node>& objects, const TableView& view) {
  const ObjectRows table = object_rows(kind, objects, view);
  return columns_text(table.headings, table.rows);
}

std::string maps_table(const yaml::List& maps) {
  std::vector<std::string> keys;
  for (const Node& item : maps) {
    const auto* map = std::get_if<yaml::Map>(&item.value);
    if (map == nullptr) continue;
    for (const yaml::Entry& entry : *map) {
      if (std::ranges::find(keys, entry.key) == keys.end()) keys.push_back(entry.key);
    }
  }
  if (keys.empty()) return "";
  std::vector<Row> rows;
  for (const Node& item : maps) {
    Row& row = rows.emplace_back();
    for (const std::string& key : keys) {
      const Node* value = find_node(item, key);
      row.push_back(value == nullptr ? "" : readable(*value));
    }
  }
  Row headings;
  for (const std::string& key : keys) {
    std::string& heading = headings.emplace_back(printable(key));
    for (char& c : heading) c = c == '_' ? ' ' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return columns_text(headings, rows);
}

std::string text_cell(const Node& object, std::string_view path) {
  const Node* value = find_node(object, path);
  return value == nullptr || !std::holds_alternative<yaml::Scalar>(value->value) ? "" : readable(*value);
}

std::string scheduling_cell(const Node& object) {
  return text_at(object, "status.drained") == "true" ? "drained" : text_cell(object, "status.scheduling");
}

std::string number_text(double value) {
  constexpr double kWholeMax = 1e15;
  const bool is_whole = std::floor(value) == value && std::abs(value) < kWholeMax;
  return is_whole ? with_separators(static_cast<std::int64_t>(value)) : significant(value);
}

std::string number_cell(const Node& object, std::string_view path) {
  const auto value = number_at(object, path);
  return value ? number_text(*value) : "";
}

std::string share_cell(const Node& object, std::string_view path) {
  const auto value = number_at(object, path);
  return value ? percent(*value) : "";
}

std::string load_word(const Node& object, std::string_view path) {
  const std::string load = text_cell(object, path);
  return load.empty() ? "unknown" : load;
}

}  // namespace berth::cli
