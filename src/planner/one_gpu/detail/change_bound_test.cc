#include "planner/one_gpu/detail/change_bound.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/core/test_cases.h"
#include "planner/one_gpu/detail/one_gpu_search.h"
#include "planner/one_gpu/detail/pool.h"
#include "planner/one_gpu/detail/search_state.h"
#include "planner/window/check.h"
#include "planner/window/testing/problems.h"

namespace berth::planner {
namespace {

constexpr int kPlacingsMax = 40;  // of one change

/// Whether a retraining would be completed when all is ready if its slice were handed over, but is not because the
/// slice is created. The change bound assumes it completed, which is worth no less, but may have the lower bound.
bool is_done_only_without_creating(const SearchState& state, const Label& child) {
  const Problem& problem = state.gpu_case.problem;
  const ModelTerms& terms = state.gpu_case.model;
  double create = 0;
  double destroy = 0;
  for (const KindIndex kind : Indices<KindIndex>(state.gpu_case.rooms.kinds())) {
    create = std::max(create, create_seconds_of(problem, terms, kind));
    destroy = std::max(destroy, destroy_seconds_of(problem, terms, kind));
  }
  const int more_slots =
      slots_of_seconds(problem.plumbing_seconds + create + destroy) - slots_of_seconds(problem.plumbing_seconds);
  for (const ServiceIndex service : Indices<ServiceIndex>(state.services())) {
    const KindIndex kind = state.labels.share_of(child, service).retraining_kind;
    const ModelState model = state.labels.state_of(child, service);
    if (kind < 0 || !model.is_open()) continue;
    if (model.progress + more_slots * state.gpu_case.progress_rate(service, kind) >= kDone) return true;
  }
  return false;
}

/// The bound of the label that a placement leads to; nothing if it is not allowed or cannot be compared.
std::optional<double> bound_of_placing(SearchState& state, SlotIndex t, const Configuration& to) {
  const ArrangementIndex number = state.arrangements.number_of(to);
  const Label& root = state.labels[LabelIndex(0)];
  if (!state.arrangements[number].may_begin || number == root.arrangement) return std::nullopt;
  const Labels::Mark before = state.labels.mark();
  const std::optional<Label> child = state.labels.change(root, number, t);
  if (!child) return std::nullopt;
  if (is_done_only_without_creating(state, *child)) {
    state.labels.undo(before);
    return std::nullopt;
  }
  const bool is_last = child->ready == state.gpu_case.end();
  const double bound =
      is_last ? child->value + state.labels.tail_of(*child) : state.bound.of(*child, child->ready, true, kNever);
  state.labels.undo(before);
  return bound;
}

/// No placement of the pieces is worth more than the bound computed before placing.
TEST(ChangeBound, IsNoLessThanThatOfAnyPlacing) {
  int judged = 0;
  for (const std::uint64_t seed : berth::testing::case_seeds(berth::testing::by_build(2000, 60))) {
    SCOPED_TRACE(fmt::format("small_problem(Rng({}))", seed));
    Problem problem = testing::small_problem(Rng(seed));
    problem.gpus.resize(1);
    const GpuCase gpu_case(problem);
    SearchState state(gpu_case);
    if (gpu_case.first_slot == gpu_case.end() || state.labels.root().value == kNever) continue;
    const PriceBound prices(gpu_case, OneGpuSearch(gpu_case).starts(), 2, 1);
    state.bound.use(prices);
    state.restart_pass({});
    ChangeBound change_bound(gpu_case, state.arrangements, state.labels, state.bound, state.incumbent);
    const SlotIndex t = gpu_case.first_slot;
    const Arrangement from = state.labels.arrangement_of(state.labels.root());
    for (const std::vector<Share>& shares : make_pool(gpu_case, prices.prices())) {
      const double bound = change_bound.of(LabelIndex(0), t, shares);
      int left = kPlacingsMax;
      const auto expect_no_more = [&](const Configuration& to) {
        const std::optional<double> placed = bound_of_placing(state, t, to);
        if (placed) {
          ++judged;
          EXPECT_GE(bound, *placed - 1e-7 * (1 + std::abs(*placed)));
        }
        return --left > 0;
      };
      (void)state.arrangements.visit_placings(
          from, shares, [](const std::vector<Share>&) { return true; }, expect_no_more);
    }
  }
  EXPECT_GT(judged, 0);
}

/// Prices and a search with a root label, to query the bounds of its changes.
struct Asked {
  explicit Asked(const Problem& problem)
      : gpu_case(problem),
        state(gpu_case),
        prices(gpu_case, OneGpuSearch(gpu_case).starts(), 2, 1),
        change_bound(gpu_case, state.arrangements, state.labels, state.bound, state.incumbent) {
    state.bound.use(prices);
    state.restart_pass({});
  }
  /// The bound of a change of the root in slot 0.
  double bound_of(const Configuration& to) {
    const std::vector<Share> shares = state.arrangements[state.arrangements.number_of(to)].shares;
    return change_bound.of(LabelIndex(0), SlotIndex(0), shares);
  }
  GpuCase gpu_case;
  SearchState state;
  PriceBound prices;
  ChangeBound change_bound;
};

double worth_of(const Problem& problem, const Configuration& to) {
  const Schedule schedule = {.gpus = {{{.slot = SlotIndex(0), .to = to}}}};
  EXPECT_EQ(find_fault(problem, schedule), std::nullopt);
  return evaluate(problem, schedule).objective;
}

/// The other service leaves its quarter for a half. A retraining that takes over the quarter is completed in the only
/// slot, and its progress is then worth nothing; on a created quarter it stays unfinished, which is worth 90.
TEST(ChangeBound, DoesNotTakeSoonerDoneForBetter) {
  Problem problem = testing::quarters_problem(2, 1);
  problem.gpus[0].standing = {{.piece = {.site = SiteIndex(0), .service = ServiceIndex(1), .use = 0}, .ready_in = 0}};
  problem.services[0].retraining =
      RetrainingTerms{.is_stale = true, .progress = 0.9, .due_slots = {}, .progress_value = 100};
  const Configuration created = {{.site = SiteIndex(1), .service = ServiceIndex(0), .use = kRetraining},
                                 {.site = SiteIndex(5), .service = ServiceIndex(1), .use = 0}};
  EXPECT_NEAR(worth_of(problem, created), 90, 1e-9);
  EXPECT_GE(Asked(problem).bound_of(created), 90);
}

/// A retraining that lowers the accuracy, on a slice that is handed over to serve: it is never completed.
TEST(ChangeBound, DoesNotCountOnAStandingRetraining) {
  Problem problem = testing::quarters_problem(1, 4);
  problem.gpus[0].standing = {
      {.piece = {.site = SiteIndex(4), .service = ServiceIndex(0), .use = kRetraining}, .ready_in = 0}};
  ServiceTerms& service = problem.services[0];
  service.variants[0].accuracy_after = 0.5;
  service.retrains_elsewhere = true;
  service.retraining = RetrainingTerms{.is_stale = true, .progress = 0.5, .due_slots = {}};
  const Configuration serves = {{.site = SiteIndex(4), .service = ServiceIndex(0), .use = 0}};
  EXPECT_GE(Asked(problem).bound_of(serves), worth_of(problem, serves));
}

}  // namespace
}  // namespace berth::planner
