// find_step_fault: replays the steps of a transition using only the rules.

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "domain/mig/geometry.h"
#include "domain/values/gpu_name.h"
#include "planner/transition/transition.h"

namespace berth::transition {
namespace {

using Fault = std::optional<std::string>;
/// Existing slices by place; the GPU is an index into Transition::gpus.
using Stood = std::map<Slice, PackedSlice>;

/// A replay: the slices after the steps so far.
class Replay {
 public:
  Replay(const PackingProblem& problem, const StandingPlan& standing, const Transition& transition)
      : problem_(problem), standing_(standing), transition_(transition), service_(problem.demands.size()) {}

  Fault run() {
    if (auto fault = check_gpus()) return fault;
    if (auto fault = begin()) return fault;
    for (std::size_t i = 0; i < transition_.steps.size(); ++i) {
      if (auto fault = take(transition_.steps[i])) return "step " + std::to_string(i) + ": " + *fault;
    }
    if (auto fault = check_target()) return fault;
    return check_counts();
  }

 private:
  const Demand* demand_of(std::uint32_t index) const {
    if (index < problem_.demands.size()) return &problem_.demands[index];
    const std::size_t gone = index - problem_.demands.size();
    return gone < transition_.gone.size() ? &transition_.gone[gone] : nullptr;
  }

  const GpuModel& model_at(GpuId gpu) const { return problem_.offers[transition_.gpus[gpu.index].offer].model; }

  /// The existing GPUs come first, each number of the new plan occurs once.
  Fault check_gpus() const {
    const std::vector<std::uint32_t>& before = standing_.packing.gpu_offers;
    const std::vector<std::uint32_t>& after = transition_.target.gpu_offers;
    std::set<std::uint32_t> targets;
    std::int64_t spare = 0;
    for (std::uint32_t i = 0; i < transition_.gpus.size(); ++i) {
      const TransitionGpu& gpu = transition_.gpus[i];
      if (gpu.offer >= problem_.offers.size()) return "a GPU of an unknown model";
      if (gpu.standing.has_value() != (i < before.size())) return gpu_name({i}) + " is out of order";
      if (gpu.standing && (*gpu.standing != i || before[i] != gpu.offer)) {
        return gpu_name({i}) + " is not the existing one";
      }
      if (gpu.target && (*gpu.target >= after.size() || after[*gpu.target] != gpu.offer)) {
        return gpu_name({i}) + " is not the one of the new plan";
      }
      if (gpu.target && !targets.insert(*gpu.target).second) return "a GPU of the new plan occurs twice";
      if (!gpu.standing && !gpu.target) ++spare;
    }
    if (transition_.gpus.size() < before.size()) return "an existing GPU is missing";
    if (targets.size() != after.size()) return "a GPU of the new plan is missing";
    if (spare != transition_.spare_gpus) return "the count of spare GPUs is wrong";
    return std::nullopt;
  }

  /// Sets up the existing slices, and the floors.
  Fault begin() {
    for (PackedSlice slice : standing_.packing.slices) {
      const Demand& old = standing_.demands[slice.demand];
      const auto own = number_of(old);
      if (!own) return "the list of removed demands does not contain " + old.model + " of " + old.tenant;
      slice.requests_per_second = rate_in_force(problem_, model_at(slice.slice.gpu), old, slice);
      slice.demand = *own;
      serve(slice, true);
      stood_.emplace(slice.slice, slice);
    }
    for (std::size_t d = 0; d < problem_.demands.size(); ++d) {
      floors_.push_back(std::min(service_[d], problem_.demands[d].requests_per_second * problem_.rules.headroom));
    }
    begun_ = stood_;
    return std::nullopt;
  }

  std::optional<std::uint32_t> number_of(const Demand& old) const {
    for (std::uint32_t i = 0; demand_of(i) != nullptr; ++i) {
      if (demand_of(i)->model == old.model && demand_of(i)->tenant == old.tenant) return i;
    }
    return std::nullopt;
  }

  void serve(const PackedSlice& slice, bool is_in_service) {
    if (slice.demand >= service_.size()) return;
    Decimal& rate = service_[slice.demand];
    rate = is_in_service ? rate + slice.requests_per_second : rate - slice.requests_per_second;
  }

  Fault check_floor(std::uint32_t demand) const {
    if (demand >= floors_.size() || service_[demand] >= floors_[demand]) return std::nullopt;
    return problem_.demands[demand].model + " has " + service_[demand].to_string() + " requests per second, needs " +
           floors_[demand].to_string();
  }

  Fault take(const TransitionStep& step) {
    if (step.slice.slice.gpu.index >= transition_.gpus.size()) return "an unknown GPU";
    if (demand_of(step.slice.demand) == nullptr) return "an unknown demand";
    switch (step.kind) {
      case StepKind::kCreate:
        return create(step);
      case StepKind::kDestroy:
        return destroy(step);
      case StepKind::kRetune:
        return retune(step);
    }
    return "an unknown kind of step";
  }

