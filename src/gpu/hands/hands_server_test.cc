#include "gpu/hands/hands_server.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "gpu/hands/gpu_lock.h"
#include "gpu/hands/protocol.h"
#include "gpu/hands/test_hands.h"

namespace berth::edges {
namespace {

class HandsServerTest : public HandsTest {
 protected:
  static void say(const Descriptor& socket, const ClientPacket& packet) {
    ASSERT_EQ(send_packet(socket, packet_of(packet)), SendOutcome::kSent);
  }
  /// The next packet; nothing: the connection was closed.
  [[nodiscard]] static std::optional<HandsPacket> hear(const Descriptor& socket) {
    Received received;
    EXPECT_TRUE(comes_true([&] {
      received = receive_packet(socket);
      return received.kind != Received::Kind::kNothing;
    }));
    if (received.kind != Received::Kind::kPacket) return std::nullopt;
    auto packet = read_hands_packet(received.bytes);
    EXPECT_TRUE(packet.has_value()) << packet.error().message;
    return *packet;
  }
  template <class Packet>
  [[nodiscard]] static Packet hear_a(const Descriptor& socket) {
    const auto packet = hear(socket);
    const Packet* wanted = packet ? std::get_if<Packet>(&*packet) : nullptr;
    EXPECT_TRUE(wanted != nullptr) << (packet ? packet_of(*packet) : "closed");
    return wanted == nullptr ? Packet{} : *wanted;
  }
  static void greet(const Descriptor& socket, const std::string& world = "6f") {
    say(socket, ClientHello{.world = world, .pid = 1});
    static_cast<void>(hear_a<HandsHello>(socket));
  }
  /// Connects at socket_path(); the server may still be busy with the client before.
  [[nodiscard]] Descriptor connect() {
    auto connected = connect_with_hands(socket_path());
    EXPECT_TRUE(connected.has_value()) << connected.error().message;
    return connected ? std::move(*connected) : Descriptor();
  }
  [[nodiscard]] bool is_locked(const char* uuid) const {
    const auto lock = GpuLock::take(lock_folder(), uuid, {.pid = 1, .world = "test"});
    return !lock && lock.error().owner_pid == ::getpid();
  }
};

TEST_F(HandsServerTest, CarriesOutWhatIsOrdered) {
  const Descriptor client = serve_one();
  say(client, ClientHello{.world = "6f", .pid = 1});
  const auto hello = hear_a<HandsHello>(client);
  EXPECT_EQ(hello.pid, ::getpid());
  EXPECT_EQ(hello.gpus, server_options().gpus);
  answer_with([](const DeviceOrder& order) { return plain_end(order, DeviceOutcome::kFailed, "no"); });
  say(client, order(17, kGpu, DeviceVerb::kMigModeOn));
  const auto end = hear_a<HandsEnd>(client);
  EXPECT_EQ(end, (HandsEnd{.end = plain_end(order(17), DeviceOutcome::kFailed, "no")}));
  EXPECT_EQ(orders(), std::vector{order(17, kGpu, DeviceVerb::kMigModeOn)});
}

TEST_F(HandsServerTest, ChangesOnlyWhatItsConfigurationNames) {
  const Descriptor client = serve_one();
  greet(client);
  say(client, order(1, kUnlisted));
  EXPECT_EQ(hear_a<HandsEnd>(client).end,
            plain_end(order(1), DeviceOutcome::kRefused, "\"GPU-3\" is not in manage: of the GPU agent"));
  say(client, order(2, kOtherGpu, DeviceVerb::kMigModeOn));
  EXPECT_EQ(hear_a<HandsEnd>(client).end, plain_end(order(2), DeviceOutcome::kRefused,
                                                    "mig_mode: true is not in manage: of the GPU agent for this GPU"));
  EXPECT_TRUE(orders().empty());
}

TEST_F(HandsServerTest, TakesTheLockBeforeItsFirstChangeAndKeepsIt) {
  Descriptor client = serve_one();
  greet(client);
  EXPECT_FALSE(is_locked(kGpu));
  say(client, order(1));
  static_cast<void>(hear_a<HandsEnd>(client));
  EXPECT_TRUE(is_locked(kGpu));
  EXPECT_FALSE(is_locked(kOtherGpu));
  client.close();
  EXPECT_TRUE(comes_true([this] { return is_over_.load(); }));
  EXPECT_TRUE(has_served_well_);
  EXPECT_FALSE(is_locked(kGpu));
}

TEST_F(HandsServerTest, ALockOfAnotherIsRespected) {
  const auto lock = GpuLock::take(lock_folder(), kGpu, {.pid = 77, .world = "other"});
  ASSERT_TRUE(lock.has_value());
  const Descriptor client = serve_one();
  greet(client);
  say(client, order(1));
  const DeviceEnd end = hear_a<HandsEnd>(client).end;
  EXPECT_EQ(end.outcome, DeviceOutcome::kBusy);
  EXPECT_EQ(end.message, "another berth process (pid 77) owns it");
  EXPECT_EQ(end.holders, (std::vector<DeviceHolder>{{.pid = 77, .name = "berth"}}));
  EXPECT_TRUE(orders().empty());
}

TEST_F(HandsServerTest, ALockThatCannotBeMadeIsARefusal) {
  std::ofstream(lock_folder()) << "a file";
  const Descriptor client = serve_one();
  greet(client);
  say(client, order(1));
  EXPECT_EQ(hear_a<HandsEnd>(client).end, plain_end(order(1), DeviceOutcome::kRefused,
                                                    lock_folder() + "/GPU-1.lock: cannot be locked: Not a directory"));
  EXPECT_TRUE(orders().empty());
}

TEST_F(HandsServerTest, ACallThatHangsHoldsUpItsGpuAlone) {
  const Descriptor client = serve_one();
  greet(client);
  changer_.hold(kGpu);
  say(client, order(1));
  say(client, order(2));
  changer_.wait_for_entry(1);
  say(client, order(3, kOtherGpu));
  EXPECT_EQ(hear_a<HandsEnd>(client).end.intent, 3U);
  say(client, StatusQuestion{});
  EXPECT_EQ(hear_a<HandsStatus>(client),
            (HandsStatus{.orders = {{.uuid = kGpu, .intent = 1, .call = "nvmlDeviceCreateGpuInstanceWithPlacement"}}}));
  changer_.hold("");
  EXPECT_EQ(hear_a<HandsEnd>(client).end.intent, 1U);
  EXPECT_EQ(hear_a<HandsEnd>(client).end.intent, 2U);
  say(client, StatusQuestion{});
  EXPECT_EQ(hear_a<HandsStatus>(client), HandsStatus{});
}

TEST_F(HandsServerTest, WhatCannotBeReadEndsTheConnection) {
  const std::vector<std::string> packets = {"garbage", packet_of(ClientPacket(order(1))),
                                            packet_of(ClientPacket(StatusQuestion{})),
                                            packet_of(ClientPacket(ClientHello{.version = kProtocolVersion + 1}))};
  for (const std::string& packet : packets) {
    const Descriptor client = serve_one();
    ASSERT_EQ(send_packet(client, packet), SendOutcome::kSent);
    auto answer = hear(client);
    if (answer) {  // a wrong version gets an answer
      EXPECT_TRUE(std::holds_alternative<HandsHello>(*answer));
      answer = hear(client);
    }
    EXPECT_FALSE(answer.has_value()) << packet;
    join_server();
  }
  for (const std::string& packet : {std::string(kPacketBytesMax + 1, ' '), std::string("{\"verb\":\"reset\"}"),
                                    packet_of(ClientPacket(ClientHello{.world = "6f", .pid = 1}))}) {
    const Descriptor client = serve_one();
    greet(client);
    ASSERT_EQ(send_packet(client, packet), SendOutcome::kSent);
    EXPECT_FALSE(hear(client).has_value());
    join_server();
  }
  EXPECT_TRUE(orders().empty());
}

TEST_F(HandsServerTest, AClientThatGoesLeavesItsOrderToBeFinished) {
  serve_all();
  Descriptor client = connect();
  greet(client);
  changer_.hold(kGpu);
  say(client, order(1));
  say(client, order(2));
  changer_.wait_for_entry(1);
  client.close();

  Descriptor next = connect();  // while it is under way
  say(next, ClientHello{.world = "6f", .pid = 2});
  static_cast<void>(hear_a<HandsHello>(next));
  changer_.hold("");
  HandsEnd end = hear_a<HandsEnd>(next);
  EXPECT_EQ(end.end.intent, 1U);
  EXPECT_TRUE(end.is_kept);
  EXPECT_EQ(orders().size(), 1U);  // orders that had not begun never do
}

TEST_F(HandsServerTest, AnEndIsKeptForTheNextClientOfTheSameWorld) {
  serve_all();
  for (const bool is_same : {true, false}) {
    Descriptor client = connect();
    greet(client);
    changer_.hold(kGpu);
    say(client, order(1));
    changer_.wait_for_entry(is_same ? 1 : 2);
    client.close();
    // The order ends when no client is connected.
    EXPECT_TRUE(comes_true([&] {
      const auto probe = connect_with_hands(socket_path());
      say(*probe, ClientHello{.version = kProtocolVersion + 1});
      const auto answer = hear(*probe);
      return answer && std::holds_alternative<HandsHello>(*answer);
    }));
    changer_.hold("");
    EXPECT_TRUE(comes_true([&] { return !is_locked(kGpu); }));

    const Descriptor next = connect();
    greet(next, is_same ? "6f" : "another");
    if (is_same) {
      const HandsEnd end = hear_a<HandsEnd>(next);
      EXPECT_TRUE(end.is_kept);
      EXPECT_EQ(end.end, done(order(1)));
    }
    say(next, StatusQuestion{});
    EXPECT_EQ(hear_a<HandsStatus>(next), HandsStatus{});  // nothing before it
  }
}

TEST_F(HandsServerTest, HasOneClient) {
  serve_all();
  const Descriptor client = connect();
  greet(client);
  const Descriptor second = connect();
  EXPECT_EQ(hear_a<HandsRefusal>(second).message,
            "process " + std::to_string(::getpid()) + " is connected, and one at a time may be");
  EXPECT_FALSE(hear(second).has_value());
  say(client, order(1));
  EXPECT_EQ(hear_a<HandsEnd>(client).end.intent, 1U);
}

TEST_F(HandsServerTest, IsStoppedAfterTheOrderUnderWay) {
  serve_all();
  const Descriptor client = connect();
  greet(client);
  changer_.hold(kGpu);
  say(client, order(1));
  changer_.wait_for_entry(1);
  std::thread release([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    changer_.hold("");
  });
  stop_server();
  release.join();
  EXPECT_TRUE(has_served_well_);
  EXPECT_EQ(hear_a<HandsEnd>(client).end, done(order(1)));
  EXPECT_FALSE(hear(client).has_value());
}

TEST_F(HandsServerTest, TheSocketIsForItsOwnerAlone) {
  serve_all();
  struct stat file = {};
  ASSERT_EQ(::lstat(socket_path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777U, 0600U);
  stop_server();
  EXPECT_NE(::lstat(socket_path().c_str(), &file), 0);
}

}  // namespace
}  // namespace berth::edges
