#include "planner/window/testing/service_rules.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace berth::planner::testing {
namespace {

class ServiceRules {
 public:
  ServiceRules(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
               ProgramBuilder& program)
      : problem_(problem), terms_(problem.services[service]), gpus_(gpus), service_(service), program_(program) {}

  void add_all() {
    add_retraining_limit();
    add_floor();
    add_budget();
  }

 private:
  void add_retraining_limit() {
    if (terms_.retrains_elsewhere) return;
    for (const SlotIndex slot : new_slots(SlotIndex(0))) {
      LinearSum sum =
          sum_of_present(slot, [](GpuIndex, const Piece& piece) { return piece.use == kRetraining ? 1.0 : 0.0; });
      sum.constant -= 1;
      program_.add_at_most_zero(std::move(sum));
    }
  }

  /// A rate above the missing amount counts as that amount, which makes the row tighter.
  void add_floor() {
    constexpr double kShortfallAllowed = 1e-9;
    const double missing = terms_.floor_rate * (1 - kShortfallAllowed) - terms_.outside_floor_rate;
    if (terms_.floor_rate <= 0 || missing <= 0) return;
    for (const SlotIndex slot : new_slots(std::max(problem_.floors_from, SlotIndex(0)))) {
      LinearSum sum = sum_of_present(slot, [&](GpuIndex gpu, const Piece& piece) {
        if (piece.use == kRetraining) return 0.0;
        const double rate = rates_of(problem_, gpu, piece).requests_per_second[static_cast<std::size_t>(piece.use)];
        return -std::min(1.0, rate / missing);
      });
      sum.constant += 1;
      program_.add_at_most_zero(std::move(sum));
    }
  }

  /// The first slot and each in which some GPU has another step than before.
  [[nodiscard]] std::vector<SlotIndex> new_slots(SlotIndex first) const {
    std::vector<SlotIndex> slots;
    for (SlotIndex slot = first; slot < problem_.slots; ++slot) {
      const auto may_change = [&](const GpuColumns& gpu) { return gpu.may_change_in(slot); };
      if (slot == first || std::ranges::any_of(gpus_, may_change)) slots.push_back(slot);
    }
    return slots;
  }

  /// A sum over the pieces of the service in the slot's configurations. `factor_of(gpu, piece)` is a double.
  template <class FactorOf>
  [[nodiscard]] LinearSum sum_of_present(SlotIndex slot, const FactorOf& factor_of) const {
    LinearSum sum;
    for (const GpuIndex g : indices_of<GpuIndex>(gpus_)) {
      for (const PieceColumns& candidate : gpus_[g].pieces()) {
        if (candidate.piece().service != service_) continue;
        const double factor = factor_of(g, candidate.piece());
        if (factor != 0) sum.add(factor, candidate.present(gpus_[g].step_at(slot)));
      }
    }
    return sum;
  }

  void add_budget() {
    if (terms_.changes_max < 0) return;
    LinearSum used = constant_sum(-static_cast<double>(terms_.changes_max));
    for (const GpuIndex g : indices_of<GpuIndex>(gpus_)) {
      for (const SiteIndex site : indices_of<SiteIndex>(model_of(problem_, g).sites)) {
        for (std::size_t k = 1; k <= gpus_[g].step_count(); ++k) add_changed(gpus_[g], site, k, used);
      }
    }
    program_.add_at_most_zero(std::move(used));
  }

  /// Adds to `used` the slices of the service that are created and destroyed on the site at the step.
  void add_changed(const GpuColumns& gpu, SiteIndex site, std::size_t k, LinearSum& used) {
    LinearSum lost;
    bool may_lose = false;
    for (const PieceColumns& candidate : gpu.pieces()) {
      if (candidate.piece().site != site) continue;
      lost.add(-1, candidate.present(k));
      if (candidate.piece().service != service_) continue;
      lost.add(1, candidate.present(k - 1));
      may_lose = true;
      for (const BeginWay way : kCreatingWays) {
        if (candidate.begins_in(way)) used.add(1, candidate.begin_column(way, k));
      }
    }
    if (!may_lose) return;
    const int destroyed = program_.add_column({});
    lost.add(-1, destroyed);
    program_.add_at_most_zero(std::move(lost));
    used.add(1, destroyed);
  }

  const Problem& problem_;
  const ServiceTerms& terms_;
  const std::vector<GpuColumns>& gpus_;
  ServiceIndex service_;
  ProgramBuilder& program_;
};

}  // namespace

void add_service_rules(const Problem& problem, const std::vector<GpuColumns>& gpus, ServiceIndex service,
                       ProgramBuilder& program) {
  ServiceRules(problem, gpus, service, program).add_all();
}

}  // namespace berth::planner::testing
