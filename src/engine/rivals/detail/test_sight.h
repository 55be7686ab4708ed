/// A small world for the tests of policies that repartition: seconds pass, targets are carried out at once.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/instant.h"
#include "domain/values/scenario.h"
#include "domain/values/snapshot.h"
#include "engine/rivals/detail/test_scenario.h"
#include "engine/rivals/target.h"

namespace berth::partition::testing {

/// Builds the input of a policy; by default it has an hour of history.
class SightBuilder {
 public:
  explicit SightBuilder(const Scenario& scenario) : progress_(scenario.services.size(), 0) {
    snapshot_.services.resize(scenario.services.size());
  }

  /// Adds history before second 0: `seconds` seconds, each with these requests.
  void remember(std::int64_t seconds, const std::vector<std::int64_t>& requests) {
    for (std::int64_t second = -seconds; second < 0; ++second) add_second(second, requests);
  }

  /// Adds seconds of the run, each with these requests.
  void pass(std::int64_t seconds, const std::vector<std::int64_t>& requests) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      add_second(snapshot_.now.second(), requests);
      snapshot_.now = snapshot_.now + Micros::seconds(1);
    }
  }

  void set_due(std::uint32_t service, bool is_due) { snapshot_.services[service].is_retraining_due = is_due; }
  void set_progress(std::uint32_t service, double share) { progress_[service] = share; }

  /// Carries out a target: its slices exist and are ready.
  void carry_out(const Target& target) {
    snapshot_.slices.clear();
    for (const Wanted& wanted : target.holdings) {
      snapshot_.slices.push_back(
          {.holding = wanted.holding, .point = wanted.point, .is_ready = true, .is_leaving = false});
    }
  }

  [[nodiscard]] Sight sight() {
    ++snapshot_.version;
    return {.snapshot = snapshot_, .retraining_progress = progress_};
  }

  /// Asks the policy and carries out its target; returns whether there was one.
  template <class Policy>
  bool step(Policy& policy) {
    const Decision decision = policy.decide(sight());
    const auto* target = std::get_if<Target>(&decision);
    if (target != nullptr) carry_out(*target);
    return target != nullptr;
  }

  [[nodiscard]] const Snapshot& snapshot() const { return snapshot_; }

  /// Slices of a service in a role.
  [[nodiscard]] std::vector<Slice> slices(std::uint32_t service, Role role = Role::kInference) const {
    std::vector<Slice> slices;
    for (const StandingSlice& standing : snapshot_.slices) {
      const Holding& holding = standing.holding;
      if (holding.role == role && holding.services == std::vector{ServiceId{service}}) slices.push_back(holding.slice);
    }
    return slices;
  }

 private:
  void add_second(std::int64_t second, const std::vector<std::int64_t>& requests) {
    for (std::uint32_t service = 0; service < requests.size(); ++service) {
      ServiceSecond seen;
      seen.service = {service};
      seen.second = second;
      seen.arrivals = requests[service];
      snapshot_.services[service].seconds.push_back(seen);
    }
  }

  Snapshot snapshot_;
  std::vector<double> progress_;
};

/// Compute slices of a service's slices.
inline int compute_slices(const Scenario& scenario, const std::vector<Slice>& slices) {
  int sum = 0;
  for (const Slice& slice : slices) {
    const GpuModel& model = scenario.model_of(slice.gpu);
    sum += slice.profile.is_full() ? model.compute_slices : model.profiles[slice.profile.index].compute_slices;
  }
  return sum;
}

/// A retraining with these seconds on 1g, less than proportionally faster on larger slices.
inline Retraining retraining_of(std::int64_t every, std::int64_t offset, std::int64_t seconds_on_1g) {
  Retraining retraining;
  retraining.every = Micros::seconds(every);
  retraining.offset = Micros::seconds(offset);
  for (const auto& [size, speed] : {std::pair(1, 10), {2, 18}, {3, 25}, {4, 30}, {7, 45}}) {
    retraining.time_on[size] = Micros::seconds(seconds_on_1g * 10 / speed);
  }
  return retraining;
}

/// Checks that the holdings of a target are legal and serve every service.
inline void expect_sound_target(const Scenario& scenario, const Decision& decision) {
  const auto* target = std::get_if<Target>(&decision);
  ASSERT_NE(target, nullptr);
  Layout serving;
  for (const Wanted& wanted : target->holdings) {
    if (wanted.holding.services.empty()) continue;
    if (wanted.holding.role == Role::kInference) serving.push_back(wanted.holding);
  }
  expect_sound(scenario, serving);
}

}  // namespace berth::partition::testing
