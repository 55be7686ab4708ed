#include "planner/one_gpu/detail/pool.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

using testing::room_of;

using Shares = std::vector<Share>;

/// A part of the window, and the factor of the price of progress; -1: all models are fresh.
struct PoolRange {
  SlotIndex from = SlotIndex(0);
  SlotIndex to = SlotIndex(0);
  double progress_factor = -1;
};

/// The rest of the window, its halves, quarters and eighths, and the ranges between due slots.
std::vector<std::pair<SlotIndex, SlotIndex>> ranges_of(const GpuCase& gpu_case) {
  const SlotIndex first = gpu_case.first_slot;
  const int left = gpu_case.problem.slots - first;
  std::vector<std::pair<SlotIndex, SlotIndex>> ranges;
  for (const int parts : {1, 2, 4, 8}) {
    for (int part = 0; part < parts && left >= parts; ++part) {
      ranges.emplace_back(first + left * part / parts, first + left * (part + 1) / parts);
    }
  }
  std::vector<SlotIndex> marks = {first, gpu_case.end()};
  for (const ServiceTerms& service : gpu_case.problem.services) {
    for (SlotIndex slot = first + 1; slot < gpu_case.problem.slots; ++slot) {
      if (service.retraining && std::ranges::count(service.retraining->due_slots, slot) > 0) marks.push_back(slot);
    }
  }
  std::ranges::sort(marks);
  for (std::size_t i = 1; i < marks.size(); ++i) {
    if (marks[i - 1] < marks[i]) ranges.emplace_back(marks[i - 1], marks[i]);
  }
  return ranges;
}

/// The value of a service with a share in a part of the window: serving, the tail if it is the last part, and progress.
double stretch_value(const GpuCase& gpu_case, const Prices& prices, ServiceIndex service, const Share& share,
                     const PoolRange& stretch) {
  const auto& retraining = gpu_case.problem.services[service].retraining;
  const bool is_stale = stretch.progress_factor >= 0 && retraining &&
                        (retraining->is_stale || std::ranges::any_of(retraining->due_slots, [&](SlotIndex due) {
                           return due <= stretch.from;
                         }));
  const LevelIndex level = gpu_case.bundles[service].level[share.bundle];
  double value = gpu_case.served[service].value(level, !is_stale, stretch.from, stretch.to);
  if (stretch.to == gpu_case.problem.slots) value += gpu_case.served[service].tail(level, !is_stale);
  if (!is_stale || share.retraining_kind < 0) return value;
  const double price = std::ranges::max(prices.progress[service]) * stretch.progress_factor;
  return value + price * gpu_case.progress_rate(service, share.retraining_kind) * (stretch.to - stretch.from);
}

/// Whether a service has as many pieces of each kind as there are sites of it that are pinned to the service.
bool has_pinned(const GpuCase& gpu_case, ServiceIndex service, const Share& share) {
  std::vector<int> missing(gpu_case.model.rates.size());
  for (const PinnedSite& pin : gpu_case.gpu.pins) {
    if (pin.service == service) ++missing[gpu_case.model.sites[pin.site].kind];
  }
  const Bundles& bundles = gpu_case.bundles[service];
  for (const ItemIndex item : indices_of<ItemIndex>(bundles.items)) {
    missing[bundles.items[item].kind] -= bundles.count_of(share.bundle, item);
  }
  if (share.retraining_kind >= 0) --missing[share.retraining_kind];
  return std::ranges::all_of(missing, [](int each) { return each <= 0; });
}

