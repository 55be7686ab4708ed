// The bytes that services hold together are bounded, and no table is copied.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/values/held_bytes.h"
#include "live/session/order_batch.h"
#include "live/session/session.h"
#include "live/session/session_options.h"
#include "sim/world/testing/scenarios.h"
#include "sim/world/world_left.h"

namespace berth::live {
namespace {

ServiceSpec service_with(std::size_t seconds) {
  return sim::testing::service_of("any", {{.profile = "1g.10gb"}},
                                  sim::testing::counted(std::vector<std::uint32_t>(seconds, 1)));
}

constexpr std::size_t kLong = 10'000;

/// A world in which two services with long traces fit, and one without; not three.
class SessionHeld : public ::testing::Test {
 protected:
  SessionHeld() {
    begin(kHeldBytesMax);
    EXPECT_TRUE(set("a", kLong).has_value());
    EXPECT_TRUE(set("b", kLong).has_value());
    EXPECT_TRUE(set("c", 1).has_value());
    held_ = session_->held_bytes();
    begin(held_);
  }

  void begin(std::int64_t held_bytes_max) {
    entries_.clear();
    session_ = make(held_bytes_max);
    session_->begin();
    EXPECT_TRUE(session_->set_tenant("t", {}, std::nullopt).has_value());
  }

  std::unique_ptr<Session> make(std::int64_t held_bytes_max) {
    Scenario scenario = sim::testing::scenario_of({service_with(kLong)}, {}, 1);
    scenario.layout.reset();
    SessionOptions options;
    options.held_bytes_max = held_bytes_max;
    options.listener.entry = [this](Entry entry) { entries_.push_back(std::move(entry)); };
    return std::move(*Session::make(std::move(scenario), std::move(options)));
  }

  tl::expected<SetResult, ObjectRefusal> set(const std::string& name, std::size_t seconds, Labels labels = {}) {
    return session_->set_service({.tenant = "t", .name = name}, service_with(seconds), std::move(labels), std::nullopt);
  }

  std::int64_t held_ = 0;  ///< by the three
  std::vector<Entry> entries_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionHeld, WhatWouldHoldTooMuchIsRefusedAndChangesNothing) {
  EXPECT_TRUE(set("a", kLong).has_value());
  EXPECT_TRUE(set("b", kLong).has_value());
  const Catalog before = session_->catalog();
  const std::size_t entry_count = entries_.size();
  const auto refused = set("c", kLong);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ObjectRefusal::Kind::kTooLarge);
  EXPECT_GT(refused.error().held_bytes, refused.error().held_bytes_max);
  EXPECT_EQ(session_->catalog().services, before.services);
  EXPECT_EQ(session_->catalog().last_version(), before.last_version());
  EXPECT_EQ(entries_.size(), entry_count);
  EXPECT_TRUE(set("c", 1).has_value());
  EXPECT_FALSE(set("c", kLong).has_value()) << "what is there may not grow";
  EXPECT_FALSE(set("c", 1, {{"key", std::string(5000, 'v')}}).has_value()) << "labels count";
  EXPECT_FALSE(session_->set_tenant("u", {{"key", std::string(5000, 'v')}}, std::nullopt).has_value());
  EXPECT_TRUE(session_->remove_service({.tenant = "t", .name = "a"}).has_value());
  EXPECT_TRUE(set("c", kLong).has_value()) << "what is removed gives its room back";
}

TEST_F(SessionHeld, OrdersOfOneBatchCountTogether) {
  OrderBatch batch;
  const auto add = [&](const std::string& name, std::size_t seconds) {
    return session_->add_service(batch, {.tenant = "t", .name = name}, service_with(seconds), {}, std::nullopt);
  };
  EXPECT_TRUE(add("a", kLong).has_value());
  EXPECT_TRUE(add("b", kLong).has_value());
  EXPECT_FALSE(add("c", kLong).has_value());
  EXPECT_TRUE(add("c", 1).has_value());
  EXPECT_EQ(batch.entries().size(), 3U);
}

TEST_F(SessionHeld, AWorldThatHoldsTooMuchGoesOnAndMayShrink) {
  EXPECT_TRUE(set("a", kLong).has_value());
  EXPECT_TRUE(set("b", kLong).has_value());
  static_cast<void>(session_->advance(Instant::at_second(1)));
  const std::string saved = session_->save();
  const std::vector<Entry> entries = entries_;
  const sim::WorldLeft left = session_->world_left();
  session_ = make(held_ / 2);
  ASSERT_TRUE(session_->restore(saved).has_value());
  session_->repeat({}, left.world.orders);
  session_->resume(left);
  EXPECT_EQ(session_->catalog().services.size(), 3U);
  EXPECT_TRUE(set("b", kLong - 1).has_value());
  EXPECT_FALSE(set("b", kLong).has_value());
  session_ = make(1);
  session_->repeat(entries, left.world.orders);
  EXPECT_EQ(session_->catalog().services.size(), 3U) << "nor are entries refused that were recorded before";
}

TEST_F(SessionHeld, TheSpecIsOneObjectForSessionEngineAndWorld) {
  EXPECT_TRUE(set("a", kLong).has_value());
  static_cast<void>(session_->advance(Instant::at_second(2)));
  const auto& recorded = std::get<ServiceStored>(std::ranges::find_if(entries_, [](const Entry& each) {
                                                   return std::holds_alternative<ServiceStored>(each.what);
                                                 })->what);
  const std::size_t index = recorded.entry.id.index;
  EXPECT_EQ(session_->scenario().services.share(index), recorded.set->spec);
  constexpr long kHolders = 4;  // with the entry
  EXPECT_GE(recorded.set->spec.use_count(), kHolders);
  session_ = nullptr;
  EXPECT_EQ(recorded.set->spec.use_count(), 1);
}

}  // namespace
}  // namespace berth::live
