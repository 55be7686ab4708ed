#include "engine/loop/proposal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "domain/values/frozen.h"
#include "domain/values/gpu_name.h"
#include "engine/loop/facts.h"

namespace berth {
namespace {

std::string_view word_of(GpuScheduling scheduling) {
  switch (scheduling) {
    case GpuScheduling::kOpen:
      return "open";
    case GpuScheduling::kCordoned:
      return "cordoned";
    case GpuScheduling::kDraining:
      return "draining";
    case GpuScheduling::kOrdered:
      return "ordered";
    case GpuScheduling::kAbsent:
      return "absent";
  }
  return "";
}

}  // namespace

Proposal propose(const Snapshot& snapshot, Plan plan) {
  Proposal proposal{.plan = std::move(plan), .schedulings = {}};
  for (const GpuFact& fact : proposal.plan.facts) {
    proposal.schedulings.push_back(snapshot.gpu_state(fact.gpu).scheduling);
  }
  return proposal;
}

void ChangedGpus::add(const Plan& plan) {
  for (const Action& action : plan.actions) {
    const std::size_t gpu = slice_of(action.what).gpu.index;
    if (gpu >= is_changed_.size()) is_changed_.resize(gpu + 1);
    is_changed_[gpu] = 1;
  }
}

bool ChangedGpus::has_new(const Plan& plan) const {
  return std::ranges::any_of(plan.actions, [this](const Action& action) {
    const std::size_t gpu = slice_of(action.what).gpu.index;
    return gpu >= is_changed_.size() || is_changed_[gpu] == 0;
  });
}

std::vector<std::string> find_differences(const Scenario& scenario, const Snapshot& snapshot, const Proposal& proposal,
                                          Instant acts_at) {
  std::vector<std::string> differences;
  for (std::size_t i = 0; i < proposal.plan.facts.size(); ++i) {
    const GpuFact& fact = proposal.plan.facts[i];
    auto why = find_broken_fact(scenario, snapshot, fact);
    const GpuScheduling now = snapshot.gpu_state(fact.gpu).scheduling;
    if (!why && now != proposal.schedulings[i]) {
      why = fmt::format("{} is {} now, and was {}", gpu_name(fact.gpu), word_of(now), word_of(proposal.schedulings[i]));
    }
    if (why) differences.push_back(std::move(*why));
  }
  if (is_frozen(scenario, acts_at)) differences.emplace_back("changes are frozen now");
  return differences;
}

}  // namespace berth
