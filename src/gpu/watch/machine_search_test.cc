#include "gpu/watch/machine_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace berth::edges {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(MachineSearch, NoLibraryIsAnAnswerAndNoError) {
  MachineSearch search("/nowhere/libnvidia-ml.so.1");
  const auto machine = search.take();
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->library, nullptr);
  EXPECT_THAT(machine->gpus, IsEmpty());
  EXPECT_THAT(machine->reason.value_or(""), HasSubstr("/nowhere/libnvidia-ml.so.1"));
  EXPECT_FALSE(search.is_running());
}

TEST(MachineSearch, WhatIsNoLibraryOfTheDriverIsAnError) {
  MachineSearch search("libfake.so", [](const std::stop_token&) { return invalid("--nvml: no function"); });
  const auto machine = search.take();
  ASSERT_FALSE(machine.has_value());
  EXPECT_EQ(machine.error().message, "--nvml: no function");
}

TEST(MachineSearch, ADriverThatHangsCountsAsNone) {
  std::promise<void> gate;
  MachineSearch search("libfake.so", [&gate](const std::stop_token&) -> Result<LocalMachine> {
    gate.get_future().wait();
    return LocalMachine();
  });
  const auto machine = search.take(milliseconds(1));
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(machine->reason, "libfake.so has not answered for 0 s");
  EXPECT_TRUE(search.is_running());
  gate.set_value();
}

TEST(MachineSearch, StopsBetweenTwoCallsOfTheDriver) {
  std::promise<bool> stopped;
  MachineSearch search("libfake.so", [&stopped](const std::stop_token& stop) -> Result<LocalMachine> {
    const auto deadline = std::chrono::steady_clock::now() + seconds(20);
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    stopped.set_value(stop.stop_requested());
    return LocalMachine();
  });
  search.request_stop();
  EXPECT_TRUE(stopped.get_future().get());
}

}  // namespace
}  // namespace berth::edges
