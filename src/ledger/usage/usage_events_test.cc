#include "ledger/usage/usage_events.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "ledger/books/testing/line_ledger.h"
#include "sim/world/testing/scenarios.h"

namespace berth::ledger {
namespace {

using live::OpenUsage;
using live::UsageInterval;
using live::UsagePart;
using live::UsageState;
using sim::testing::slice_at;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kHour = 3'600'000'000;
constexpr std::int64_t kEpoch = 1'795'341'600'000'000;  // 2026-11-22T10:00:00Z

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

UsageInterval interval(UsagePart part, std::int64_t from_us, std::int64_t to_us, std::uint64_t sequence,
                       std::uint32_t gpu = 0) {
  return {.gpu = {gpu},
          .what = {.part = std::move(part), .from = Instant(from_us), .sequence = sequence},
          .to = Instant(to_us)};
}

UsagePart held(const char* profile, int start, std::int32_t units, std::uint64_t generation = 7) {
  return {.start = start,
          .units = units,
          .state = UsageState::kHeld,
          .slice = slice_at(0, profile, start),
          .generation = generation,
          .holders = {{.tenant = "t", .name = "a"}}};
}

/// All lines from one instant to another, as an export writes them.
std::string written(UsageEvents& events, Instant from, Instant to, const std::vector<UsageInterval>& usage) {
  std::string text = events.prices();
  for (Instant at = from; at < to;) {
    const Instant end = std::min(events.hour_after(at), to);
    text += events.lines({.from = at, .to = end}, usage).value();
    at = end;
  }
  return text;
}

std::string written(const Scenario& fleet, Instant from, Instant to, const std::vector<UsageInterval>& usage) {
  auto events = UsageEvents::make(fleet, kEpoch).value();
  return written(events, from, to, usage);
}

TEST(UsageEvents, APriceForEachSku) {
  Scenario fleet = sim::testing::scenario_of({}, {}, 2);
  fleet.fleet[0].usd_per_gpu_hour = Decimal(3'673, 1000);
  EXPECT_EQ(UsageEvents::make(fleet, kEpoch)->prices(),
            R"({"type":"price","id":"1795341600000000/price/A100-80GB","sku":"A100-80GB","from_us":1795341600000000,)"
            R"("micro_usd_per_gpu_hour":3673000})"
            "\n");
  fleet.fleet.push_back(fleet.fleet.front());
  EXPECT_THAT(lines_of(UsageEvents::make(fleet, kEpoch)->prices()), SizeIs(1));
  fleet.fleet.back().usd_per_gpu_hour = Decimal(5, 2'000'000);  // half to even
  EXPECT_THAT(lines_of(UsageEvents::make(fleet, kEpoch)->prices()),
              ElementsAre(AllOf(HasSubstr(R"("sku":"A100-80GB@3.673",)"), HasSubstr(":3673000}")),
                          AllOf(HasSubstr(R"("sku":"A100-80GB@0.0000025",)"), HasSubstr(":2}"))));
  fleet.fleet.back().usd_per_gpu_hour = std::nullopt;
  EXPECT_THAT(lines_of(UsageEvents::make(fleet, kEpoch)->prices()),
              ElementsAre(HasSubstr(R"("sku":"A100-80GB@3.673",)")));
  fleet.fleet.front().usd_per_gpu_hour = Decimal(1'000'000'001);
  EXPECT_THAT(UsageEvents::make(fleet, kEpoch).error().message, HasSubstr("micro_usd_per_gpu_hour: wanted"));
}

TEST(UsageEvents, ACellIsAGpuAndItsUses) {
  const Scenario fleet = sim::testing::scenario_of({}, {});
  const std::vector<UsageInterval> usage = {
      interval({.units = 8}, 0, 1000, 1), interval(held("2g.20gb", 2, 2), 1000, 5000, 4),
      interval({.start = 0, .units = 2}, 1000, 5000, 3), interval({.start = 4, .units = 4}, 1000, 5000, 2)};
  auto events = UsageEvents::make(fleet, kEpoch).value();
  EXPECT_EQ(events.lines({.from = Instant(), .to = Instant(5000)}, usage).value(),
            R"({"type":"gpu","id":"1795341600000000/gpu-0@1795341600000000","gpu":"gpu-0","sku":"A100-80GB",)"
            R"("capacity":56,"from_us":1795341600000000,"to_us":1795341600001000})"
            "\n"
            R"({"type":"gpu","id":"1795341600000000/gpu-0@1795341600001000","gpu":"gpu-0","sku":"A100-80GB",)"
            R"("capacity":56,"from_us":1795341600001000,"to_us":1795341600005000})"
            "\n"
            R"({"type":"use","id":"1795341600000000/gpu-0-2g.20gb-2/7/4","gpu":"gpu-0","slice":"gpu-0-2g.20gb-2",)"
            R"("weight":16,"tenant":"t","service":"a","role":"inference","from_us":1795341600001000,)"
            R"("to_us":1795341600005000})"
            "\n");
}

std::vector<std::string> ids_in(const std::string& text) {
  std::vector<std::string> ids;
  for (const std::string& line : lines_of(text)) {
    const std::size_t from = line.find(R"("id":")") + 6;
    ids.push_back(line.substr(from, line.find('"', from) - from));
  }
  return ids;
}

TEST(UsageEvents, AnIntervalIsCutWhereItsGpuChangesAndAtFullHours) {
  Scenario fleet = sim::testing::scenario_of({}, {});
  fleet.fleet[0].usd_per_gpu_hour = std::nullopt;
  UsagePart shared = held("4g.40gb", 0, 4);
  shared.holders.push_back({.tenant = "u", .name = "b"});
  const std::vector<UsageInterval> usage = {
      interval(shared, 0, 2 * kHour, 1),
      interval({.start = 4, .units = 4, .state = UsageState::kForeign, .slice = slice_at(0, "3g.40gb", 4)}, 0, 10, 2),
      interval(held("3g.40gb", 4, 4, 8), 10, 2 * kHour, 3)};
  EXPECT_THAT(
      ids_in(written(fleet, Instant(), Instant(kHour), usage)),
      ElementsAre("1795341600000000/gpu-0@1795341600000000", "1795341600000000/gpu-0-4g.40gb-0/7/1#1",
                  "1795341600000000/gpu-0-4g.40gb-0/7/1#2", "1795341600000000/gpu-0-3g.40gb-4/-/2",
                  "1795341600000000/gpu-0@1795341600000010", "1795341600000000/gpu-0-4g.40gb-0/7/1@1795341600000010#1",
                  "1795341600000000/gpu-0-4g.40gb-0/7/1@1795341600000010#2", "1795341600000000/gpu-0-3g.40gb-4/8/3"));
  EXPECT_THAT(ids_in(written(fleet, Instant(), Instant(2 * kHour), usage)), SizeIs(12));
}

TEST(UsageEvents, WhatWasNotObservedHasTheSameHolderAndAMark) {
  const Scenario fleet = sim::testing::scenario_of({}, {});
  UsagePart shared = held("4g.40gb", 0, 4);
  shared.holders.push_back({.tenant = "u", .name = "b"});
  std::vector<UsageInterval> usage = {interval(shared, 0, 10, 1), interval(shared, 10, 20, 3),
                                      interval({.start = 4, .units = 4, .state = UsageState::kLost}, 0, 10, 2),
                                      interval({.start = 4, .units = 4, .state = UsageState::kLost}, 10, 20, 4)};
  usage[1].is_observed = usage[3].is_observed = false;
  const std::vector<std::string> lines = lines_of(written(fleet, Instant(), Instant(20), usage));
  EXPECT_THAT(lines, Not(Contains(AllOf(HasSubstr("~unobserved"), HasSubstr("\"from_us\":1795341600000000")))));
  const auto later = [](const char* slice, const char* holder) {
    return AllOf(HasSubstr(slice), HasSubstr(holder), HasSubstr("\"from_us\":1795341600000010"));
  };
  EXPECT_THAT(lines, Contains(later("\"gpu-0-4g.40gb-0#1~unobserved\"", R"("tenant":"t","service":"a","role":"inf)")));
  EXPECT_THAT(lines, Contains(later("\"gpu-0-4g.40gb-0#2~unobserved\"", R"("tenant":"u","service":"b","role":"inf)")));
  EXPECT_THAT(lines, Contains(later("\"gpu-0:4-7~unobserved\"", R"("role":"stranded")")));
  testing::LineLedger ledger(lines);
  EXPECT_EQ(ledger.report().counts.accepted, lines.size());
}

TEST(UsageEvents, HoursAreThoseOfTheClock) {
  const Scenario fleet = sim::testing::scenario_of({}, {});
  const auto events = UsageEvents::make(fleet, kEpoch + kHour - 5).value();
  EXPECT_EQ(events.hour_after(Instant()), Instant(5));
  EXPECT_EQ(events.hour_after(Instant(5)), Instant(5 + kHour));
}

TEST(UsageEvents, ThePastBeginsWhereAllUnitsAreKnown) {
  const Scenario fleet = sim::testing::scenario_of({}, {});
  const std::vector<UsageInterval> usage = {interval(held("4g.40gb", 0, 4), 100, 300, 1),
                                            interval(held("3g.40gb", 4, 4), 200, 300, 2)};
  auto events = UsageEvents::make(fleet, kEpoch).value();
  EXPECT_THAT(lines_of(events.lines({.from = Instant(), .to = Instant(300)}, usage).value()),
              ElementsAre(HasSubstr(R"("gpu-0","sku":"A100-80GB","capacity":56,"from_us":1795341600000200,)"),
                          HasSubstr(R"(/1@1795341600000200",)"), HasSubstr(R"(/2",)")));
  const auto missing = events.lines({.from = Instant(300), .to = Instant(400)}, {});
  EXPECT_EQ(missing.error(), (Error{ErrorCode::kUnavailable,
                                    "usage of gpu-0: wanted each unit exactly once, found a gap or an overlap"}));
}

TEST(UsageEvents, WhatALedgerRefusesIsNotWritten) {
  const Scenario fleet = sim::testing::scenario_of({}, {});
  UsagePart part = held("full", 0, 8);
  part.holders[0].tenant = std::string(129, 'x');
  auto events = UsageEvents::make(fleet, kEpoch).value();
  EXPECT_THAT(events.lines({.from = Instant(), .to = Instant(3)}, std::vector{interval(part, 0, 3, 1)}).error().message,
              HasSubstr("not an event of a ledger: tenant: wanted a text of at most 128 bytes"));
  auto early = UsageEvents::make(sim::testing::scenario_of({}, {}), 1);
  EXPECT_THAT(early.error().message, HasSubstr("from_us: wanted microseconds since 1970"));
}

// ---- random histories

/// Parts of GPUs that change at random, as a usage book divides them.
class RandomWorld {
 public:
  explicit RandomWorld(std::uint64_t seed) : rng_(seed), open_(kGpus) {
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      open_[gpu].push_back({.part = {.units = 8}, .from = Instant(), .sequence = ++sequence_});
    }
  }

  void go_on(std::int64_t until_us) {
    while (now_us_ < until_us) {
      now_us_ += rng_.below(8) == 0 ? 0 : static_cast<std::int64_t>(rng_.below(kHour / 2)) + 1;
      change({static_cast<std::uint32_t>(rng_.below(kGpus))});
    }
  }
  [[nodiscard]] Instant now() const { return Instant(now_us_); }
  [[nodiscard]] std::vector<UsageInterval> usage() const {
    std::vector<UsageInterval> all = over_;
    for (std::uint32_t gpu = 0; gpu < kGpus; ++gpu) {
      for (const OpenUsage& what : open_[gpu]) {
        if (what.from < now()) all.push_back({.gpu = {gpu}, .what = what, .to = now()});
      }
    }
    return all;
  }

  static constexpr std::uint32_t kGpus = 3;

 private:
  void change(GpuId gpu) {
    std::vector<UsagePart> parts = random_parts(gpu);
    std::vector<OpenUsage> next;
    for (UsagePart& part : parts) {
      const auto same = std::ranges::find(open_[gpu.index], part, &OpenUsage::part);
      if (same == open_[gpu.index].end()) {
        next.push_back({.part = std::move(part), .from = now(), .sequence = ++sequence_});
      } else {
        next.push_back(*same);
        open_[gpu.index].erase(same);
      }
    }
    for (const OpenUsage& what : open_[gpu.index]) {
      if (what.from < now()) over_.push_back({.gpu = gpu, .what = what, .to = now()});
    }
    open_[gpu.index] = std::move(next);
  }

  std::vector<UsagePart> random_parts(GpuId gpu) {
    if (rng_.below(12) == 0) return {{.units = 8, .state = UsageState::kLost}};
    struct Place {
      const char* profile;
      int start;
      std::int32_t units;
    };
    static const std::vector<std::vector<Place>> layouts = {
        {{"4g.40gb", 0, 4}, {"3g.40gb", 4, 4}},
        {{"2g.20gb", 0, 2}, {"2g.20gb", 2, 2}, {"3g.40gb", 4, 4}},
        {{"3g.40gb", 0, 4}, {"1g.10gb", 4, 1}, {"1g.10gb", 5, 1}, {"1g.10gb", 6, 1}},
        {{"full", 0, 8}},
        {{"1g.10gb", 2, 1}, {"2g.20gb", 4, 2}},
    };
    std::vector<UsagePart> parts;
    std::int32_t unit = 0;
    for (const Place& place : layouts[rng_.below(layouts.size())]) {
      if (place.start > unit) parts.push_back({.start = unit, .units = place.start - unit});
      parts.push_back(random_slice(slice_at(gpu.index, place.profile, place.start), place.units));
      unit = place.start + place.units;
    }
    if (unit < 8) parts.push_back({.start = unit, .units = 8 - unit});
    return parts;
  }

  UsagePart random_slice(const Slice& slice, std::int32_t units) {
    constexpr UsageState kStates[] = {UsageState::kHeld, UsageState::kHeld, UsageState::kChanging, UsageState::kFree,
                                      UsageState::kForeign};
    UsagePart part{
        .start = slice.start, .units = units, .state = kStates[rng_.below(std::size(kStates))], .slice = slice};
    if (part.state == UsageState::kForeign) return part;
    part.generation = 1 + rng_.below(2);
    if (part.state == UsageState::kFree) return part;
    if (rng_.below(3) == 0) part.role = berth::Role::kRetraining;
    const std::uint64_t holders = slice.profile.is_full() ? 1 + rng_.below(3) : 1;
    for (std::uint64_t i = 0; i < holders; ++i) {
      part.holders.push_back({.tenant = fmt::format("t{}", i + rng_.below(2)), .name = fmt::format("s{}", i)});
    }
    return part;
  }

  Rng rng_;
  std::int64_t now_us_ = 0;
  std::uint64_t sequence_ = 0;
  std::vector<std::vector<OpenUsage>> open_;
  std::vector<UsageInterval> over_;
};

Scenario random_fleet() {
  Scenario fleet = sim::testing::scenario_of({}, {}, RandomWorld::kGpus);
  fleet.fleet[0].usd_per_gpu_hour = Decimal(3'673, 1000);
  return fleet;
}

/// Checks the properties of each file: nothing is refused, and the rows add up to the cost of the GPUs.
Report report_of(const std::string& text, std::uint64_t duplicates = 0) {
  testing::LineLedger ledger(lines_of(text));
  Report report = ledger.report();
  EXPECT_EQ(report.counts.accepted + duplicates, report.counts.lines);
  EXPECT_EQ(report.counts.duplicates, duplicates);
  EXPECT_EQ(report.unbacked_us, 0);
  EXPECT_EQ(report.unpriced_us, 0);
  return report;
}

/// Time of each row, for comparing.
std::map<std::tuple<std::string, std::string, Role>, Int128> times_of(const Report& report) {
  std::map<std::tuple<std::string, std::string, Role>, Int128> times;
  for (const MonthRows& month : report.months) {
    for (const Row& row : month.rows) times[{row.key.tenant, row.key.service, row.key.role}] += row.amount.gpu_us;
  }
  return times;
}

TEST(UsageEvents, ALaterExportToAFullHourBeginsWithTheBytesOfAnEarlierOne) {
  const Scenario fleet = random_fleet();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomWorld world(seed);
    std::string earlier;
    for (int export_count = 0; export_count < 6; ++export_count) {
      world.go_on(world.now().micros() + 3 * kHour);
      const Instant hour(world.now().micros() / kHour * kHour);
      const std::string text = written(fleet, Instant(), hour, world.usage());
      ASSERT_EQ(text.substr(0, earlier.size()), earlier) << seed;
      ASSERT_GT(text.size(), earlier.size());
      report_of(text);
      report_of(earlier + text, lines_of(earlier).size());
      earlier = text;
    }
  }
}

TEST(UsageEvents, AllTimeOfAllGpusIsInACutExport) {
  const Scenario fleet = random_fleet();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomWorld world(seed);
    world.go_on(12 * kHour);
    const Report report = report_of(written(fleet, Instant(), world.now(), world.usage()));
    Int128 gpu_us = 0;
    for (const auto& [key, time] : times_of(report)) gpu_us += time;
    EXPECT_EQ(gpu_us, Int128(world.now().micros()) * RandomWorld::kGpus);
    EXPECT_EQ(report.grains, Int128(world.now().micros()) * RandomWorld::kGpus * 3'673'000);
  }
}

TEST(UsageEvents, WindowsOneBehindTheOtherAreTheWhole) {
  const Scenario fleet = random_fleet();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomWorld world(seed);
    world.go_on(12 * kHour);
    Rng rng(seed);
    std::string parts;
    std::uint64_t window_count = 0;
    for (Instant at; at < world.now(); ++window_count) {
      const Instant to = std::min(world.now(), at + Micros(1 + static_cast<std::int64_t>(rng.below(2 * kHour))));
      parts += written(fleet, at, to, world.usage());
      at = to;
    }
    const Report whole = report_of(written(fleet, Instant(), world.now(), world.usage()));
    const Report in_parts = report_of(parts, window_count - 1);  // the price
    EXPECT_EQ(in_parts.grains, whole.grains);
    const auto times = times_of(whole);
    for (const auto& [key, time] : times_of(in_parts)) {
      const Int128 difference = time - times.at(key);  // a microsecond for each cell that the cuts make
      EXPECT_LE(difference < 0 ? -difference : difference, Int128(window_count) * RandomWorld::kGpus);
    }
  }
}

}  // namespace
}  // namespace berth::ledger
