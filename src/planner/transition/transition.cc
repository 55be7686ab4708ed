#include "planner/transition/transition.h"

#include <algorithm>

#include "planner/packing/pack.h"
#include "planner/transition/detail/improve.h"
#include "planner/transition/detail/order.h"
#include "planner/transition/detail/start.h"
#include "planner/transition/detail/view.h"

namespace berth::transition {
namespace {

using detail::HeldAt;
using detail::kNone;
using detail::OrderedStep;
using detail::Rate;
using detail::SlicesByGpu;
using detail::TransitionView;

constexpr std::int64_t kPackNodesShare = 50;  ///< of the budget, for one packing of the rest

/// Writes a plan and the order of its steps as a Transition.
class Writer {
 public:
  Writer(const PackingProblem& problem, const StandingPlan& standing, const TransitionView& view,
         const SlicesByGpu& plan)
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

  /// Existing GPUs keep their numbers among the GPUs of the transition; new ones follow if they are used.
  void number_gpus() {
    std::uint32_t targets = 0;
    for (std::size_t gpu = 0; gpu < plan_.size(); ++gpu) {
      TransitionGpu entry;
      entry.offer = static_cast<std::uint32_t>(view_.gpus[gpu].offer);
      if (view_.gpus[gpu].is_standing) entry.standing = static_cast<std::uint32_t>(gpu);
      if (!plan_[gpu].empty()) entry.target = targets++;
      number_of_gpu_.push_back(static_cast<std::uint32_t>(answer_.gpus.size()));
      if (!entry.standing && !entry.target) continue;
      answer_.gpus.push_back(entry);
      if (entry.target) answer_.target.gpu_offers.push_back(entry.offer);
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
    PackedSlice slice = at_best_point(own.gpu, own.held.site, own.held.demand);
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
        const GpuModel& model = problem_.offers[at(view_.gpus[at(own.gpu)].offer)].model;
        slice.requests_per_second = rate_in_force(problem_, model, problem_.demands[at(own.held.demand)], old);
      }
    }
    slice.slice.gpu.index = *answer_.gpus[number_of_gpu_[at(own.gpu)]].target;
    answer_.target.slices.push_back(slice);
  }

  /// A slice on a GPU of the view, with its number there.
  [[nodiscard]] PackedSlice at_best_point(int gpu, int site, int demand) const {
    PackedSlice slice = bare(gpu, site);
    slice.demand = static_cast<std::uint32_t>(demand);
    const GpuModel& model = problem_.offers[offer_at(gpu)].model;
    const auto point = packing::best_point(problem_, problem_.demands[at(demand)], model, slice.slice.profile);
    slice.batch = point->batch;
    slice.processes = point->processes;
    slice.requests_per_second = point->requests_per_second;
    return slice;
  }

  [[nodiscard]] PackedSlice bare(int gpu, int site) const {
    const mig::Placement& placement = view_.offers[offer_at(gpu)].map.sites[at(site)].placement();
    PackedSlice slice;
    slice.slice.start = placement.start;
    slice.slice.profile = placement.profile;
    return slice;
  }

  [[nodiscard]] std::size_t offer_at(int gpu) const {
    if (at(gpu) < view_.gpus.size()) return at(view_.gpus[at(gpu)].offer);
    return answer_.gpus[number_of(gpu)].offer;
  }

  [[nodiscard]] std::uint32_t number_of(int gpu) const {
    if (at(gpu) < view_.gpus.size()) return number_of_gpu_[at(gpu)];
    return static_cast<std::uint32_t>(answer_.gpus.size() - at(static_cast<int>(answer_.spare_gpus)) + at(gpu) -
                                      view_.gpus.size());
  }

  void add_step(const OrderedStep& ordered) {
    TransitionStep step;
    step.kind = ordered.kind;
    step.is_temporary = ordered.is_temporary;
    if (ordered.kind == StepKind::kDestroy && ordered.standing != kNone) {
      step.slice = as_it_stands(ordered);
    } else {
      step.slice = at_best_point(ordered.gpu, ordered.site, ordered.demand);
    }
    step.slice.slice.gpu.index = number_of(ordered.gpu);
    if (ordered.kind == StepKind::kCreate && ordered.is_temporary) ++answer_.temporary;
    answer_.steps.push_back(step);
  }

  [[nodiscard]] PackedSlice as_it_stands(const OrderedStep& ordered) const {
    PackedSlice slice = standing_.packing.slices[at(ordered.standing)];
    const GpuModel& model = problem_.offers[offer_at(ordered.gpu)].model;
    const bool is_gone = ordered.demand == kNone;
    slice.requests_per_second = rate_in_force(problem_, model, standing_.demands[slice.demand], slice);
    slice.demand = is_gone ? gone_numbers_[slice.demand] : static_cast<std::uint32_t>(ordered.demand);
    return slice;
  }

  const PackingProblem& problem_;
  const StandingPlan& standing_;
  const TransitionView& view_;
  const SlicesByGpu& plan_;
  std::vector<Rate> retuned_;  ///< by existing slice
  std::vector<std::uint32_t> gone_numbers_;
  std::vector<std::uint32_t> number_of_gpu_;
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
