#include "planner/packing/detail/instance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

constexpr std::uint64_t kInstanceCases = berth::testing::by_build(300, 40);

PackingProblem one_demand(const char* gpu, const char* profile, Decimal throughput, Decimal rate) {
  PackingProblem problem;
  problem.offers.push_back({.model = *mig::find_gpu_model(gpu)});
  problem.demands.push_back(
      {.model = "m", .tenant = "m", .requests_per_second = std::move(rate), .latency_ms = Decimal(100)});
  problem.tables.push_back(
      {.model = "m", .points = {{problem.offers[0].model.name, profile, 1, 1, std::move(throughput), Decimal(10)}}});
  return problem;
}

bool is_within(const Counts& small, const Counts& large) {
  return std::ranges::equal(small, large, std::ranges::less_equal{});
}

/// All multisets of an offer's kinds that fit on one GPU, as counts.
std::set<Counts> all_multisets(const PackingProblem& problem, const Instance& instance, std::uint32_t offer) {
  std::vector<ProfileId> profiles;
  for (const OfferedKind& kind : instance.kinds) {
    if (kind.offer == offer) profiles.push_back(kind.profile);
  }
  std::set<Counts> multisets;
  for (const auto& [multiset, free] : reference::enumerate_multisets(problem.offers[offer].model, profiles)) {
    Counts counts(instance.kinds.size(), 0);
    for (const ProfileId profile : multiset) ++counts[*reference::find_kind(instance, offer, profile)];
    multisets.insert(counts);
  }
  return multisets;
}

TEST(Instance, PartitionsAreTheLargestMultisets) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kInstanceCases)) {
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    const auto instance = make_instance(problem);
    if (!instance) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (std::uint32_t o = 0; o < instance->offers.size(); ++o) {
      const std::vector<Counts>& partitions = instance->offers[o].partitions;
      const std::set<Counts> all = all_multisets(problem, *instance, o);
      std::set<Counts> largest;
      for (const Counts& counts : all) {
        const auto is_larger = [&](const Counts& other) { return other != counts && is_within(counts, other); };
        if (std::ranges::none_of(all, is_larger)) largest.insert(counts);
      }
      ASSERT_EQ(std::set<Counts>(partitions.begin(), partitions.end()), largest);
      ASSERT_EQ(partitions.size(), largest.size());
    }
  }
}

TEST(Instance, KindsAreThePlainProfilesAndThoseInUse) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kInstanceCases)) {
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    const auto instance = make_instance(problem);
    if (!instance) continue;
    std::vector<std::pair<std::uint32_t, ProfileId>> wanted;
    for (std::uint32_t o = 0; o < problem.offers.size(); ++o) {
      const GpuModel& model = problem.offers[o].model;
      for (const ProfileId profile : reference::all_profiles(model)) {
        const bool is_used = std::ranges::any_of(problem.demands, [&](const Demand& demand) {
          return demand.requests_per_second.sign() > 0 &&
                 reference::best_row(problem, demand, model, profile) != nullptr;
        });
        const bool is_plain = !profile.is_full() && model.profiles[profile.index].is_plain();
        if (is_used || is_plain) wanted.emplace_back(o, profile);
      }
    }
    std::vector<std::pair<std::uint32_t, ProfileId>> found;
    for (const OfferedKind& kind : instance->kinds) {
      found.emplace_back(kind.offer, kind.profile);
      const GpuModel& model = problem.offers[kind.offer].model;
      ASSERT_EQ(kind.sms, profile_sms(model, kind.profile));
      const bool is_full = kind.profile.is_full();
      ASSERT_EQ(kind.length, is_full ? model.units : model.profiles[kind.profile.index].length);
      ASSERT_EQ(kind.is_plain, !is_full && model.profiles[kind.profile.index].is_plain());
    }
    ASSERT_EQ(found, wanted) << "seed " << seed;
  }
}

Decimal decimal(Int128 whole) { return Decimal(static_cast<std::int64_t>(whole)); }

TEST(Instance, RatesKeepTheirProportions) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kInstanceCases)) {
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    const auto instance = make_instance(problem);
    if (!instance) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::set<std::uint32_t> served;
    for (const InstanceDemand& demand : instance->demands) {
      served.insert(demand.demand);
      const Demand& asked = problem.demands[demand.demand];
      ASSERT_GT(demand.rate, 0);
      for (std::size_t k = 0; k < instance->kinds.size(); ++k) {
        const OfferedKind& kind = instance->kinds[k];
        const auto* row = reference::best_row(problem, asked, problem.offers[kind.offer].model, kind.profile);
        const Decimal throughput = row == nullptr ? Decimal(0) : row->requests_per_second;
        ASSERT_EQ(decimal(demand.throughput[k]) * reference::rate_wanted(problem, asked),
                  decimal(demand.rate) * throughput);
      }
    }
    for (std::uint32_t d = 0; d < problem.demands.size(); ++d) {
      ASSERT_EQ(served.contains(d), problem.demands[d].requests_per_second.sign() > 0);
    }
    ASSERT_EQ(served.size(), instance->demands.size());
  }
}

