#include "gpu/programs/program_record.h"

#include <algorithm>

#include "base/core/fields.h"
#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/writer.h"
#include "base/yaml/reader.h"

namespace berth::programs {
namespace {

using json::Writer;

constexpr std::size_t kRecordBytesMax = std::size_t{1} << 20U;
constexpr std::size_t kRecordValuesMax = 4096;

static_assert(kFieldCount<ProcessOrder> == 6 && kFieldCount<ProgramStart> == 7 && kFieldCount<ProgramRecord> == 14);
static_assert(kFieldCount<ProcessIdentity> == 2 && kFieldCount<RunRecord> == 3 && kFieldCount<EndRecord> == 2);

template <class Record, class Read>
Result<Record> read_record(std::string_view text, const std::string& path, const Read& read) {
  constexpr json::Limits kLimits{.text_bytes_max = kRecordBytesMax, .value_count_max = kRecordValuesMax};
  const auto tree = json::parse_document(text, path, kLimits);
  if (!tree) return pass_on(tree.error());
  yaml::Report report(path);
  Record record = read(yaml::Value(*tree, report));
  if (report.has_failed()) return pass_on(report.failure());
  return record;
}

void write_order(Writer& json, const ProcessOrder& order) {
  json.open_object().member("template", order.template_name).open_object("parameters");
  for (const auto& [name, value] : order.parameters) json.member(name, value);
  json.close_object().member("tenant", order.tenant).member("slice", order.slice);
  json.member("generation", order.generation).member("device", order.device_uuid).close_object();
}

ProcessOrder read_record_order(const yaml::Value& value) {
  value.check_keys({"template", "parameters", "tenant", "slice", "generation", "device"});
  ProcessOrder order;
  order.template_name = value.at("template").text("a text");
  const yaml::Value parameters = value.at("parameters");
  for (const std::string& name : parameters.keys()) order.parameters.emplace(name, parameters.at(name).text("a text"));
  order.tenant = value.at("tenant").text("a text");
  order.slice = value.at("slice").text("a text");
  order.generation = static_cast<std::uint64_t>(value.at("generation").whole({}));
  order.device_uuid = value.at("device").text("a text");
  return order;
}

void write_start(Writer& json, const ProgramStart& start) {
  json.open_object().list("words", start.words).list("environment", start.environment);
  json.member("is_serve", start.is_serve);
  if (start.uid) json.member("uid", *start.uid);
  if (start.memory_mib) json.member("memory_mib", *start.memory_mib);
  if (start.file_mib) json.member("file_mib", *start.file_mib);
  json.member("files_max", start.files_max).close_object();
}

std::vector<std::string> read_texts(const yaml::Value& value) {
  std::vector<std::string> texts;
  for (const yaml::Value& item : value.items("a list of texts")) texts.push_back(item.text("a text"));
  return texts;
}

ProgramStart read_start(const yaml::Value& value) {
  value.check_keys({"words", "environment", "is_serve", "uid", "memory_mib", "file_mib", "files_max"});
  ProgramStart start;
  start.words = read_texts(value.at("words"));
  start.environment = read_texts(value.at("environment"));
  start.is_serve = value.at("is_serve").truth();
  if (const yaml::Value uid = value.at("uid"); uid.is_written()) start.uid = uid.whole({1, UINT32_MAX});
  if (const yaml::Value memory = value.at("memory_mib"); memory.is_written())
    start.memory_mib = memory.whole({1, INT64_MAX});
  if (const yaml::Value size = value.at("file_mib"); size.is_written()) start.file_mib = size.whole({1, INT64_MAX});
  start.files_max = value.at("files_max").whole({});
  return start;
}

/// Records of earlier versions have none.
void read_failures(const yaml::Value& root, ProgramRecord& record) {
  if (const yaml::Value failures = root.at("failures_us"); failures.is_written()) {
    for (const yaml::Value& each : failures.items("a list of times")) record.failures_us.push_back(each.whole({}));
  }
  if (const yaml::Value pause = root.at("pause_us"); pause.is_written()) record.pause_us = pause.whole({});
  if (const yaml::Value start = root.at("failed_start"); start.is_written()) record.failed_start = start.whole({});
}

void write_identity(Writer& json, const ProcessIdentity& identity) {
  json.open_object().member("pid", identity.pid).member("started", identity.started).close_object();
}

ProcessIdentity read_identity(const yaml::Value& value) {
  value.check_keys({"pid", "started"});
  return {.pid = value.at("pid").whole({1, INT32_MAX}),
          .started = static_cast<std::uint64_t>(value.at("started").whole({}))};
}

}  // namespace

std::string text_of(const ProgramRecord& record) {
  Writer json;
  json.open_object();
  write_order(json.key("order"), record.order);
  json.member("is_wanted", record.is_wanted).member("starts", record.starts).member("port", record.port);
  json.member("key", record.key).member("ready", record.ready);
  if (record.start_time) json.member("start_time_us", record.start_time->count());
  json.member("ready_seconds", record.ready_seconds).member("drain_seconds", record.drain_seconds);
  json.member("in_flight_max", record.in_flight_max);
  write_start(json.key("start"), record.start);
  json.list("failures_us", record.failures_us).member("pause_us", record.pause_us);
  json.member("failed_start", record.failed_start);
  return json.close_object().take_line();
}

std::string text_of(const RunRecord& record) {
  Writer json;
  json.open_object().member("start_number", record.start_number);
  write_identity(json.key("keeper"), record.keeper);
  write_identity(json.key("program"), record.program);
  return json.close_object().take_line();
}

std::string text_of(const EndRecord& record) {
  Writer json;
  json.open_object().member("start_number", record.start_number).member("how", record.how);
  return json.close_object().take_line();
}

Result<ProgramRecord> read_program_record(std::string_view text, const std::string& path) {
  return read_record<ProgramRecord>(text, path, [](const yaml::Value& root) {
    root.check_keys({"order", "is_wanted", "starts", "port", "key", "ready", "start_time_us", "ready_seconds",
                     "drain_seconds", "in_flight_max", "start", "failures_us", "pause_us", "failed_start"});
    ProgramRecord record;
    record.order = read_record_order(root.at("order"));
    record.is_wanted = root.at("is_wanted").truth();
    record.starts = root.at("starts").whole({});
    record.port = static_cast<int>(root.at("port").whole({0, UINT16_MAX}));
    record.key = root.at("key").text("a text");
    record.ready = root.at("ready").text("a text");
    if (const yaml::Value time = root.at("start_time_us"); time.is_written())
      record.start_time = Micros(time.whole({}));
    record.ready_seconds = root.at("ready_seconds").whole({});
    record.drain_seconds = root.at("drain_seconds").whole({});
    record.in_flight_max = root.at("in_flight_max").whole({});
    record.start = read_start(root.at("start"));
    read_failures(root, record);
    return record;
  });
}

Result<RunRecord> read_run_record(std::string_view text, const std::string& path) {
  return read_record<RunRecord>(text, path, [](const yaml::Value& root) {
    root.check_keys({"start_number", "keeper", "program"});
    return RunRecord{.start_number = root.at("start_number").whole({}),
                     .keeper = read_identity(root.at("keeper")),
                     .program = read_identity(root.at("program"))};
  });
}

Result<EndRecord> read_end_record(std::string_view text, const std::string& path) {
  return read_record<EndRecord>(text, path, [](const yaml::Value& root) {
    root.check_keys({"start_number", "how"});
    return EndRecord{.start_number = root.at("start_number").whole({}), .how = root.at("how").text("a text")};
  });
}

std::optional<std::uint64_t> start_time_in_stat(std::string_view stat) {
  constexpr int kFieldsBefore = 19;  // between the state, field 3, and the start time, field 22
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = stat.substr(name_end + 2);
  for (int i = 0; i < kFieldsBefore; ++i) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  const auto ticks = parse_count(rest.substr(0, rest.find_first_of(" \n")), INT64_MAX);
  return ticks ? std::optional(static_cast<std::uint64_t>(*ticks)) : std::nullopt;
}

std::string last_lines(std::string_view log, std::size_t bytes_max) {
  if (log.size() > bytes_max) {
    log.remove_prefix(log.size() - bytes_max);
    const std::size_t line_end = log.find('\n');
    if (line_end != std::string_view::npos && line_end + 1 < log.size()) log.remove_prefix(line_end + 1);
  }
  while (!log.empty() && log.back() == '\n') log.remove_suffix(1);
  std::string text;
  for (const char byte : log) {
    const bool is_shown =
        (byte >= ' ' && byte != '\x7f') || byte == '\n' || byte == '\t' || static_cast<signed char>(byte) < 0;
    text += is_shown ? byte : '?';
  }
  return text;
}

}  // namespace berth::programs
