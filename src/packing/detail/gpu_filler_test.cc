#include "packing/detail/gpu_filler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "domain/scenario.h"
#include "mig/catalogue.h"

namespace berth::packing::detail {
namespace {

/// An instance whose kinds are all profiles of one GPU model.
Instance instance_of(const char* gpu) {
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

/// The fewest GPUs, memoised over all counts: each partition takes one GPU off.
class FewestGpus {
 public:
  explicit FewestGpus(const Instance& instance) : instance_(instance) {}
  std::int64_t of(const Counts& counts) {
    if (std::ranges::all_of(counts, [](int n) { return n <= 0; })) return 0;
    if (const auto known = known_.find(counts); known != known_.end()) return known->second;
    std::int64_t least = 1000;
    for (const Counts& cut : instance_.offers.front().cuts) {
      Counts rest = counts;
      bool takes_one = false;
      for (std::size_t k = 0; k < rest.size(); ++k) {
        if (rest[k] > 0 && cut[k] > 0) takes_one = true;
        rest[k] = std::max(0, rest[k] - cut[k]);
      }
      if (takes_one) least = std::min(least, 1 + of(rest));
    }
    return known_[counts] = least;
  }

 private:
  const Instance& instance_;
  std::map<Counts, std::int64_t> known_;
};

TEST(GpuFiller, CutsOfTheA100AreItsLargestMultisets) {
  // The 19 maximal layouts hold 14 different multisets. Two of them, 3g+2g+1g and 3g+1g+1g+1g, are subsets of others.
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model("A100-80GB").value()});
  const Instance instance = make_instance(problem).value();
  EXPECT_EQ(instance.kinds.size(), 5U);
  EXPECT_EQ(instance.offers.front().cuts.size(), 12U);
}

TEST(GpuFiller, IsExactOnSmallCounts) {
  Rng rng(11);
  for (const char* gpu : {"A100-80GB", "A30", "H100-80GB", "RTX"}) {
    const Instance instance = instance_of(gpu);
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
      for (const CutUse& use : needed.cuts) {
        gpus += use.gpus;
        for (std::size_t k = 0; k < held.size(); ++k) {
          held[k] += static_cast<std::int32_t>(use.gpus) * instance.offers.front().cuts[use.cut][k];
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

}  // namespace
}  // namespace berth::packing::detail
