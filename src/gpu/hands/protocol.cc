#include "gpu/hands/protocol.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/fields.h"
#include "base/json/document.h"
#include "base/json/writer.h"
#include "base/yaml/reader.h"
#include "gpu/hands/detail/program_packets.h"

namespace berth::edges {
namespace {

using detail::text_of;
using json::Writer;

constexpr std::size_t kValueCountMax = 8192;
constexpr std::size_t kTextBytesMax = 4096;
constexpr std::size_t kNameBytesMax = 256;   // of programs
constexpr std::size_t kHolderCountMax = 16;  // even with names of control characters, six bytes each, an outcome fits
constexpr std::size_t kInstanceCountMax = 64;
constexpr std::size_t kProcessCountMax = 1024;
constexpr std::int64_t kUnitsMax = 64;
constexpr std::int64_t kUint32Max = UINT32_MAX;

constexpr std::array<std::string_view, 3> kChanges = {"create", "destroy", "mig_mode_on"};
constexpr std::array<std::string_view, 4> kOutcomes = {"done", "failed", "busy", "refused"};

// The fields written and read below: all but DeviceEnd::goes_on, which only the client sets.
static_assert(kFieldCount<DeviceOrder> == 7 && kFieldCount<DeviceEnd> == 12 && kFieldCount<DeviceHolder> == 2);
static_assert(kFieldCount<GpuReading> == 5 && kFieldCount<GpuInstanceSeen> == 5);
static_assert(kFieldCount<ComputeInstanceSeen> == 6 && kFieldCount<GpuProcessSeen> == 6);

// ---- writing

/// At most `bytes_max` bytes, without a partial character at the end.
std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return std::string(text.substr(0, size));
}

void write_holder(Writer& json, const DeviceHolder& holder) {
  json.open_object().member("pid", holder.pid).member("name", shortened(holder.name, kNameBytesMax)).close_object();
}

void write_compute_instance(Writer& json, const ComputeInstanceSeen& part) {
  json.open_object().member("id", part.id).member("start", part.start).member("slices", part.slices);
  json.member("uuid", shortened(part.uuid, kNameBytesMax)).member("is_whole", part.is_whole);
  json.member("memory_mib", part.memory_mib).close_object();
}

void write_instance(Writer& json, const GpuInstanceSeen& instance) {
  json.open_object().member("id", instance.id).member("profile_id", instance.profile_id);
  json.member("start", instance.start).member("length", instance.length);
  json.list("compute_instances", instance.compute_instances, write_compute_instance).close_object();
}

/// Whether the processes of a reading are sent with their names.
enum class Names { kKept, kLeftOut };

void write_process(Writer& json, const GpuProcessSeen& process, Names names) {
  json.open_object().member("pid", process.pid);
  json.member("name", names == Names::kKept ? shortened(process.name, kNameBytesMax) : "");
  if (names == Names::kKept && !process.user.empty()) json.member("user", shortened(process.user, kNameBytesMax));
  json.member("memory_mib", process.memory_mib);
  if (process.gpu_instance) json.member("gpu_instance", *process.gpu_instance);
  if (process.compute_instance) json.member("compute_instance", *process.compute_instance);
  json.close_object();
}

void write_reading(Writer& json, const GpuReading& reading, Names names) {
  json.open_object().member("is_mig_on", reading.is_mig_on).member("is_mig_pending_on", reading.is_mig_pending_on);
  json.member("recovery_action", shortened(reading.recovery_action, kNameBytesMax));
  json.list("instances", reading.instances, write_instance);
  json.list("processes", reading.processes,
            [&](Writer& to, const GpuProcessSeen& process) { write_process(to, process, names); });
  json.close_object();
}

bool fits(const GpuReading& reading) {
  return reading.instances.size() <= kInstanceCountMax && reading.processes.size() <= kProcessCountMax &&
         std::ranges::all_of(reading.instances, [](const GpuInstanceSeen& instance) {
           return instance.compute_instances.size() <= kInstanceCountMax;
         });
}

/// Without its reading.
void put_end(Writer& json, const HandsEnd& packet) {
  const DeviceEnd& end = packet.end;
  json.member("verb", "end").member("intent", end.intent);
  json.member("outcome", kOutcomes[static_cast<std::size_t>(end.outcome)]);
  json.member("message", shortened(end.message, kTextBytesMax));
  json.member("call", shortened(end.call, kNameBytesMax)).member("error", shortened(end.error, kNameBytesMax));
  json.list("holders", end.holders | std::views::take(kHolderCountMax), write_holder);
  json.member("mig_uuid", shortened(end.mig_uuid, kNameBytesMax)).member("memory_mib", end.memory_mib);
  json.member("gpu_instance_us", end.gpu_instance_us).member("compute_instance_us", end.compute_instance_us);
  json.member("is_kept", packet.is_kept);
}

std::string end_without_reading(const HandsEnd& packet) {
  Writer json;
  put_end(json.open_object(), packet);
  return json.close_object().take();
}

/// With its reading if that fits into a packet, perhaps without the names of processes.
std::string text_of(const HandsEnd& packet) {
  if (!packet.end.reading || !fits(*packet.end.reading)) return end_without_reading(packet);
  for (const Names names : {Names::kKept, Names::kLeftOut}) {
    Writer json;
    put_end(json.open_object(), packet);
    write_reading(json.key("reading"), *packet.end.reading, names);
    std::string whole = json.close_object().take();
    if (whole.size() <= kPacketBytesMax) return whole;
  }
  return end_without_reading(packet);
}

std::string text_of(const HandsHello& hello) {
  Writer json;
  json.open_object().member("verb", "hello").member("version", hello.version).member("pid", hello.pid);
  json.list("gpus", hello.gpus, [](Writer& to, const device::ManagedGpu& gpu) {
    to.open_object().member("uuid", gpu.uuid).member("mig_mode", gpu.has_mig_mode).close_object();
  });
  json.member("separate_users", hello.separates_users);
  return json.close_object().take();
}

std::string text_of(const HandsStatus& status) {
  Writer json;
  json.open_object().member("verb", "status");
  json.list("orders", status.orders, [](Writer& to, const HandsStatus::UnderWay& order) {
    to.open_object().member("uuid", order.uuid).member("intent", order.intent);
    to.member("call", shortened(order.call, kNameBytesMax)).close_object();
  });
  return json.close_object().take();
}

std::string text_of(const HandsRefusal& refusal) {
  Writer json;
  json.open_object().member("verb", "refusal").member("message", shortened(refusal.message, kTextBytesMax));
  return json.close_object().take();
}

std::string text_of(const ClientHello& hello) {
  Writer json;
  json.open_object().member("verb", "hello").member("version", hello.version);
  json.member("world", shortened(hello.world, kNameBytesMax)).member("pid", hello.pid);
  return json.close_object().take();
}

std::string text_of(const StatusQuestion& /*question*/) {
  return Writer().open_object().member("verb", "status").close_object().take();
}

std::string text_of(const DeviceOrder& order) {
  Writer json;
  json.open_object().member("verb", "order").member("intent", order.intent);
  json.member("change", kChanges[static_cast<std::size_t>(order.verb)]).member("uuid", order.uuid);
  json.member("profile_id", order.profile_id).member("start", order.start).member("length", order.length);
  return json.member("was_tried", order.was_tried).close_object().take();
}

// ---- reading

std::uint32_t read_uint32(const yaml::Value& value) { return static_cast<std::uint32_t>(value.whole({0, kUint32Max})); }

int read_units(const yaml::Value& value) { return static_cast<int>(value.whole({0, kUnitsMax})); }

std::uint64_t read_intent(const yaml::Value& value) { return static_cast<std::uint64_t>(value.whole({0, INT64_MAX})); }

std::string read_text(const yaml::Value& value, std::size_t bytes_max = kNameBytesMax) {
  std::string text = value.text("a text");
  // An invalid byte became three bytes when written.
  if (text.size() > 3 * bytes_max) value.fail("wanted a shorter text");
  return text;
}

std::vector<yaml::Value> read_list(const yaml::Value& value, std::size_t count_max) {
  std::vector<yaml::Value> items = value.items("a list");
  if (items.size() <= count_max) return items;
  value.fail("wanted a shorter list");
  return {};
}

ClientHello read_client_hello(const yaml::Value& root) {
  ClientHello hello;
  hello.version = root.at("version").whole({});
  if (hello.version != kProtocolVersion) return hello;
  root.check_keys({"verb", "version", "world", "pid"});
  hello.world = read_text(root.at("world"));
  hello.pid = root.at("pid").whole({});
  return hello;
}

DeviceOrder read_order(const yaml::Value& root) {
  root.check_keys({"verb", "intent", "change", "uuid", "profile_id", "start", "length", "was_tried"});
  DeviceOrder order;
  order.intent = read_intent(root.at("intent"));
  order.verb = static_cast<DeviceVerb>(root.at("change").choice(kChanges));
  order.uuid = read_text(root.at("uuid"));
  order.profile_id = read_uint32(root.at("profile_id"));
  order.start = read_units(root.at("start"));
  order.length = read_units(root.at("length"));
  order.was_tried = root.at("was_tried").truth();
  return order;
}

std::vector<DeviceHolder> read_holders(const yaml::Value& value) {
  std::vector<DeviceHolder> holders;
  for (const yaml::Value& item : read_list(value, kHolderCountMax)) {
    item.check_keys({"pid", "name"});
    holders.push_back({.pid = read_uint32(item.at("pid")), .name = read_text(item.at("name"))});
  }
  return holders;
}

GpuInstanceSeen read_instance(const yaml::Value& value) {
  value.check_keys({"id", "profile_id", "start", "length", "compute_instances"});
  GpuInstanceSeen instance{.id = read_uint32(value.at("id")),
                           .profile_id = read_uint32(value.at("profile_id")),
                           .start = read_units(value.at("start")),
                           .length = read_units(value.at("length")),
                           .compute_instances = {}};
  for (const yaml::Value& part : read_list(value.at("compute_instances"), kInstanceCountMax)) {
    part.check_keys({"id", "start", "slices", "uuid", "is_whole", "memory_mib"});
    instance.compute_instances.push_back({.id = read_uint32(part.at("id")),
                                          .start = read_units(part.at("start")),
                                          .slices = read_units(part.at("slices")),
                                          .uuid = read_text(part.at("uuid")),
                                          .is_whole = part.at("is_whole").truth(),
                                          .memory_mib = part.at("memory_mib").whole({})});
  }
  return instance;
}

GpuProcessSeen read_process(const yaml::Value& value) {
  value.check_keys({"pid", "name", "user", "memory_mib", "gpu_instance", "compute_instance"});
  const auto optional_id = [](const yaml::Value& id) {
    return id.is_written() ? std::optional(read_uint32(id)) : std::nullopt;
  };
  return {.pid = read_uint32(value.at("pid")),
          .name = read_text(value.at("name")),
          .memory_mib = value.at("memory_mib").whole({}),
          .gpu_instance = optional_id(value.at("gpu_instance")),
          .compute_instance = optional_id(value.at("compute_instance")),
          .user = value.at("user").is_written() ? read_text(value.at("user")) : std::string()};
}

GpuReading read_reading(const yaml::Value& value) {
  value.check_keys({"is_mig_on", "is_mig_pending_on", "recovery_action", "instances", "processes"});
  GpuReading reading;
  reading.is_mig_on = value.at("is_mig_on").truth();
  reading.is_mig_pending_on = value.at("is_mig_pending_on").truth();
  reading.recovery_action = read_text(value.at("recovery_action"));
  for (const yaml::Value& item : read_list(value.at("instances"), kInstanceCountMax)) {
    reading.instances.push_back(read_instance(item));
  }
  for (const yaml::Value& item : read_list(value.at("processes"), kProcessCountMax)) {
    reading.processes.push_back(read_process(item));
  }
  return reading;
}

HandsEnd read_end(const yaml::Value& root) {
  root.check_keys({"verb", "intent", "outcome", "message", "call", "error", "holders", "mig_uuid", "memory_mib",
                   "gpu_instance_us", "compute_instance_us", "is_kept", "reading"});
  HandsEnd packet;
  DeviceEnd& end = packet.end;
  end.intent = read_intent(root.at("intent"));
  end.outcome = static_cast<DeviceOutcome>(root.at("outcome").choice(kOutcomes));
  end.message = read_text(root.at("message"), kTextBytesMax);
  end.call = read_text(root.at("call"));
  end.error = read_text(root.at("error"));
  end.holders = read_holders(root.at("holders"));
  end.mig_uuid = read_text(root.at("mig_uuid"));
  end.memory_mib = root.at("memory_mib").whole({});
  end.gpu_instance_us = root.at("gpu_instance_us").whole({});
  end.compute_instance_us = root.at("compute_instance_us").whole({});
  packet.is_kept = root.at("is_kept").truth();
  if (const yaml::Value reading = root.at("reading"); reading.is_written()) end.reading = read_reading(reading);
  return packet;
}

HandsHello read_hands_hello(const yaml::Value& root) {
  HandsHello hello;
  hello.version = root.at("version").whole({});
  if (hello.version != kProtocolVersion) return hello;
  root.check_keys({"verb", "version", "pid", "gpus", "separate_users"});
  hello.pid = root.at("pid").whole({});
  for (const yaml::Value& gpu : read_list(root.at("gpus"), kManagedGpuCountMax)) {
    gpu.check_keys({"uuid", "mig_mode"});
    hello.gpus.push_back({.uuid = read_text(gpu.at("uuid")), .has_mig_mode = gpu.at("mig_mode").truth()});
  }
  hello.separates_users = root.at("separate_users").truth();
  return hello;
}

HandsStatus read_status(const yaml::Value& root) {
  root.check_keys({"verb", "orders"});
  HandsStatus status;
  for (const yaml::Value& order : read_list(root.at("orders"), kManagedGpuCountMax)) {
    order.check_keys({"uuid", "intent", "call"});
    status.orders.push_back({.uuid = read_text(order.at("uuid")),
                             .intent = read_intent(order.at("intent")),
                             .call = read_text(order.at("call"))});
  }
  return status;
}

HandsRefusal read_refusal(const yaml::Value& root) {
  root.check_keys({"verb", "message"});
  return {.message = read_text(root.at("message"), kTextBytesMax)};
}

ClientPacket read_by_verb_of_client(const yaml::Value& root) {
  switch (root.at("verb").choice({"hello", "order", "status", "start", "stop", "list", "log"})) {
    case 0:
      return read_client_hello(root);
    case 1:
      return read_order(root);
    case 2:
      root.check_keys({"verb"});
      return StatusQuestion{};
    case 3:
      return detail::read_start_program(root);
    case 4:
      return detail::read_stop_program(root);
    case 5:
      root.check_keys({"verb"});
      return ListPrograms{};
    default:
      return detail::read_log_question(root);
  }
}

HandsPacket read_by_verb_of_hands(const yaml::Value& root) {
  switch (root.at("verb").choice({"hello", "end", "status", "refusal", "program", "listed", "log", "offer"})) {
    case 0:
      return read_hands_hello(root);
    case 1:
      return read_end(root);
    case 2:
      return read_status(root);
    case 3:
      return read_refusal(root);
    case 4:
      return detail::read_program_state(root);
    case 5:
      root.check_keys({"verb"});
      return ProgramsListed{};
    case 6:
      return detail::read_program_log(root);
    default:
      return detail::read_program_offered(root);
  }
}

template <class Packet, class Read>
Result<Packet> read_packet(std::string_view bytes, Read read) {
  constexpr json::Limits kLimits{.text_bytes_max = kPacketBytesMax, .value_count_max = kValueCountMax};
  const auto tree = json::parse_document(bytes, "packet", kLimits);
  if (!tree) return pass_on(tree.error());
  yaml::Report report("packet");
  Packet packet = read(yaml::Value(*tree, report));
  if (report.has_failed()) return pass_on(report.failure());
  return packet;
}

}  // namespace

std::string packet_of(const ClientPacket& packet) {
  return std::visit([](const auto& what) { return text_of(what); }, packet);
}

std::string packet_of(const HandsPacket& packet) {
  std::string text = std::visit([](const auto& what) { return text_of(what); }, packet);
  ENSURE(text.size() <= kPacketBytesMax);
  return text;
}

Result<ClientPacket> read_client_packet(std::string_view bytes) {
  return read_packet<ClientPacket>(bytes, read_by_verb_of_client);
}

Result<HandsPacket> read_hands_packet(std::string_view bytes) {
  return read_packet<HandsPacket>(bytes, read_by_verb_of_hands);
}

}  // namespace berth::edges
