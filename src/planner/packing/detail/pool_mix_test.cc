#include "planner/packing/detail/pool_mix.h"

#include <gtest/gtest.h>

#include "planner/packing/detail/diving.h"
#include "planner/packing/testing/limited_fleets.h"

namespace berth::packing::detail {
namespace {

/// Two GPU models without MIG, of which both tenants prefer the first.
class TwoTenants {
 public:
  /// A demand of 10 for each tenant; the first model gives `first` of it and costs 1, the second one gives 10 and costs
  /// `price`, by tenant.
  struct Speeds {
    std::int64_t first = 0;
    std::int64_t second = 0;
  };
  TwoTenants(const std::vector<Speeds>& tenants, std::int64_t first_count, std::int64_t second_price) {
    instance_.kinds = {{.offer = 0, .profile = ProfileId::full()}, {.offer = 1, .profile = ProfileId::full()}};
    instance_.offers = {{.partitions = {{1, 0}}, .count_max = first_count, .price = 1},
                        {.partitions = {{0, 1}}, .count_max = 4, .price = second_price}};
    for (std::uint32_t pool = 0; pool < tenants.size(); ++pool) {
      instance_.demands.push_back(
          {.demand = pool, .pool = pool, .rate = 10, .throughput = {tenants[pool].first, tenants[pool].second}});
    }
    instance_.pool_count = static_cast<std::uint32_t>(tenants.size());
    for (std::uint32_t o = 0; o < instance_.offers.size(); ++o) fillers_.emplace_back(instance_, o);
  }

  [[nodiscard]] std::optional<CoverChoice> mix() {
    const Counts nothing(2, 0);
    const Relaxation relaxation =
        relax(instance_, {.counts_slices = false, .limits = count_limits(instance_), .extra = nothing});
    Budget budget{.nodes_max = 1'000'000, .nodes = 0};
    return mix_pools(instance_, fillers_, relaxation, {.price_min = 0, .starts = {}, .plan = nullptr}, budget);
  }

 private:
  Instance instance_;
  std::vector<GpuFiller> fillers_;
};

TEST(MixPools, AScarceGpuGoesToTheTenantThatSavesMostByIt) {
  // Without it the first tenant takes one GPU of the second model, the second tenant two.
  EXPECT_EQ(TwoTenants({{10, 10}, {10, 5}}, 1, 5).mix(), (CoverChoice{{0, 1}, {1, 0}}));
  EXPECT_EQ(TwoTenants({{10, 5}, {10, 10}}, 1, 5).mix(), (CoverChoice{{1, 0}, {0, 1}}));
}

TEST(MixPools, PlentifulGpusGoToBoth) {
  EXPECT_EQ(TwoTenants({{10, 10}, {10, 5}}, 2, 5).mix(), (CoverChoice{{1, 0}, {1, 0}}));
}

TEST(MixPools, TheTenantWithoutAnAlternativeIsServedFirst) {
  EXPECT_EQ(TwoTenants({{10, 10}, {10, 0}}, 1, 50).mix(), (CoverChoice{{0, 1}, {1, 0}}));
}

TEST(MixPools, TooFewGpusAreNoPlan) { EXPECT_EQ(TwoTenants({{10, 0}, {10, 0}}, 1, 5).mix(), std::nullopt); }

}  // namespace
}  // namespace berth::packing::detail