/// Calls `visit` with all shares that fit on the GPU together and hold the pinned slices.
void visit_all(const GpuCase& gpu_case, RoomIndex taken, Shares& shares,
               const std::function<void(const Shares&)>& visit) {
  const ServiceIndex service(shares.size());
  if (ix(service) == gpu_case.bundles.size()) {
    visit(shares);
    return;
  }
  for (const BundleIndex bundle : Indices<BundleIndex>(gpu_case.bundles[service].count())) {
    for (KindIndex kind = kNoKind; kind < gpu_case.rooms.kinds(); ++kind) {
      const Share share{.bundle = bundle, .retraining_kind = kind};
      if (kind >= 0 && gpu_case.progress_rate(service, kind) <= 0) continue;
      const RoomIndex room = room_of(gpu_case, service, share);
      const RoomIndex joined = room == kNoRoom ? kNoRoom : gpu_case.rooms.join(taken, room);
      if (joined == kNoRoom || !has_pinned(gpu_case, service, share)) continue;
      shares.push_back(share);
      visit_all(gpu_case, joined, shares, visit);
      shares.pop_back();
    }
  }
}

double value_of_all(const GpuCase& gpu_case, const Prices& prices, const Shares& shares, const PoolRange& stretch) {
  double sum = 0;
  for (const ServiceIndex service : indices_of<ServiceIndex>(shares)) {
    sum += stretch_value(gpu_case, prices, service, shares[service], stretch);
  }
  return sum;
}

std::vector<PoolRange> stretches_of(const GpuCase& gpu_case) {
  std::vector<PoolRange> stretches;
  for (const auto& [from, to] : ranges_of(gpu_case)) {
    for (const double factor : {-1.0, 0.0, 1.0, 2.0}) {
      stretches.push_back({.from = from, .to = to, .progress_factor = factor});
    }
  }
  return stretches;
}

TEST(Pool, HasTheBestSharesOfEachStretch) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(200, 20))) {
    SCOPED_TRACE(fmt::format("tiny_problem(Rng({}))", seed));
    Problem problem = testing::tiny_problem(Rng(seed));
    problem.gpus.resize(1);
    const GpuCase gpu_case(problem);
    const OneGpuSearch search(gpu_case);
    const PriceBound prices(gpu_case, search.starts(), 2, 1);
    const std::vector<Shares> pool = make_pool(gpu_case, prices.prices());
    ASSERT_EQ(pool.empty(), gpu_case.first_slot == problem.slots) << "nothing to change, or nothing to change to";
    EXPECT_TRUE(std::ranges::is_sorted(pool));
    EXPECT_EQ(std::ranges::adjacent_find(pool), pool.end()) << "repeated";
    std::vector<Shares> all;
    Shares shares;
    visit_all(gpu_case, kEmptyRoom, shares, [&](const Shares& each) { all.push_back(each); });
    if (all.empty()) continue;  // pins that cannot be held
    std::ranges::sort(all);
    for (const Shares& each : pool) EXPECT_TRUE(std::ranges::binary_search(all, each));
    for (const PoolRange& stretch : stretches_of(gpu_case)) {
      const auto value = [&](const Shares& each) { return value_of_all(gpu_case, prices.prices(), each, stretch); };
      const double best = value(*std::ranges::max_element(all, {}, value));
      const double found = value(*std::ranges::max_element(pool, {}, value));
      ASSERT_NEAR(found, best, 1e-9 * (1 + std::abs(best)))
          << fmt::format("[{}, {}) at {}", stretch.from, stretch.to, stretch.progress_factor);
    }
    ++judged;
  }
  EXPECT_GT(judged, 0);
}

/// A burst in one quarter of the window has its own best shares.
TEST(Pool, HasSharesForABurst) {
  Problem problem = testing::quarters_problem(2, 16);
  for (std::size_t slot = 0; slot <= 16; ++slot) {
    problem.services[0].loads[slot] = slot >= 4 && slot < 8 ? 40 : 10;
  }
  const GpuCase gpu_case(problem);
  const OneGpuSearch search(gpu_case);
  const PriceBound prices(gpu_case, search.starts(), 4, 1);
  double most = 0;
  for (const Shares& shares : make_pool(gpu_case, prices.prices())) {
    const Bundles& bundles = gpu_case.bundles[0];
    if (gpu_case.bundles[1].rate[ix(shares[1].bundle)] >= 10) {
      most = std::max(most, bundles.rate[ix(shares[0].bundle)]);
    }
  }
  EXPECT_DOUBLE_EQ(most, 30);
}

}  // namespace
}  // namespace berth::planner
