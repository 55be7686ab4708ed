#include "transition/transition.h"

#include <algorithm>

#include "transition/detail/improve.h"
#include "transition/detail/order.h"
#include "transition/detail/start.h"
#include "transition/detail/view.h"

namespace berth::transition {
namespace {

using detail::HeldAt;
using detail::kNone;
using detail::OrderedStep;
using detail::Rate;
using detail::SitePlan;
using detail::TransitionView;

constexpr std::int64_t kPackNodesShare = 50;  ///< of the budget, for one packing of the rest

/// Writes a site plan and the order of its steps as a Transition.
class Writer {
 public:
  Writer(const PackingProblem& problem, const StandingPlan& standing, const TransitionView& view, const SitePlan& plan)
      : problem_(problem), standing_(standing), view_(view), plan_(plan), retuned_(view.standing.size(), 0) {}

  Transition run() {
    add_gone();
    number_gpus();
    add_target();
    const detail::Order order = detail::order_of(view_, plan_, retuned_);
    for (const int offer : order.spare_offers) {
      answer_.gpus.push_back({static_cast<std::uint32_t>(offer), std::nullopt, std::nullopt});
    }
    answer_.spare_gpus = static_cast<std::int64_t>(order.spare_offers.size());
    for (const OrderedStep& step : order.steps) add_step(step);
    return std::move(answer_);
  }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void add_gone() {
    gone_numbers_.assign(standing_.demands.size(), 0);
    for (std::size_t i = 0; i < standing_.demands.size(); ++i) {
      const Demand& old = standing_.demands[i];
      const auto is_same = [&](const Demand& demand) {
        return demand.model == old.model && demand.tenant == old.tenant;
      };
      if (std::ranges::any_of(problem_.demands, is_same)) continue;
      gone_numbers_[i] = static_cast<std::uint32_t>(problem_.demands.size() + answer_.gone.size());
      answer_.gone.push_back(old);
    }
  }

  /// Existing sites keep their numbers among the GPUs of the transition; new ones follow if they are used.
  void number_gpus() {
    std::uint32_t targets = 0;
    for (std::size_t site = 0; site < plan_.size(); ++site) {
      TransitionGpu gpu;
      gpu.offer = static_cast<std::uint32_t>(view_.sites[site].offer);
      if (view_.sites[site].is_standing) gpu.standing = static_cast<std::uint32_t>(site);
      if (!plan_[site].empty()) gpu.target = targets++;
      gpu_of_site_.push_back(static_cast<std::uint32_t>(answer_.gpus.size()));
      if (!gpu.standing && !gpu.target) continue;
      answer_.gpus.push_back(gpu);
      if (gpu.target) answer_.target.gpu_offers.push_back(gpu.offer);
    }
  }

  void add_target() {
    const auto slices = detail::by_demand(view_, plan_);
    for (const std::vector<HeldAt>& own : slices) {
      if (own.empty()) continue;
      const auto is_best = detail::tune(view_.demands[at(own.front().held.demand)].need, rates_of(view_, own));
      for (std::size_t i = 0; i < own.size(); ++i) add_target_slice(own[i], (*is_best)[i]);
    }
    std::ranges::sort(answer_.target.slices, {}, &PackedSlice::slice);
    answer_.destroyed = static_cast<std::int64_t>(view_.standing.size()) - answer_.kept;
  }

  void add_target_slice(const HeldAt& own, bool is_best) {
    PackedSlice slice = at_best_point(own.site, own.held.place, own.held.demand);
    if (own.held.standing == kNone) {
      ++answer_.created;
    } else {
      ++answer_.kept;
      const detail::StandingView& stood = view_.standing[at(own.held.standing)];
      const PackedSlice& old = standing_.packing.slices[at(own.held.standing)];
      const bool is_other = old.batch != slice.batch || old.processes != slice.processes;
      if (stood.must_retune || (is_best && is_other)) {
        ++answer_.retuned;
        retuned_[at(own.held.standing)] = stood.best;
      } else {
        slice.batch = old.batch;
        slice.processes = old.processes;
        const GpuModel& model = problem_.offers[at(view_.sites[at(own.site)].offer)].model;
        slice.requests_per_second = rate_in_force(problem_, model, problem_.demands[at(own.held.demand)], old);
      }
    }
    slice.slice.gpu.index = *answer_.gpus[gpu_of_site_[at(own.site)]].target;
    answer_.target.slices.push_back(slice);
  }

