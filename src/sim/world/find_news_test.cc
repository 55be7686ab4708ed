#include "sim/world/find_news.h"

#include <gtest/gtest.h>

#include <variant>

namespace berth::sim {
namespace {

/// A service whose retraining is due, as the engine knows it, and wanted, as its world does.
std::vector<Event> news_of(bool is_due, bool is_wanted, std::uint64_t revision = 0) {
  Snapshot engine;
  engine.services.resize(1);
  engine.services[0].is_retraining_due = is_due;
  ServiceMemory service;
  service.retraining.emplace().is_wanted = is_wanted;
  service.revision = revision;
  return find_news(engine, {}, {service}, {}, {}, Instant::at_second(5));
}

TEST(FindNews, RetrainingsBecameDueOrDone) {
  const auto due = news_of(false, true);
  ASSERT_EQ(due.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<RetrainingDue>(due[0].what));
  EXPECT_EQ(due[0].at, Instant::at_second(5));
  const auto done = news_of(true, false);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<RetrainingDone>(done[0].what));
}

TEST(FindNews, WhatTheEngineKnowsIsNone) {
  EXPECT_TRUE(news_of(true, true).empty());
  EXPECT_TRUE(news_of(false, false).empty());
}

TEST(FindNews, AnotherRevisionSaysNothing) { EXPECT_TRUE(news_of(false, true, 1).empty()); }

}  // namespace
}  // namespace berth::sim
