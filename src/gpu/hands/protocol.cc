#include "gpu/hands/protocol.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/fields.h"
#include "base/core/overloaded.h"
#include "base/json/document.h"
#include "base/yaml/reader.h"

namespace berth::edges {
namespace {

using Json = nlohmann::ordered_json;

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
static_assert(kFieldCount<ComputeInstanceSeen> == 6 && kFieldCount<GpuProcessSeen> == 5);

// ---- writing

/// At most `bytes_max` bytes, without a partial character at the end.
std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return std::string(text.substr(0, size));
}

/// Bytes that are not valid UTF-8 are replaced.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const std::vector<DeviceHolder>& holders) {
  Json list = Json::array();
  for (const DeviceHolder& holder : holders) {
    if (list.size() == kHolderCountMax) break;
    list.push_back({{"pid", holder.pid}, {"name", shortened(holder.name, kNameBytesMax)}});
  }
  return list;
}

Json json_of(const GpuInstanceSeen& instance) {
  Json parts = Json::array();
  for (const ComputeInstanceSeen& part : instance.compute_instances) {
    parts.push_back({{"id", part.id},
                     {"start", part.start},
                     {"slices", part.slices},
                     {"uuid", shortened(part.uuid, kNameBytesMax)},
                     {"is_whole", part.is_whole},
                     {"memory_mib", part.memory_mib}});
  }
  return {{"id", instance.id},
          {"profile_id", instance.profile_id},
          {"start", instance.start},
          {"length", instance.length},
          {"compute_instances", std::move(parts)}};
}

Json json_of(const GpuProcessSeen& process) {
  Json json = {
      {"pid", process.pid}, {"name", shortened(process.name, kNameBytesMax)}, {"memory_mib", process.memory_mib}};
  if (process.gpu_instance) json["gpu_instance"] = *process.gpu_instance;
  if (process.compute_instance) json["compute_instance"] = *process.compute_instance;
  return json;
}

Json json_of(const GpuReading& reading) {
  Json instances = Json::array();
  for (const GpuInstanceSeen& instance : reading.instances) instances.push_back(json_of(instance));
  Json processes = Json::array();
  for (const GpuProcessSeen& process : reading.processes) processes.push_back(json_of(process));
  return {{"is_mig_on", reading.is_mig_on},
          {"is_mig_pending_on", reading.is_mig_pending_on},
          {"recovery_action", shortened(reading.recovery_action, kNameBytesMax)},
          {"instances", std::move(instances)},
          {"processes", std::move(processes)}};
}

bool fits(const GpuReading& reading) {
  return reading.instances.size() <= kInstanceCountMax && reading.processes.size() <= kProcessCountMax &&
         std::ranges::all_of(reading.instances, [](const GpuInstanceSeen& instance) {
           return instance.compute_instances.size() <= kInstanceCountMax;
         });
}

Json json_of(const HandsEnd& packet) {
  const DeviceEnd& end = packet.end;
  return {{"verb", "end"},
          {"intent", end.intent},
          {"outcome", kOutcomes[static_cast<std::size_t>(end.outcome)]},
          {"message", shortened(end.message, kTextBytesMax)},
          {"call", shortened(end.call, kNameBytesMax)},
          {"error", shortened(end.error, kNameBytesMax)},
          {"holders", json_of(end.holders)},
          {"mig_uuid", shortened(end.mig_uuid, kNameBytesMax)},
          {"memory_mib", end.memory_mib},
          {"gpu_instance_us", end.gpu_instance_us},
          {"compute_instance_us", end.compute_instance_us},
          {"is_kept", packet.is_kept}};
}

std::string end_text(const HandsEnd& packet) {
  Json json = json_of(packet);
  std::string without = text_of(json);
  if (!packet.end.reading || !fits(*packet.end.reading)) return without;
  json["reading"] = json_of(*packet.end.reading);
  std::string whole = text_of(json);
  if (whole.size() <= kPacketBytesMax) return whole;
  for (Json& process : json["reading"]["processes"]) process["name"] = "";
  whole = text_of(json);
  return whole.size() <= kPacketBytesMax ? whole : without;
}

