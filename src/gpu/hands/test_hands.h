/// A GPU agent for tests: a server in a thread, with verbs and devices controlled by the test.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gpu/hands/hands_client.h"
#include "gpu/hands/hands_server.h"
#include "gpu/hands/packet_socket.h"
#include "gpu/hands/plain_end.h"
#include "gpu/hands/test_folder.h"
#include "gpu/hands/wake_up.h"

namespace berth::edges {

/// Longer than any test needs on a busy machine.
inline constexpr std::chrono::seconds kTestPatience{60};

/// Waits until something holds.
[[nodiscard]] inline bool comes_true(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + kTestPatience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// A library in which each GPU has one MIG device, "MIG-of-" and its UUID; the verbs of these tests do not call it.
class NoLibrary final : public GpuLibrary {
 public:
  [[nodiscard]] const GpuLibraryFacts& facts() const override { return facts_; }
  [[nodiscard]] GpuAnswer<std::vector<Listed>> list() override { return std::vector<Listed>{}; }
  [[nodiscard]] GpuAnswer<GpuReading> read(const std::string& uuid) override {
    return GpuReading{
        .is_mig_on = true, .instances = {{.compute_instances = {{.uuid = "MIG-of-" + uuid}}}}, .processes = {}};
  }
  [[nodiscard]] GpuAnswer<GpuMeasurement> measure(const std::string&) override { return GpuMeasurement{}; }
  [[nodiscard]] GpuAnswer<std::optional<GpuNotice>> wait(const std::string&, std::int64_t) override {
    return std::nullopt;
  }

 private:
  GpuLibraryFacts facts_;
};

/// Creating a GPU instance waits until the test releases it.
class GateChanger final : public GpuChanger {
 public:
  [[nodiscard]] GpuAnswer<std::uint32_t> create_gpu_instance(const std::string& uuid, std::uint32_t, int,
                                                             int) override {
    std::unique_lock hold(mutex_);
    ++entered_;
    changed_.notify_all();
    changed_.wait(hold, [&] { return held_ != uuid; });
    return 1;
  }
  [[nodiscard]] GpuAnswer<std::uint32_t> create_compute_instance(const std::string&, std::uint32_t) override {
    return 0;
  }
  [[nodiscard]] GpuAnswer<void> destroy_compute_instance(const std::string&, std::uint32_t, std::uint32_t) override {
    return {};
  }
  [[nodiscard]] GpuAnswer<void> destroy_gpu_instance(const std::string&, std::uint32_t) override { return {}; }
  [[nodiscard]] GpuAnswer<ModeChange> set_mig_mode(const std::string&, bool) override { return ModeChange::kDone; }

  void hold(const std::string& uuid) {
    const std::scoped_lock hold(mutex_);
    held_ = uuid;
    changed_.notify_all();
  }
  void wait_for_entry(int count) {
    std::unique_lock hold(mutex_);
    ASSERT_TRUE(changed_.wait_for(hold, kTestPatience, [&] { return entered_ >= count; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string held_;
  int entered_ = 0;
};

class HandsTest : public ::testing::Test {
 protected:
  static constexpr const char* kGpu = "GPU-1";
  static constexpr const char* kOtherGpu = "GPU-2";
  static constexpr const char* kUnlisted = "GPU-3";

  ~HandsTest() override { stop_server(); }

  /// The behaviour of the verbs, after a call of the changer.
  using Verbs = std::function<DeviceEnd(const DeviceOrder&)>;
  static DeviceEnd done(const DeviceOrder& order) {
    DeviceEnd end = plain_end(order, DeviceOutcome::kDone, "");
    end.reading = GpuReading{};
    return end;
  }
  void answer_with(Verbs verbs) {
    const std::scoped_lock hold(mutex_);
    verbs_ = std::move(verbs);
  }
  [[nodiscard]] std::vector<DeviceOrder> orders() {
    const std::scoped_lock hold(mutex_);
    return orders_;
  }

  [[nodiscard]] HandsServerOptions server_options() {
    return {.library = library_,
            .changer = changer_,
            .gpus = {{.uuid = kGpu, .has_mig_mode = true}, {.uuid = kOtherGpu}},
            .lock_folder = lock_folder(),
            .carry_out = [this](device::Tools& tools, const DeviceOrder& order) { return carry_out(tools, order); },
            .log = [](const std::string&) {},
            .programs = programs_};
  }
  [[nodiscard]] std::string lock_folder() const { return folder_.path() + "/locks"; }
  [[nodiscard]] std::string socket_path() const { return folder_.path() + "/hands"; }

  /// Serves one client; returns the client's end of the connection.
  [[nodiscard]] Descriptor serve_one() {
    auto pair = make_socket_pair();
    EXPECT_TRUE(pair.has_value());
    server_ = std::thread([this, theirs = std::move(pair->theirs)]() mutable {
      has_served_well_ = serve_client(std::move(theirs), stop_.number(), server_options());
      is_over_ = true;
    });
    return std::move(pair->ours);
  }
  /// Serves clients at socket_path().
  void serve_all() {
    auto socket = HandsSocket::listen(socket_path(), std::nullopt);
    ASSERT_TRUE(socket.has_value()) << socket.error().message;
    server_ = std::thread([this, listening = std::move(*socket)] {
      has_served_well_ = serve_clients(listening, stop_.number(), server_options());
      is_over_ = true;
    });
  }
  void stop_server() {
    stop_.ring();
    join_server();
    stop_.hear();
  }
  void join_server() {
    if (server_.joinable()) server_.join();
    is_over_ = false;
  }

  [[nodiscard]] static HandsClientOptions client_options() {
    HandsClientOptions options;
    options.world = "6f";
    for (auto& pause : options.busy_pauses) pause = std::chrono::milliseconds(5);
    options.reconnect_every = std::chrono::milliseconds(5);
    return options;
  }
  [[nodiscard]] static DeviceOrder order(std::uint64_t intent, const char* uuid = kGpu,
                                         DeviceVerb verb = DeviceVerb::kCreate) {
    return {.intent = intent, .verb = verb, .uuid = uuid, .profile_id = 19, .start = 0, .length = 1};
  }
  /// The next `count` outcomes, in the order of their arrival.
  [[nodiscard]] static std::vector<DeviceEnd> take(GpuHands& hands, std::size_t count) {
    std::vector<DeviceEnd> all;
    EXPECT_TRUE(comes_true([&] {
      for (DeviceEnd& end : hands.take_ended()) all.push_back(std::move(end));
      return all.size() >= count;
    }));
    EXPECT_EQ(all.size(), count);
    all.resize(count);
    return all;
  }

  std::optional<ProgramVerbs> programs_;
  GateChanger changer_;
  NoLibrary library_;
  TestFolder folder_;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> has_served_well_ = false;

 private:
  DeviceEnd carry_out(device::Tools& tools, const DeviceOrder& order) {
    {
      const std::scoped_lock hold(mutex_);
      orders_.push_back(order);
    }
    EXPECT_TRUE(tools.changer.create_gpu_instance(order.uuid, 0, 0, 0).has_value());
    const std::scoped_lock hold(mutex_);
    return verbs_(order);
  }

  WakeUp stop_;
  std::thread server_;
  std::mutex mutex_;
  std::vector<DeviceOrder> orders_;  ///< carried out, under mutex_
  Verbs verbs_ = done;               ///< under mutex_
};

}  // namespace berth::edges
