#include "engine/policy/detail/static_best.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/policy/detail/layouts.h"
#include "engine/policy/trials.h"
#include "engine/rivals/layout.h"

namespace berth::policy::detail {
namespace {

std::vector<double> weights_of(const Inputs& inputs) {
  if (inputs.scenario.objective == Objective::kRequests) return total_requests(inputs);
  std::vector<double> weights;
  weights.reserve(inputs.scenario.services.size());
  for (const ServiceSpec& service : inputs.scenario.services) weights.push_back(service.weight.to_double());
  return weights;
}

/// After a search with approximate scores: replays its best layout and the even one in full, and keeps the better.
void choose_finalist(const Inputs& inputs, partition::StaticBest& best) {
  const partition::LayoutOrInfeasible even = partition::static_even_layout(inputs.scenario);
  const auto* found = std::get_if<partition::Layout>(&best.layout);
  const auto* other = std::get_if<partition::Layout>(&even);
  if (found == nullptr || other == nullptr || *found == *other) return;
  best.evaluations += 2;
  const double score_of_even = inputs.trials.score_in_full(*other);
  if (score_of_even > inputs.trials.score_in_full(*found)) best.layout = *other;
}

partition::StaticBest search(const Inputs& inputs) {
  partition::StaticBestSearch search;
  search.score_service = inputs.trials.score_service;
  search.score_layout = inputs.trials.score_layout;
  search.weights = weights_of(inputs);
  search.is_separable =
      std::ranges::all_of(inputs.scenario.interference, [](const Decimal& factor) { return factor == Decimal(1); });
  search.evaluations_max = kLayoutTrialsMax;
  search.serves_every_service = false;  // the best layout may starve one
  partition::StaticBest best = partition::static_best_layout(inputs.scenario, search);
  if (inputs.trials.is_rough) choose_finalist(inputs, best);
  return best;
}

}  // namespace

MadePolicy make_static_best(const Inputs& inputs) {
  partition::StaticBest best = search(inputs);
  MadePolicy made =
      layout_once(inputs, "static-best", [layout = std::move(best.layout)](const Snapshot&) { return layout; });
  made.how = [how = fmt::format("{}: {} layouts tried by {} replays",
                                best.is_exhaustive ? "exhaustive" : "a local search", best.layouts_tried,
                                best.evaluations)] { return how; };
  return made;
}

}  // namespace berth::policy::detail
