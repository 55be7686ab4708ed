#include "gpu/hands/protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gpu/hands/plain_end.h"

namespace berth::edges {
namespace {

DeviceOrder an_order() {
  return {.intent = 17,
          .verb = DeviceVerb::kDestroy,
          .uuid = "GPU-88af9caf-d226-5142-8ecd-1887494bf67c",
          .profile_id = 19,
          .start = 6,
          .length = 1,
          .was_tried = true};
}

ProcessOrder a_program_order() {
  return {.template_name = "serve",
          .parameters = {{"model", "digits"}, {"repository", "demo"}},
          .tenant = "vision",
          .slice = "gpu-0-1g.10gb-1",
          .generation = 9,
          .device_uuid = "MIG-1"};
}

ProcessReport a_program_report() {
  return {.order = a_program_order(),
          .phase = ProcessPhase::kFailed,
          .pid = 5,
          .port = 8000,
          .key = "00ff",
          .in_flight_max = 7,
          .drain = Micros::seconds(30),
          .start_time = Micros(12'345),
          .starts = 3,
          .failures = 2,
          .is_looping = true,
          .message = "ended with status 1: no \"room\""};
}

/// Every field differs from its default.
DeviceEnd an_end() {
  GpuReading reading;
  reading.is_mig_on = true;
  reading.is_mig_pending_on = true;
  reading.recovery_action = "gpu_reset";
  GpuInstanceSeen& instance = reading.instances.emplace_back();
  instance.id = 13;
  instance.profile_id = 19;
  instance.start = 6;
  instance.length = 1;
  ComputeInstanceSeen& part = instance.compute_instances.emplace_back();
  part.id = 2;
  part.start = 1;
  part.slices = 3;
  part.uuid = "MIG-1";
  part.is_whole = true;
  part.memory_mib = 9728;
  reading.processes = {
      {.pid = 7, .name = "a\"b", .memory_mib = 100, .gpu_instance = 13, .compute_instance = 0, .user = "ann"},
      {.pid = 8, .name = "b", .memory_mib = 5, .gpu_instance = {}, .compute_instance = {}}};
  return {.intent = UINT64_MAX / 2,
          .outcome = DeviceOutcome::kBusy,
          .message = "used by \xC3\xA4",
          .call = "nvmlGpuInstanceDestroy",
          .error = "NVML_ERROR_IN_USE",
          .holders = {{.pid = 7, .name = "train"}},
          .mig_uuid = "MIG-1",
          .memory_mib = 9728,
          .gpu_instance_us = 200'112,
          .compute_instance_us = 50'034,
          .reading = reading};
}

GpuProcessSeen process_called(std::string name) {
  GpuProcessSeen process;
  process.name = std::move(name);
  return process;
}

TEST(HandsProtocol, PacketsOfAClientComeBack) {
  const std::vector<ClientPacket> packets = {ClientHello{.world = "6f", .pid = 12},
                                             an_order(),
                                             StatusQuestion{},
                                             StartProgram{a_program_order()},
                                             StopProgram{.slice = "gpu-0-1g.10gb-1", .generation = 9},
                                             ListPrograms{},
                                             ReadProgramLog{.slice = "a", .generation = 2, .bytes_max = 100},
                                             DeviceOrder{},
                                             ClientHello{.version = kProtocolVersion + 1}};
  for (const ClientPacket& packet : packets) {
    const auto read = read_client_packet(packet_of(packet));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(*read == packet) << packet_of(packet);
  }
}

TEST(HandsProtocol, PacketsOfTheHandsComeBack) {
  const std::vector<HandsPacket> packets = {
      ProgramState{a_program_report()},
      ProgramState{},
      ProgramsListed{},
      ProgramOffered{{.is_repository = true, .name = "demo", .tenants = {"a", "b"}}},
      ProgramOffered{{.name = "t", .tenants = {"a"}, .parameters = {{"model", "[a-z]"}}}},
      ProgramLog{.slice = "a", .generation = 1, .text = "one\ntwo"},
      ProgramLog{.slice = "a", .generation = 1},

      HandsHello{.pid = 5, .gpus = {{.uuid = "GPU-1", .has_mig_mode = true}, {.uuid = "GPU-2"}}},
      HandsEnd{.end = an_end(), .is_kept = true},
      HandsEnd{.end = plain_end(DeviceOrder{}, DeviceOutcome::kDone, "")},
      HandsStatus{.orders = {{.uuid = "GPU-1", .intent = 4, .call = "nvmlGpuInstanceDestroy"}}},
      HandsRefusal{.message = "process 4 is connected"}};
  for (const HandsPacket& packet : packets) {
    const auto read = read_hands_packet(packet_of(packet));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_TRUE(*read == packet) << packet_of(packet);
  }
}

TEST(HandsProtocol, APacketHasTheFormOfItsPage) {
  EXPECT_EQ(
      packet_of(ClientPacket(an_order())),
      "{\"verb\":\"order\",\"intent\":17,\"change\":\"destroy\",\"uuid\":\"GPU-88af9caf-d226-5142-8ecd-1887494bf67c\","
      "\"profile_id\":19,\"start\":6,\"length\":1,\"was_tried\":true}");
}

/// Names of programs may contain anything.
TEST(HandsProtocol, AnEndFitsWhateverItSays) {
  const std::string worst(5'000, '\x01');  // six bytes each, in JSON
  DeviceEnd end = an_end();
  end.message = end.call = end.error = end.mig_uuid = worst;
  end.holders.assign(1000, {.pid = UINT32_MAX, .name = worst});
  end.reading->processes.assign(1024, process_called(worst));
  const auto read = read_hands_packet(packet_of(HandsPacket(HandsEnd{.end = end})));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const DeviceEnd& back = std::get<HandsEnd>(*read).end;
  EXPECT_EQ(back.holders.size(), 16U);
  EXPECT_EQ(back.message, worst.substr(0, 4096));
  EXPECT_FALSE(back.reading.has_value());
}

TEST(HandsProtocol, NamesOfProcessesGoFirst) {
  DeviceEnd end = an_end();
  end.reading->processes.assign(300, process_called(std::string(256, 'n')));
  const auto read = read_hands_packet(packet_of(HandsPacket(HandsEnd{.end = end})));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const auto& reading = std::get<HandsEnd>(*read).end.reading;
  ASSERT_TRUE(reading && reading->processes.size() == 300);
  EXPECT_EQ(reading->processes[0].name, "");
  EXPECT_EQ(reading->instances, an_end().reading->instances);
}

TEST(HandsProtocol, TextIsCutBetweenCharacters) {
  DeviceEnd end;
  end.call = std::string(255, 'a') + "\xC3\xA4";
  end.error = "\xFF";
  const auto read = read_hands_packet(packet_of(HandsPacket(HandsEnd{.end = end})));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(std::get<HandsEnd>(*read).end.call, std::string(255, 'a'));
  EXPECT_EQ(std::get<HandsEnd>(*read).end.error, "\xEF\xBF\xBD");
}

TEST(HandsProtocol, NothingElseIsRead) {
  const std::string order = packet_of(ClientPacket(an_order()));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = order;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const std::vector<std::string> wrong = {"",
                                          "{",
                                          "[]",
                                          "{}",
                                          "{\"verb\":1}",
                                          "{\"verb\":\"reset\"}",
                                          "{\"verb\":\"status\",\"more\":1}",
                                          "{\"verb\":\"hello\",\"version\":2,\"world\":\"w\",\"pid\":-1}",
                                          "{\"verb\":\"hello\",\"version\":\"2\",\"world\":\"w\",\"pid\":1}",
                                          order + order,
                                          with("17", "-1"),
                                          with("17", "1.5"),
                                          with("17", "9223372036854775808"),
                                          with("destroy", "reset"),
                                          with("\"start\":6", "\"start\":65"),
                                          with("\"length\":1,", ""),
                                          with(":19", ":4294967296"),
                                          with("true", "1"),
                                          with("GPU-88", "\xFF"),
                                          with("GPU-88", std::string(1000, 'x')),
                                          order + std::string(kPacketBytesMax, ' ')};
  for (const std::string& text : wrong) EXPECT_FALSE(read_client_packet(text).has_value()) << text;
  EXPECT_FALSE(read_client_packet(packet_of(HandsPacket(HandsRefusal{}))).has_value());
  EXPECT_FALSE(read_hands_packet(order).has_value());
}

TEST(HandsProtocol, OfALongLogTheLastBytesAreSent) {
  std::string text(1'000'000, '\x01');
  text += "the end";
  const std::string packet = packet_of(HandsPacket(ProgramLog{.slice = "a", .generation = 1, .text = text}));
  EXPECT_LE(packet.size(), kPacketBytesMax);
  const auto read = read_hands_packet(packet);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(std::get<ProgramLog>(*read).text->ends_with("the end"));
}

}  // namespace
}  // namespace berth::edges
