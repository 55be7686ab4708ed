#include "planner/one_gpu/detail/share_options.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/testing/configurations.h"
#include "planner/one_gpu/testing/tiny_search.h"

namespace berth::planner {
namespace {

using testing::room_of;
using testing::rounding_of;
using testing::TinySearch;

constexpr int kShareOptionsSeeds = berth::testing::by_build(200, 24);

/// Whether progress of a service can still count from slot t on.
bool may_train(const TinySearch& search, const Label& label, ServiceIndex service, SlotIndex t) {
  const ServiceTerms& terms = search.gpu_case.problem.services[service];
  if (!terms.retraining || terms.retrains_elsewhere) return false;
  const bool is_due = std::ranges::any_of(terms.retraining->due_slots, [&](SlotIndex due) { return due > t; });
  return is_due || search.state.labels.state_of(label, service).is_open();
}

/// Every share that a service could have, with its loss.
std::map<Share, double> share_losses(const TinySearch& search, const Label& label, ServiceIndex service, SlotIndex t) {
  const GpuCase& gpu_case = search.gpu_case;
  const Share old = search.state.labels.share_of(label, service);
  const double now = search.bounds.prices.from(service, t, old.bundle, search.state.labels.state_of(label, service));
  std::map<Share, double> losses;
  for (const BundleIndex bundle : Indices<BundleIndex>(gpu_case.bundles[service].count())) {
    for (KindIndex kind = kNoKind; kind < gpu_case.rooms.kinds(); ++kind) {
      const Share share{.bundle = bundle, .retraining_kind = kind};
      const bool trains_anew = kind >= 0 && kind != old.retraining_kind;
      if (trains_anew && (gpu_case.progress_rate(service, kind) <= 0 || !may_train(search, label, service, t)))
        continue;
      const RoomIndex room = gpu_case.bundles[service].room[bundle];
      if (kind >= 0 && gpu_case.rooms.add(room, kind) == kNoRoom) continue;
      losses[share] = now - search.options.value_with(label, service, share, t);
    }
  }
  losses[old] = 0;
  return losses;
}

void expect_options(const TinySearch& search, const std::vector<ShareOption>& options, ServiceIndex service,
                    const std::map<Share, double>& losses, double slack) {
  ASSERT_FALSE(options.empty());
  EXPECT_TRUE(std::ranges::is_sorted(options.begin() + 1, options.end(), {}, &ShareOption::loss));
  for (std::size_t i = 0; i < options.size(); ++i) {
    EXPECT_EQ(options[i].room, room_of(search.gpu_case, service, options[i].share));
    ASSERT_TRUE(losses.contains(options[i].share));
    EXPECT_EQ(options[i].loss, losses.at(options[i].share));
  }
  for (const auto& [share, loss] : losses) {
    const auto is_it = [&](const ShareOption& option) { return option.share == share; };
    const bool is_wanted = share == options.front().share || loss < slack;
    EXPECT_EQ(std::ranges::count_if(options, is_it), is_wanted ? 1 : 0);
  }
}

/// Also from the cached options of earlier labels.
TEST(ShareOptions, AreTheSharesThatLoseLessThanTheSlack) {
  std::size_t several = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kShareOptionsSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      if (!search.state.bound.has_prices()) return;
      const Label label = search.state.labels[branch.label];
      const double slack = std::abs(search.state.cutoff()) / 4;
      for (const ServiceIndex service : indices_of<ServiceIndex>(search.gpu_case.bundles)) {
        const std::vector<ShareOption>& found = search.options.of(label, service, branch.slot, slack);
        ASSERT_EQ(found.front().share, search.state.labels.share_of(label, service));
        expect_options(search, found, service, share_losses(search, label, service, branch.slot), slack);
        if (found.size() > 1) ++several;
      }
    });
  }
  EXPECT_GT(several, 0U);
}

/// The sum over services, at prices, bounds every change to such shares.
TEST(ShareOptions, AreWorthNoLessTogetherThanAnyChange) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(kShareOptionsSeeds)) {
    SCOPED_TRACE(fmt::format("one_gpu_of_tiny({})", seed));
    testing::visit_branches(seed, [&](TinySearch& search, const Branch& branch) {
      if (!search.state.bound.has_prices()) return;
      const Label label = search.state.labels[branch.label];
      for (const ArrangementIndex to : search.continuations.all()) {
        const double best = search.continuations.best_changed(label, branch.slot, to);
        if (best == kNever) continue;
        double bound = label.value + search.bounds.prices.income(branch.slot);
        for (const ServiceIndex service : indices_of<ServiceIndex>(search.gpu_case.bundles)) {
          bound +=
              search.options.value_with(label, service, search.state.arrangements[to].shares[service], branch.slot);
        }
        ASSERT_GE(bound, best - rounding_of(best));
        ++judged;
      }
    });
  }
  EXPECT_GT(judged, 0);
}

}  // namespace
}  // namespace berth::planner
