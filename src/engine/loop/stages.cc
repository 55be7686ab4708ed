#include "engine/loop/stages.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "domain/values/frozen.h"
#include "engine/rivals/retraining_rule.h"

namespace berth {
namespace {

/// The slices that a service that retrains holds alone.
struct OwnSlices {
  partition::Layout serving;        ///< its inference slices, without those that are leaving
  std::optional<Slice> retraining;  ///< the slice that it has lent, if any
};

std::vector<OwnSlices> own_slices(const Snapshot& snapshot) {
  std::vector<OwnSlices> own(snapshot.services.size());
  for (const StandingSlice& standing : snapshot.staying()) {
    const Holding& holding = standing.holding;
    if (holding.services.size() != 1) continue;
    OwnSlices& slices = own[holding.services.front().index];
    if (holding.role == Role::kRetraining) {
      slices.retraining = holding.slice;
    } else {
      slices.serving.push_back(holding);
    }
  }
  return own;
}

Action assign(const Slice& slice, ServiceId service, Role role, std::string why) {
  return {.what = AssignSlice{.holding = {.slice = slice, .role = role, .services = {service}}, .point = std::nullopt},
          .reason = {.text = std::move(why), .numbers = {}}};
}

/// Lends slices and takes them back. Remembers the holdings that had nothing to lend, so that the search for a slice is
/// not repeated in every step: its answer depends on the holdings alone, so they are not saved.
class Lender {
 public:
  explicit Lender(const Scenario& scenario) : scenario_(scenario), in_vain_(scenario.services.size()) {}

  [[nodiscard]] bool has_retraining() const {
    return std::any_of(scenario_.services.begin(), scenario_.services.end(),
                       [](const ServiceSpec& service) { return service.retraining.has_value(); });
  }

  void lend_or_return(const Snapshot& snapshot, Plan& plan) {
    if (snapshot.specs_version != specs_version_) {
      specs_version_ = snapshot.specs_version;
      in_vain_.assign(snapshot.services.size(), std::nullopt);
    }
    const bool is_any_due = std::ranges::any_of(snapshot.services, &ServiceState::is_retraining_due);
    const bool is_any_lent = std::ranges::any_of(
        snapshot.slices, [](const StandingSlice& standing) { return standing.holding.role == Role::kRetraining; });
    if (!is_any_due && !is_any_lent) return;
    const std::vector<OwnSlices> own = own_slices(snapshot);
    for (std::uint32_t index = 0; index < own.size(); ++index) {
      if (!scenario_.services[index].retraining) continue;
      const ServiceId service{index};
      const bool is_due = snapshot.services[index].is_retraining_due;
      const auto& lent = own[index].retraining;
      if (is_due && !lent) lend(service, own[index].serving, plan);
      if (!is_due && lent) {
        plan.actions.push_back(assign(*lent, service, Role::kInference, "retraining is done: back to serving"));
      }
    }
  }

 private:
  void lend(ServiceId service, const partition::Layout& serving, Plan& plan) {
    if (in_vain_[service.index] == serving) return;
    const auto slice = partition::slice_to_lend(scenario_, serving, service);
    if (slice) {
      plan.actions.push_back(assign(*slice, service, Role::kRetraining, "retraining is due: least throughput lost"));
    } else {
      in_vain_[service.index] = serving;
    }
  }

  const Scenario& scenario_;
  std::uint64_t specs_version_ = 0;
  std::vector<std::optional<partition::Layout>> in_vain_;
};

}  // namespace

Stage first_layout_stage(std::string policy, std::function<partition::LayoutOrInfeasible(const Snapshot&)> decide) {
  const auto run = [decide = std::move(decide)](const Snapshot& snapshot, Plan& plan) -> std::optional<std::string> {
    if (!snapshot.is_before_first_layout()) return std::nullopt;
    const partition::LayoutOrInfeasible decided = decide(snapshot);
    if (const auto* infeasible = std::get_if<partition::Infeasible>(&decided)) return infeasible->why;
    for (const Holding& holding : std::get<partition::Layout>(decided)) {
      const Reason reason{.text = "first layout", .numbers = {}};
      plan.actions.push_back({.what = CreateSlice{holding.slice}, .reason = reason});
      plan.actions.push_back({.what = AssignSlice{.holding = holding, .point = std::nullopt}, .reason = reason});
    }
    return std::nullopt;
  };
  return deciding_stage(std::move(policy), run);
}

Stage retraining_stage(const Scenario& scenario) {
  const auto run = [&scenario, lender = Lender(scenario), retrains = std::optional<bool>(), version = std::uint64_t{0}](
                       const Snapshot& snapshot, Plan& plan) mutable -> std::optional<std::string> {
    if (!retrains || version != snapshot.specs_version) retrains = lender.has_retraining();
    version = snapshot.specs_version;
    // A plan with a complete new layout is not mixed with lending; the next step lends.
    if (!*retrains || !plan.actions.empty() || is_frozen(scenario, snapshot.takes_effect_at(scenario.planning)))
      return std::nullopt;
    lender.lend_or_return(snapshot, plan);
    return std::nullopt;
  };
  return deciding_stage("retraining", run);
}

std::vector<std::vector<std::uint32_t>> history_counts(const Snapshot& snapshot) {
  std::vector<std::vector<std::uint32_t>> counts(snapshot.services.size());
  for (std::size_t index = 0; index < counts.size(); ++index) {
    for (const ServiceSecond& second : snapshot.services[index].seconds) {
      if (second.second < 0) counts[index].push_back(static_cast<std::uint32_t>(second.arrivals));
    }
  }
  return counts;
}

}  // namespace berth