TEST(Instance, PricesAreInTheirLargestUnit) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kInstanceCases)) {
    const PackingProblem problem = reference::ProblemGenerator(seed).draw();
    const auto instance = make_instance(problem);
    if (!instance) continue;
    std::int64_t unit = 0;
    for (std::size_t o = 0; o < problem.offers.size(); ++o) {
      ASSERT_EQ(instance->offers[o].price * instance->micro_usd_per_price, reference::price_of(problem.offers[o]));
      ASSERT_EQ(instance->offers[o].count_max, problem.offers[o].count_max);
      unit = std::gcd(unit, instance->offers[o].price);
    }
    ASSERT_EQ(unit, 1) << "seed " << seed;
  }
}

TEST(Instance, GpusThatCostNothing) {
  PackingProblem problem = one_demand("A30-24GB", "1g.6gb", Decimal(1), Decimal(1));
  problem.offers[0].micro_usd_per_hour = 0;
  EXPECT_EQ(make_instance(problem)->offers[0].price, 0);
  EXPECT_EQ(make_instance(problem)->micro_usd_per_price, 1);
}

TEST(Instance, APoolIsATenant) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kInstanceCases)) {
    PackingProblem problem = reference::ProblemGenerator(seed).draw();
    for (const bool is_apart : {false, true}) {
      problem.rules.keeps_tenants_apart = is_apart;
      const auto instance = make_instance(problem);
      if (!instance) continue;
      ASSERT_TRUE(std::ranges::is_sorted(instance->demands, {}, &InstanceDemand::pool));
      std::set<std::uint32_t> pools;
      for (const InstanceDemand& a : instance->demands) {
        pools.insert(a.pool);
        for (const InstanceDemand& b : instance->demands) {
          const bool is_same = problem.demands[a.demand].tenant == problem.demands[b.demand].tenant;
          ASSERT_EQ(a.pool == b.pool, is_same || !is_apart) << "seed " << seed;
        }
      }
      ASSERT_EQ(instance->pool_count, std::max<std::size_t>(1, pools.size()));
      ASSERT_EQ(pools.empty() ? 1 : *pools.rbegin() + 1, instance->pool_count);
    }
  }
}

TEST(Instance, OnePoolHasItsDemandsOnly) {
  PackingProblem problem = one_demand("A30-24GB", "1g.6gb", Decimal(1), Decimal(1));
  for (const char* tenant : {"x", "y", "x"}) {
    problem.demands.push_back(problem.demands[0]);
    problem.demands.back().tenant = tenant;
  }
  problem.rules.keeps_tenants_apart = true;
  const Instance instance = *make_instance(problem);
  ASSERT_EQ(instance.pool_count, 3U);
  const Instance one = instance.only_pool(1);
  EXPECT_EQ(one.pool_count, 1U);
  ASSERT_EQ(one.demands.size(), 2U);
  EXPECT_EQ(one.demands[0].demand, 1U);
  EXPECT_EQ(one.demands[1].demand, 3U);
  EXPECT_EQ(one.demands[1].pool, 0U);
  EXPECT_EQ(one.kinds.size(), instance.kinds.size());
}

struct BadProblem {
  const char* name;
  void (*breaks)(PackingProblem&);
  std::vector<const char*> messages;
};

class InstanceFault : public ::testing::TestWithParam<BadProblem> {};

TEST_P(InstanceFault, IsRefusedWithAllNames) {
  PackingProblem problem = one_demand("A30-24GB", "1g.6gb", Decimal(1), Decimal(1));
  ASSERT_TRUE(make_instance(problem).has_value());
  GetParam().breaks(problem);
  const auto instance = make_instance(problem);
  ASSERT_FALSE(instance.has_value());
  EXPECT_EQ(instance.error().code, ErrorCode::kInvalidInput);
  for (const char* message : GetParam().messages) {
    EXPECT_NE(instance.error().message.find(message), std::string::npos) << instance.error().message;
  }
}

const BadProblem bad_problems[] = {
    {"no_table",
     [](PackingProblem& problem) { problem.tables.clear(); },
     {"wanted a profile of every model, found none of \"m\""}},
    {"no_point",
     [](PackingProblem& problem) { problem.tables[0].points[0].latency_ms = Decimal(45); },
     {"on A30-24GB with a latency below 0.45 x the target and at most 3 processes", "none for \"m\""}},
    {"other_gpu", [](PackingProblem& problem) { problem.tables[0].points[0].gpu = "L4-24GB"; }, {"none for \"m\""}},
    {"digits",
     [](PackingProblem& problem) {
       problem.demands[0].requests_per_second = *Decimal::parse("1.0000000000000001");
       problem.tables[0].points[0].requests_per_second = *Decimal::parse("3000000000000000000.7");
     },
     {"fewer digits", "\"m\""}},
    {"many",
     [](PackingProblem& problem) { problem.demands[0].requests_per_second = Decimal(kSlicesMax + 1); },
     {"at most 1000000 slices"}},
    {"several",
     [](PackingProblem& problem) {
       for (const char* model : {"a", "b"}) {
         problem.demands.push_back(problem.demands[0]);
         problem.demands.back().model = model;
       }
       problem.tables[0].points.clear();
     },
     {"\"a\" of \"m\", \"b\" of \"m\"", "; wanted a profiled point", "none for \"m\""}}};

INSTANTIATE_TEST_SUITE_P(Instance, InstanceFault, ::testing::ValuesIn(bad_problems),
                         [](const auto& tested) { return tested.param.name; });

TEST(Instance, TheMostSlicesAreAllowed) {
  EXPECT_TRUE(make_instance(one_demand("A30-24GB", "1g.6gb", Decimal(1), Decimal(kSlicesMax))).has_value());
}

}  // namespace
}  // namespace berth::packing::detail
