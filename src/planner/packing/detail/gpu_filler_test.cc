#include "planner/packing/detail/gpu_filler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/core/rng.h"
#include "base/core/test_cases.h"
#include "domain/mig/catalogue.h"
#include "domain/values/scenario.h"
#include "planner/packing/testing/packings.h"

namespace berth::packing::detail {
namespace {

constexpr std::uint64_t kGpuFillerCases = berth::testing::by_build(200, 30);

/// An instance whose kinds are all profiles of one GPU model.
Instance profiles_instance_of(const char* gpu) {
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model(gpu).value()});
  Demand demand{.model = "m", .tenant = "m", .requests_per_second = Decimal(1), .latency_ms = Decimal(100)};
  PerformanceTable table{.model = "m", .points = {}};
  const GpuModel& model = problem.offers.front().model;
  for (std::uint16_t p = 0; p < model.profiles.size(); ++p) {
    table.points.push_back({.gpu = model.name,
                            .profile = profile_name(model, {p}),
                            .batch = 1,
                            .processes = 1,
                            .requests_per_second = Decimal(1),
                            .latency_ms = Decimal(1)});
  }
  problem.tables = {table};
  problem.demands = {demand};
  return make_instance(problem).value();
}

/// The fewest GPUs by memory over all counts: one GPU less with each partition.
class FewestGpus {
 public:
  explicit FewestGpus(const Instance& instance) : instance_(instance) {}
  std::int64_t of(const Counts& counts) {
    if (std::ranges::all_of(counts, [](int n) { return n <= 0; })) return 0;
    if (const auto known = known_.find(counts); known != known_.end()) return known->second;
    std::int64_t least = 1000;
    for (const Counts& partition : instance_.offers.front().partitions) {
      Counts rest = counts;
      bool takes_one = false;
      for (std::size_t k = 0; k < rest.size(); ++k) {
        if (rest[k] > 0 && partition[k] > 0) takes_one = true;
        rest[k] = std::max(0, rest[k] - partition[k]);
      }
      if (takes_one) least = std::min(least, 1 + of(rest));
    }
    return known_[counts] = least;
  }

 private:
  const Instance& instance_;
  std::map<Counts, std::int64_t> known_;
};

TEST(GpuFiller, PartitionsOfTheA100AreItsLargestMultisets) {
  // The 19 maximal layouts hold 14 different multisets. Two of them, 3g+2g+1g and 3g+1g+1g+1g, lie within others.
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model("A100-80GB").value()});
  const Instance instance = make_instance(problem).value();
  EXPECT_EQ(instance.kinds.size(), 5U);
  EXPECT_EQ(instance.offers.front().partitions.size(), 12U);
}

TEST(GpuFiller, IsExactOnSmallCounts) {
  Rng rng(11);
  for (const char* gpu : {"A100-80GB", "A30", "H100-80GB", "RTX"}) {
    const Instance instance = profiles_instance_of(gpu);
    GpuFiller filler(instance, 0);
    FewestGpus fewest(instance);
    for (int round = 0; round < 150; ++round) {
      Counts counts(instance.kinds.size(), 0);
      for (std::uint64_t i = rng.below(9); i > 0; --i) ++counts[rng.below(counts.size())];
      Budget budget{.nodes_max = 1'000'000};
      const GpusNeeded needed = filler.gpus_for(counts, budget);
      ASSERT_EQ(needed.gpus, fewest.of(counts)) << gpu << " round " << round;
      ASSERT_EQ(needed.bound, needed.gpus) << gpu << " round " << round;
      std::int64_t gpus = 0;
      Counts held(counts.size(), 0);
      for (const PartitionUse& use : needed.partitions) {
        gpus += use.gpus;
        for (std::size_t k = 0; k < held.size(); ++k) {
          held[k] += static_cast<std::int32_t>(use.gpus) * instance.offers.front().partitions[use.partition][k];
        }
      }
      ASSERT_EQ(gpus, needed.gpus);
      for (std::size_t k = 0; k < held.size(); ++k) ASSERT_GE(held[k], counts[k]);
    }
  }
}

TEST(GpuFiller, ThousandsOfGpusAreFilledAtOnce) {
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model("A100-80GB").value()});
  const Instance instance = make_instance(problem).value();
  GpuFiller filler(instance, 0);
  Budget budget{.nodes_max = 1'000'000};
  // 1g, 2g, 3g, 4g, 7g in the catalogue's order of profiles: a 4g and a 3g share a GPU.
  Counts counts(5, 0);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    const int slices = problem.offers.front().model.profiles[instance.kinds[k].profile.index].compute_slices;
    counts[k] = slices == 4 || slices == 3 ? 4000 : slices == 7 ? 1000 : slices == 2 ? 3000 : 1000;
  }
  const GpusNeeded needed = filler.gpus_for(counts, budget);
  EXPECT_EQ(needed.bound, 6000);
  EXPECT_EQ(needed.gpus, 6000);
}

