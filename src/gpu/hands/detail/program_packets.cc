#include "gpu/hands/detail/program_packets.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/core/fields.h"
#include "base/json/writer.h"

namespace berth::edges::detail {
namespace {

using json::Writer;

constexpr std::size_t kProgramTextMax = 256;  // of names, values of parameters, keys
constexpr std::size_t kReportMessageMax = 4096;
constexpr std::size_t kProgramParametersMax = 16;
constexpr std::array<std::string_view, 5> kPhases = {"starting", "ready", "draining", "stopped", "failed"};

static_assert(kFieldCount<ProcessOrder> == 6 && kFieldCount<ProcessReport> == 13);

/// The first bytes, without a partial character at the end.
std::string first_bytes(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return std::string(text.substr(0, size));
}

std::string read_program_text(const yaml::Value& value, std::size_t bytes_max = kProgramTextMax) {
  std::string text = value.text("a text");
  if (text.size() > 3 * bytes_max) value.fail("wanted a shorter text");  // an invalid byte became three
  return text;
}

std::uint64_t read_generation(const yaml::Value& value) {
  return static_cast<std::uint64_t>(value.whole({0, INT64_MAX}));
}

void put_program_order(Writer& json, const ProcessOrder& order) {
  json.member("template", first_bytes(order.template_name, kProgramTextMax)).open_object("parameters");
  std::size_t count = 0;
  for (const auto& [name, value] : order.parameters) {
    if (++count > kProgramParametersMax) break;
    json.member(first_bytes(name, kProgramTextMax), first_bytes(value, kProgramTextMax));
  }
  json.close_object().member("tenant", first_bytes(order.tenant, kProgramTextMax));
  json.member("slice", first_bytes(order.slice, kProgramTextMax)).member("generation", order.generation);
  json.member("device", first_bytes(order.device_uuid, kProgramTextMax));
}

std::map<std::string, std::string> read_texts_by_name(const yaml::Value& map) {
  std::map<std::string, std::string> texts;
  if (!map.is_map()) map.refuse("a map");
  const auto names = map.keys();
  if (names.size() > kProgramParametersMax) map.fail("wanted fewer parameters");
  for (const std::string& name : names) {
    if (name.size() > 3 * kProgramTextMax) map.fail("wanted a shorter name");
    texts.emplace(name, read_program_text(map.at(name)));
  }
  return texts;
}

ProcessOrder read_program_order(const yaml::Value& root) {
  ProcessOrder order;
  order.template_name = read_program_text(root.at("template"));
  order.parameters = read_texts_by_name(root.at("parameters"));
  order.tenant = read_program_text(root.at("tenant"));
  order.slice = read_program_text(root.at("slice"));
  order.generation = read_generation(root.at("generation"));
  order.device_uuid = read_program_text(root.at("device"));
  return order;
}

}  // namespace

std::string text_of(const StartProgram& packet) {
  Writer json;
  json.open_object().member("verb", "start");
  put_program_order(json, packet.order);
  return json.close_object().take();
}

std::string text_of(const StopProgram& packet) {
  Writer json;
  json.open_object().member("verb", "stop").member("slice", first_bytes(packet.slice, kProgramTextMax));
  return json.member("generation", packet.generation).close_object().take();
}

std::string text_of(const ListPrograms& /*packet*/) {
  return Writer().open_object().member("verb", "list").close_object().take();
}

std::string text_of(const ReadProgramLog& packet) {
  Writer json;
  json.open_object().member("verb", "log").member("slice", first_bytes(packet.slice, kProgramTextMax));
  return json.member("generation", packet.generation).member("bytes_max", packet.bytes_max).close_object().take();
}

std::string text_of(const ProgramState& packet) {
  const ProcessReport& report = packet.report;
  Writer json;
  json.open_object().member("verb", "program");
  put_program_order(json, report.order);
  json.member("phase", kPhases[static_cast<std::size_t>(report.phase)]).member("pid", report.pid);
  json.member("port", report.port).member("key", first_bytes(report.key, kProgramTextMax));
  if (report.uid) json.member("uid", *report.uid);
  json.member("in_flight_max", report.in_flight_max).member("drain_us", report.drain.count());
  if (report.start_time) json.member("start_time_us", report.start_time->count());
  json.member("starts", report.starts).member("failures", report.failures).member("is_looping", report.is_looping);
  return json.member("message", first_bytes(report.message, kReportMessageMax)).close_object().take();
}

std::string text_of(const ProgramsListed& /*packet*/) {
  return Writer().open_object().member("verb", "listed").close_object().take();
}

std::string text_of(const ProgramLog& packet) {
  std::string_view text = packet.text ? std::string_view(*packet.text) : std::string_view();
  while (true) {
    Writer json;
    json.open_object().member("verb", "log").member("slice", first_bytes(packet.slice, kProgramTextMax));
    json.member("generation", packet.generation);
    if (packet.text) json.member("text", text);
    std::string written = json.close_object().take();
    if (written.size() <= kPacketBytesMax) return written;
    text.remove_prefix(text.size() / 2);
    while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U) text.remove_prefix(1);
  }
}

