#include "world/slices/reconcile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <variant>
#include <vector>

namespace berth::world {
namespace {

using ::testing::IsEmpty;

constexpr std::uint64_t kCreated = 3;
constexpr std::uint64_t kGiven = 4;
constexpr std::uint64_t kGivenAgain = 9;
const Slice kSlice{.gpu = {0}, .start = 0, .profile = {0}};

/// The engine has given the slice to service 1, and waits for it to be ready.
Snapshot engine_that_waits() {
  Snapshot engine;
  engine.slices.insert(
      engine.slices.begin(),
      {.holding = {.slice = kSlice, .services = {{1}}}, .generation = kCreated, .assignment = kGivenAgain});
  return engine;
}

/// The slice works for service 0, or already for service 1.
std::vector<DeviceMemory> device_that_got(std::uint64_t assigned_as, std::uint64_t known_number) {
  const std::uint32_t holder = assigned_as == kGiven ? 0 : 1;
  return {{.known_number = known_number,
           .slices = {{.slice = kSlice,
                       .phase = SlicePhase::kUp,
                       .created_as = kCreated,
                       .assigned_as = assigned_as,
                       .services = {{holder}}}}}};
}

std::vector<Event> news(std::uint64_t assigned_as, std::uint64_t known_number) {
  return find_device_news(engine_that_waits(), device_that_got(assigned_as, known_number), {}, {}, Instant());
}

TEST(FindDeviceNews, AnAssignmentThatIsStillToComeIsNone) { EXPECT_THAT(news(kGiven, kGiven), IsEmpty()); }

TEST(FindDeviceNews, AnAssignmentThatTookEffectUnseenIsReady) {
  const auto events = news(kGivenAgain, kGivenAgain);
  ASSERT_EQ(events.size(), 1U);
  const auto* ready = std::get_if<SliceReady>(&events[0].what);
  ASSERT_NE(ready, nullptr);
  EXPECT_EQ(ready->assignment, kGivenAgain);
}

TEST(FindDeviceNews, AnAssignmentThatWasPassedOverFailed) {
  const auto events = news(kGiven, kGivenAgain);
  ASSERT_EQ(events.size(), 2U);
  const auto* failed = std::get_if<ActionFailed>(&events[0].what);
  ASSERT_NE(failed, nullptr);
  EXPECT_EQ(failed->kind, ActionKind::kCreation);
  EXPECT_EQ(std::pair(failed->generation, failed->assignment), std::pair(kCreated, kGivenAgain));
  const auto* seen = std::get_if<GpuObserved>(&events[1].what);
  ASSERT_NE(seen, nullptr);
  EXPECT_EQ(seen->slices.size(), 1U);
}

}  // namespace
}  // namespace berth::world