Json json_of(const HandsHello& hello) {
  Json gpus = Json::array();
  for (const device::ManagedGpu& gpu : hello.gpus) gpus.push_back({{"uuid", gpu.uuid}, {"mig_mode", gpu.has_mig_mode}});
  return {{"verb", "hello"}, {"version", hello.version}, {"pid", hello.pid}, {"gpus", std::move(gpus)}};
}

Json json_of(const HandsStatus& status) {
  Json orders = Json::array();
  for (const HandsStatus::UnderWay& order : status.orders) {
    orders.push_back({{"uuid", order.uuid}, {"intent", order.intent}, {"call", shortened(order.call, kNameBytesMax)}});
  }
  return {{"verb", "status"}, {"orders", std::move(orders)}};
}

Json json_of(const DeviceOrder& order) {
  return {{"verb", "order"},
          {"intent", order.intent},
          {"change", kChanges[static_cast<std::size_t>(order.verb)]},
          {"uuid", order.uuid},
          {"profile_id", order.profile_id},
          {"start", order.start},
          {"length", order.length},
          {"was_tried", order.was_tried}};
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
  value.check_keys({"pid", "name", "memory_mib", "gpu_instance", "compute_instance"});
  const auto optional_id = [](const yaml::Value& id) {
    return id.is_written() ? std::optional(read_uint32(id)) : std::nullopt;
  };
  return {.pid = read_uint32(value.at("pid")),
          .name = read_text(value.at("name")),
          .memory_mib = value.at("memory_mib").whole({}),
          .gpu_instance = optional_id(value.at("gpu_instance")),
          .compute_instance = optional_id(value.at("compute_instance"))};
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
  root.check_keys({"verb", "version", "pid", "gpus"});
  hello.pid = root.at("pid").whole({});
  for (const yaml::Value& gpu : read_list(root.at("gpus"), kManagedGpuCountMax)) {
    gpu.check_keys({"uuid", "mig_mode"});
    hello.gpus.push_back({.uuid = read_text(gpu.at("uuid")), .has_mig_mode = gpu.at("mig_mode").truth()});
  }
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
  switch (root.at("verb").choice({"hello", "order", "status"})) {
    case 0:
      return read_client_hello(root);
    case 1:
      return read_order(root);
    default:
      root.check_keys({"verb"});
      return StatusQuestion{};
  }
}

HandsPacket read_by_verb_of_hands(const yaml::Value& root) {
  switch (root.at("verb").choice({"hello", "end", "status", "refusal"})) {
    case 0:
      return read_hands_hello(root);
    case 1:
      return read_end(root);
    case 2:
      return read_status(root);
    default:
      return read_refusal(root);
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
  return std::visit(Overloaded{
                        [](const ClientHello& hello) {
                          return text_of({{"verb", "hello"},
                                          {"version", hello.version},
                                          {"world", shortened(hello.world, kNameBytesMax)},
                                          {"pid", hello.pid}});
                        },
                        [](const DeviceOrder& order) { return text_of(json_of(order)); },
                        [](const StatusQuestion&) { return text_of({{"verb", "status"}}); },
                    },
                    packet);
}

std::string packet_of(const HandsPacket& packet) {
  std::string text =
      std::visit(Overloaded{
                     [](const HandsHello& hello) { return text_of(json_of(hello)); },
                     [](const HandsEnd& end) { return end_text(end); },
                     [](const HandsStatus& status) { return text_of(json_of(status)); },
                     [](const HandsRefusal& refusal) {
                       return text_of({{"verb", "refusal"}, {"message", shortened(refusal.message, kTextBytesMax)}});
                     },
                 },
                 packet);
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