  /// A slice of a site, with the site's number.
  [[nodiscard]] PackedSlice at_best_point(int site, int place, int demand) const {
    PackedSlice slice = bare(site, place);
    slice.demand = static_cast<std::uint32_t>(demand);
    const GpuModel& model = problem_.offers[offer_at(site)].model;
    const auto point = packing::best_point(problem_, problem_.demands[at(demand)], model, slice.slice.profile);
    slice.batch = point->batch;
    slice.processes = point->processes;
    slice.requests_per_second = point->requests_per_second;
    return slice;
  }

  [[nodiscard]] PackedSlice bare(int site, int place) const {
    const mig::Placement& placement = view_.offers[offer_at(site)].places[at(place)];
    PackedSlice slice;
    slice.slice.start = placement.start;
    slice.slice.profile = placement.profile;
    return slice;
  }

  [[nodiscard]] std::size_t offer_at(int site) const {
    if (at(site) < view_.sites.size()) return at(view_.sites[at(site)].offer);
    return answer_.gpus[gpu_at(site)].offer;
  }

  [[nodiscard]] std::uint32_t gpu_at(int site) const {
    if (at(site) < view_.sites.size()) return gpu_of_site_[at(site)];
    return static_cast<std::uint32_t>(answer_.gpus.size() - at(static_cast<int>(answer_.spare_gpus)) + at(site) -
                                      view_.sites.size());
  }

  void add_step(const OrderedStep& ordered) {
    TransitionStep step;
    step.kind = ordered.kind;
    step.is_temporary = ordered.is_temporary;
    if (ordered.kind == StepKind::kDestroy && ordered.standing != kNone) {
      step.slice = as_it_stands(ordered);
    } else {
      step.slice = at_best_point(ordered.site, ordered.place, ordered.demand);
    }
    step.slice.slice.gpu.index = gpu_at(ordered.site);
    if (ordered.kind == StepKind::kCreate && ordered.is_temporary) ++answer_.temporary;
    answer_.steps.push_back(step);
  }

  [[nodiscard]] PackedSlice as_it_stands(const OrderedStep& ordered) const {
    PackedSlice slice = standing_.packing.slices[at(ordered.standing)];
    const GpuModel& model = problem_.offers[offer_at(ordered.site)].model;
    const bool is_gone = ordered.demand == kNone;
    slice.requests_per_second = rate_in_force(problem_, model, standing_.demands[slice.demand], slice);
    slice.demand = is_gone ? gone_numbers_[slice.demand] : static_cast<std::uint32_t>(ordered.demand);
    return slice;
  }

  const PackingProblem& problem_;
  const StandingPlan& standing_;
  const TransitionView& view_;
  const SitePlan& plan_;
  std::vector<Rate> retuned_;  ///< by existing slice
  std::vector<std::uint32_t> gone_numbers_;
  std::vector<std::uint32_t> gpu_of_site_;
  Transition answer_;
};

}  // namespace

std::string_view word_of(StepKind kind) {
  switch (kind) {
    case StepKind::kCreate:
      return "create";
    case StepKind::kDestroy:
      return "destroy";
    case StepKind::kRetune:
      return "retune";
  }
  return "";
}

const Demand& demand_of(const PackingProblem& problem, const Transition& transition, const TransitionStep& step) {
  const std::size_t index = step.slice.demand;
  return index < problem.demands.size() ? problem.demands[index] : transition.gone[index - problem.demands.size()];
}

Result<Transition> plan_transition(const PackingProblem& problem, const StandingPlan& standing,
                                   const packing::PackResult& fewest, const packing::PackOptions& options) {
  const auto view = detail::view_of(problem, standing, fewest);
  if (!view) return pass_on(view.error());
  const packing::PackOptions part = {.nodes_max = std::max<std::int64_t>(1, options.nodes_max / kPackNodesShare)};
  const detail::Packer packer = [&](const PackingProblem& rest) -> std::optional<Packing> {
    auto packed = pack(rest, part);
    if (!packed) return std::nullopt;
    return std::move(packed->packing);
  };
  const detail::Improved improved =
      detail::fewest_changes_plan(*view, problem, fewest.packing, packer, options.nodes_max);
  Transition answer = Writer(problem, standing, *view, improved.plan).run();
  answer.changes_bound = improved.bound;
  answer.is_fewest_proven = improved.bound == answer.changes();
  answer.nodes = improved.nodes;
  return answer;
}

}  // namespace berth::transition