std::string text_of(const ProgramOffered& packet) {
  const programs::ProgramOffer& offer = packet.offer;
  Writer json;
  json.open_object().member("verb", "offer").member("is_repository", offer.is_repository).member("name", offer.name);
  json.list("tenants", offer.tenants).open_object("parameters");
  for (const auto& [name, expression] : offer.parameters) json.member(name, expression);
  return json.close_object().close_object().take();
}

StartProgram read_start_program(const yaml::Value& root) {
  root.check_keys({"verb", "template", "parameters", "tenant", "slice", "generation", "device"});
  return {.order = read_program_order(root)};
}

StopProgram read_stop_program(const yaml::Value& root) {
  root.check_keys({"verb", "slice", "generation"});
  return {.slice = read_program_text(root.at("slice")), .generation = read_generation(root.at("generation"))};
}

ReadProgramLog read_log_question(const yaml::Value& root) {
  root.check_keys({"verb", "slice", "generation", "bytes_max"});
  return {.slice = read_program_text(root.at("slice")),
          .generation = read_generation(root.at("generation")),
          .bytes_max = root.at("bytes_max").whole({0, static_cast<std::int64_t>(kPacketBytesMax)})};
}

ProgramState read_program_state(const yaml::Value& root) {
  root.check_keys({"verb", "template", "parameters", "tenant", "slice", "generation", "device", "phase", "pid", "port",
                   "key", "uid", "in_flight_max", "drain_us", "start_time_us", "starts", "failures", "is_looping",
                   "message"});
  ProcessReport report{.order = read_program_order(root)};
  report.phase = static_cast<ProcessPhase>(root.at("phase").choice(kPhases));
  report.pid = root.at("pid").whole({0, INT32_MAX});
  report.port = static_cast<int>(root.at("port").whole({0, UINT16_MAX}));
  report.key = read_program_text(root.at("key"));
  if (const yaml::Value uid = root.at("uid"); uid.is_written()) report.uid = uid.whole({0, UINT32_MAX});
  report.in_flight_max = root.at("in_flight_max").whole({});
  report.drain = Micros(root.at("drain_us").whole({}));
  if (const yaml::Value time = root.at("start_time_us"); time.is_written()) report.start_time = Micros(time.whole({}));
  report.starts = root.at("starts").whole({});
  report.failures = root.at("failures").whole({});
  report.is_looping = root.at("is_looping").truth();
  report.message = read_program_text(root.at("message"), kReportMessageMax);
  return {.report = std::move(report)};
}

ProgramLog read_program_log(const yaml::Value& root) {
  root.check_keys({"verb", "slice", "generation", "text"});
  ProgramLog log{.slice = read_program_text(root.at("slice")), .generation = read_generation(root.at("generation"))};
  if (const yaml::Value text = root.at("text"); text.is_written()) log.text = text.text("a text");
  return log;
}

ProgramOffered read_program_offered(const yaml::Value& root) {
  root.check_keys({"verb", "is_repository", "name", "tenants", "parameters"});
  programs::ProgramOffer offer{.is_repository = root.at("is_repository").truth(),
                               .name = read_program_text(root.at("name"))};
  for (const yaml::Value& tenant : root.at("tenants").items("a list"))
    offer.tenants.push_back(read_program_text(tenant));
  offer.parameters = read_texts_by_name(root.at("parameters"));
  return {.offer = std::move(offer)};
}

}  // namespace berth::edges::detail