Counts drawn_counts(const Instance& instance, Rng& rng, std::uint64_t slices_max) {
  Counts counts(instance.kinds.size(), 0);
  for (std::uint64_t i = rng.below(slices_max + 1); i > 0; --i) ++counts[rng.below(counts.size())];
  return counts;
}

/// Whether the partitions hold the slices of one offer.
bool holds(const Instance& instance, std::uint32_t offer, const GpusNeeded& needed, const Counts& counts) {
  Counts held(counts.size(), 0);
  std::int64_t gpus = 0;
  for (const PartitionUse& use : needed.partitions) {
    gpus += use.gpus;
    for (std::size_t k = 0; k < held.size(); ++k) {
      held[k] += static_cast<std::int32_t>(use.gpus) * instance.offers[offer].partitions[use.partition][k];
    }
  }
  for (std::size_t k = 0; k < held.size(); ++k) {
    if (instance.kinds[k].offer == offer && held[k] < counts[k]) return false;
  }
  return gpus == needed.gpus;
}

// With all features of problems: several offers, media profiles, whole GPUs.
TEST(GpuFiller, FillsWhatIsAskedAndBoundsIt) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kGpuFillerCases)) {
    const auto instance = make_instance(reference::ProblemGenerator(seed).draw());
    if (!instance) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("filler");
    for (std::uint32_t o = 0; o < instance->offers.size(); ++o) {
      GpuFiller filler(*instance, o);
      for (const std::uint64_t slices_max : {6U, 20U, 400U}) {
        const Counts counts = drawn_counts(*instance, rng, slices_max);
        if (instance->offers[o].partitions.empty()) continue;
        ++judged;
        Budget budget{.nodes_max = 100'000};
        const GpusNeeded needed = filler.gpus_for(counts, budget);
        ASSERT_TRUE(holds(*instance, o, needed, counts));
        ASSERT_LE(needed.bound, needed.gpus);
        ASSERT_LE(filler.bound_for(counts), needed.bound);
      }
    }
  }
  EXPECT_GT(judged, static_cast<int>(kGpuFillerCases));
}

TEST(GpuFiller, RowsHoldForEveryPartition) {
  for (const std::uint64_t seed : berth::testing::case_seeds(kGpuFillerCases)) {
    const auto instance = make_instance(reference::ProblemGenerator(seed).draw());
    if (!instance) continue;
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng = Rng(seed).split("rows");
    for (std::uint32_t o = 0; o < instance->offers.size(); ++o) {
      GpuFiller filler(*instance, o);
      // Calls add rows.
      for (int i = 0; i < 5 && !instance->offers[o].partitions.empty(); ++i) {
        Budget budget{.nodes_max = 100'000};
        (void)filler.gpus_for(drawn_counts(*instance, rng, 12), budget);
      }
      for (const GpuRow& row : filler.rows()) {
        ASSERT_GT(row.value, 0);
        for (const Counts& partition : instance->offers[o].partitions) {
          std::int64_t weight = 0;
          for (std::size_t k = 0; k < partition.size(); ++k) weight += row.weights[k] * partition[k];
          ASSERT_LE(weight, row.value);
        }
        ASSERT_TRUE(std::ranges::all_of(row.weights, [](std::int64_t weight) { return weight >= 0; }));
      }
    }
  }
}

TEST(GpuFiller, OtherOffersSlicesDoNotCount) {
  const PackingProblem problem = reference::ProblemGenerator(0).draw();
  PackingProblem two = problem;
  two.offers = {{.model = *mig::find_gpu_model("A30-24GB")}, {.model = *mig::find_gpu_model("A100-80GB")}};
  two.demands.clear();
  const Instance instance = *make_instance(two);
  Counts counts(instance.kinds.size(), 0);
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (instance.kinds[k].offer == 1) counts[k] = 3;
  }
  GpuFiller filler(instance, 0);
  Budget budget{.nodes_max = 1000};
  EXPECT_EQ(filler.gpus_for(counts, budget).gpus, 0);
  EXPECT_EQ(filler.bound_for(counts), 0);
}

// The answer is cached by then.
TEST(GpuFiller, ASecondQuestionCostsNothing) {
  PackingProblem problem;
  problem.offers = {{.model = *mig::find_gpu_model("A100-80GB")}};
  const Instance instance = *make_instance(problem);
  GpuFiller filler(instance, 0);
  Budget budget{.nodes_max = 100'000};
  const Counts counts = {3, 4, 2, 3, 1};
  ASSERT_EQ(counts.size(), instance.kinds.size());
  const GpusNeeded first = filler.gpus_for(counts, budget);
  const std::int64_t nodes = budget.nodes;
  const GpusNeeded second = filler.gpus_for(counts, budget);
  EXPECT_EQ(second.gpus, first.gpus);
  EXPECT_EQ(budget.nodes, nodes);
}

}  // namespace
}  // namespace berth::packing::detail