  Fault create(const TransitionStep& step) {
    const GpuId gpu = step.slice.slice.gpu;
    if (step.slice.demand >= problem_.demands.size()) return "a slice for a demand that the new problem does not have";
    mig::State state = {{step.slice.slice.start, step.slice.slice.profile}};
    for (const auto& [slice, packed] : stood_) {
      if (slice.gpu != gpu) continue;
      state.push_back({slice.start, slice.profile});
      if (problem_.rules.keeps_tenants_apart &&
          demand_of(packed.demand)->tenant != demand_of(step.slice.demand)->tenant) {
        return "two tenants on " + gpu_name(gpu);
      }
    }
    if (auto clash = mig::find_clash(model_at(gpu), state)) return clash;
    if (auto fault = check_point(step.slice)) return fault;
    stood_.emplace(step.slice.slice, step.slice);
    if (step.is_temporary) temporary_.insert(step.slice.slice);
    serve(step.slice, true);
    ++(step.is_temporary ? temporary_count_ : created_);
    return std::nullopt;
  }

  Fault destroy(const TransitionStep& step) {
    const auto found = stood_.find(step.slice.slice);
    if (found == stood_.end() || found->second != step.slice) return "destroys a slice that does not exist";
    if ((temporary_.erase(step.slice.slice) > 0) != step.is_temporary)
      return "does not agree with the step that created the slice on whether it is temporary";
    serve(step.slice, false);
    stood_.erase(found);
    if (!step.is_temporary) ++destroyed_;
    return check_floor(step.slice.demand);
  }

  Fault retune(const TransitionStep& step) {
    const auto found = stood_.find(step.slice.slice);
    if (found == stood_.end() || found->second.demand != step.slice.demand)
      return "retunes a slice that does not exist";
    if (auto fault = check_point(step.slice)) return fault;
    serve(found->second, false);
    if (auto fault = check_floor(step.slice.demand)) return fault;
    found->second = step.slice;
    serve(step.slice, true);
    ++retuned_;
    return std::nullopt;
  }

  /// A point that is in the tables and that the rules allow.
  Fault check_point(const PackedSlice& slice) const {
    const Demand& demand = *demand_of(slice.demand);
    const GpuModel& model = model_at(slice.slice.gpu);
    const PerformanceTable* table = problem_.table_of(demand.model);
    const std::string profile =
        slice.slice.profile.is_full() ? std::string(kFullProfileName) : model.profiles[slice.slice.profile.index].name;
    const auto is_it = [&](const PerformancePoint& point) {
      return point.gpu == model.name && point.profile == profile && point.batch == slice.batch &&
             point.processes == slice.processes && point.requests_per_second == slice.requests_per_second &&
             point.processes <= problem_.rules.processes_max &&
             point.latency_ms < problem_.rules.slo_factor * demand.latency_ms;
    };
    if (table != nullptr && std::ranges::any_of(table->points, is_it)) return std::nullopt;
    return demand.model + " has no usable point of batch " + std::to_string(slice.batch) + " and " +
           std::to_string(slice.processes) + " processes on " + profile;
  }

  /// The slices at the end are the new plan.
  Fault check_target() const {
    std::vector<std::uint32_t> gpus(transition_.target.gpu_offers.size(), 0);
    for (std::size_t i = 0; i < transition_.gpus.size(); ++i) {
      if (transition_.gpus[i].target) gpus[*transition_.gpus[i].target] = static_cast<std::uint32_t>(i);
    }
    if (!temporary_.empty()) return "a temporary slice still exists at the end";
    if (stood_.size() != transition_.target.slices.size()) return "the steps do not end at the new plan";
    for (PackedSlice slice : transition_.target.slices) {
      if (slice.slice.gpu.index >= gpus.size()) return "the new plan has a slice on a GPU that it does not have";
      slice.slice.gpu.index = gpus[slice.slice.gpu.index];
      const auto found = stood_.find(slice.slice);
      if (found == stood_.end() || found->second != slice) return "the steps do not end at the new plan";
      if (auto fault = check_point(slice)) return fault;
    }
    return std::nullopt;
  }

  Fault check_counts() const {
    std::int64_t kept = 0;
    for (const auto& [place, slice] : stood_) {
      const auto before = begun_.find(place);
      if (before != begun_.end() && before->second.demand == slice.demand) ++kept;
    }
    const auto stood = static_cast<std::int64_t>(standing_.packing.slices.size());
    const auto stands = static_cast<std::int64_t>(transition_.target.slices.size());
    const bool is_right = transition_.kept == kept && transition_.created == created_ && stands - kept == created_ &&
                          transition_.destroyed == destroyed_ && stood - kept == destroyed_ &&
                          transition_.retuned == retuned_ && transition_.temporary == temporary_count_;
    return is_right ? std::nullopt : Fault("the counts of the transition are wrong");
  }

  const PackingProblem& problem_;
  const StandingPlan& standing_;
  const Transition& transition_;
  Stood stood_;
  Stood begun_;
  std::set<Slice> temporary_;
  std::vector<Decimal> service_;
  std::vector<Decimal> floors_;
  std::int64_t created_ = 0;
  std::int64_t destroyed_ = 0;
  std::int64_t retuned_ = 0;
  std::int64_t temporary_count_ = 0;
};

}  // namespace

std::optional<std::string> find_step_fault(const PackingProblem& problem, const StandingPlan& standing,
                                           const Transition& transition) {
  return Replay(problem, standing, transition).run();
}

}  // namespace berth::transition
