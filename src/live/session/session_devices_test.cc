// Reports of real devices: notes that become events, and the same events from the same entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/session/device_intent.h"
#include "live/session/entry.h"
#include "live/session/event_log.h"
#include "live/session/live_figures.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"
#include "world/slices/slice_table.h"

namespace berth::live {
namespace {

constexpr GpuId kSessionGpu{1};

SessionOptions options_of(std::vector<Entry>* told) {
  SessionOptions options;
  options.observed = {{GpuId{0}, "not ours"}, {kSessionGpu, "not ours"}};
  options.has_load = false;
  if (told != nullptr) options.listener.entry = [told](const Entry& entry) { told->push_back(entry); };
  return options;
}

std::unique_ptr<Session> session_with(SessionOptions options) {
  Scenario scenario = sim::testing::scenario_of({}, {}, 2);
  return std::move(*Session::make(std::move(scenario), std::move(options)));
}

std::vector<LoggedEvent> events_of(const Session& session) { return session.events().after(0, 1000); }

TEST(SessionDevices, NotesBecomeEvents) {
  const auto session = session_with(options_of(nullptr));
  session->begin();
  EXPECT_EQ(session->last_note(kSessionGpu, DeviceNote::kDiffers), std::nullopt);
  session->on_device_note({.gpu = kSessionGpu, .note = DeviceNote::kSeen, .text = "GPU-1, A100-80GB"});
  session->on_device_note({.gpu = kSessionGpu, .note = DeviceNote::kDiffers, .text = "less memory"});
  session->on_device_note({.gpu = kSessionGpu, .note = DeviceNote::kXid, .text = "XID 63"});
  session->on_device_note({.gpu = kSessionGpu, .note = DeviceNote::kRecoveryAction, .text = "gpu_reset"});
  std::vector<LoggedEvent> events = events_of(*session);
  ASSERT_GE(events.size(), 4U);
  events.erase(events.begin(), events.end() - 4);
  const std::vector<std::pair<EventKind, std::string>> wanted = {{EventKind::kGpuSeen, "GPU-1, A100-80GB"},
                                                                 {EventKind::kGpuDiffers, "less memory"},
                                                                 {EventKind::kGpuXid, "XID 63"},
                                                                 {EventKind::kGpuRecoveryAction, "gpu_reset"}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(events[i].kind, wanted[i].first);
    EXPECT_EQ(events[i].message, wanted[i].second);
    EXPECT_EQ(events[i].object.name, "gpu-1");
  }
  EXPECT_EQ(session->last_note(kSessionGpu, DeviceNote::kDiffers), "less memory");
  EXPECT_EQ(session->last_note({0}, DeviceNote::kDiffers), std::nullopt);
}

TEST(SessionDevices, AreTheSameAfterARestart) {
  std::vector<Entry> told;
  const auto session = session_with(options_of(&told));
  session->begin();
  const Slice foreign{.gpu = kSessionGpu, .start = 4, .profile = {0}};
  session->see_gpu(kSessionGpu, {.slices = {foreign}});
  session->hold_foreign(kSessionGpu, {{foreign, "research"}});
  session->hold_foreign(kSessionGpu, {{foreign, "research"}});  // nothing new
  while (session->now() < Instant::at_second(2)) static_cast<void>(session->advance(Instant::at_second(2)));
  session->on_device_note({.gpu = kSessionGpu, .note = DeviceNote::kXid, .text = "XID 63"});
  session->see_gpu(kSessionGpu, world::ObservedLayout());
  session->lose_gpu({0}, "it cannot be read");
  session->emit_all();

  const auto again = session_with(options_of(nullptr));
  again->repeat(told, session->order_count());
  EXPECT_EQ(events_of(*again), events_of(*session));
  again->resume(session->world_left());
  EXPECT_EQ(events_of(*again), events_of(*session)) << "nothing is new to a session that goes on at once";
  EXPECT_EQ(again->usage().foreign(), (ForeignTenants{{foreign, "research"}}));
  EXPECT_EQ(again->usage().open(), session->usage().open());
  EXPECT_EQ(
      std::ranges::count_if(told, [](const Entry& each) { return std::holds_alternative<ForeignHeld>(each.what); }), 1);
  const auto restored = session_with(options_of(nullptr));
  ASSERT_TRUE(restored->restore(session->save()).has_value());
  EXPECT_EQ(restored->usage().foreign(), session->usage().foreign());
}

TEST(SessionDevices, TheFirstPlanLeavesAloneWhatOthersMade) {
  const ServiceSpec service =
      sim::testing::service_of("a", {{.profile = "1g.10gb", .latency_ms = 40}},
                               sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
  const Slice half = sim::testing::slice_at(0, "4g.40gb", 0);
  for (const bool is_told : {false, true}) {
    Scenario scenario = sim::testing::scenario_of({service}, {}, 1);
    scenario.layout.reset();
    std::vector<Entry> told;
    std::uint64_t intents_made = 0;
    SessionOptions options = options_of(&told);
    options.observed.reset();
    options.has_outside_devices = true;
    options.first_layout_takes_time = true;
    options.listener.next_intent = [&] { return ++intents_made; };
    options.listener.boot = [] { return std::optional<std::string>("boot"); };
    const auto session = std::move(*Session::make(std::move(scenario), std::move(options)));
    std::map<GpuId, world::ObservedLayout> sights;
    if (is_told) sights[{0}] = {.slices = {half}};
    session->begin(sights);
    const std::vector<DeviceIntent> intents = session->take_device_intents();
    EXPECT_FALSE(intents.empty());
    const bool is_beside =
        std::ranges::all_of(intents, [](const DeviceIntent& each) { return each.action.slice.start >= 4; });
    EXPECT_EQ(is_beside, is_told) << "without word of it the first half would be used, too";
  }
}

TEST(SessionDevices, WithoutLoadNothingIsKnownOfServices) {
  ServiceSpec service = sim::testing::service_of("a", {{.profile = "1g.10gb", .latency_ms = 40}},
                                                 sim::testing::generated(Generator::Kind::kPoisson, Decimal(20), 60));
  service.tenant = "t";
  Scenario scenario = sim::testing::scenario_of({service}, {}, 2);
  for (const bool has_load : {false, true}) {
    SessionOptions options = options_of(nullptr);
    options.has_load = has_load;
    const auto session = std::move(*Session::make(scenario, std::move(options)));
    session->begin();
    while (session->now() < Instant::at_second(5)) static_cast<void>(session->advance(Instant::at_second(5)));
    EXPECT_EQ(session->figures().minute_of({0}).has_value(), has_load);
    EXPECT_TRUE(session->snapshot().slices.empty()) << "no plan counts on a GPU that is only observed";
  }
}

}  // namespace
}  // namespace berth::live
