// Random states of random lists: every change in an explanation starts the job, and a change smaller by one does not.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "scheduling/jobs/moment.h"
#include "scheduling/jobs/slot.h"
#include "scheduling/jobs/testing/small_workloads.h"
#include "scheduling/jobs/why.h"

namespace berth::sched {
namespace {

/// Each smaller change of the same kind by one.
std::vector<Change> one_less(const Change& change) {
  std::vector<Change> smaller;
  if (change.kind != ChangeKind::kPreempt) {
    smaller.push_back(change);
    --smaller.back().by;
    return smaller;
  }
  for (std::size_t i = 0; i < change.jobs.size(); ++i) {
    smaller.push_back(change);
    smaller.back().jobs.erase(smaller.back().jobs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return smaller;
}

void check_changes(const Moment& moment, const Explanation& explanation) {
  WhatIf what_if(moment, explanation.job);
  for (const Change& change : explanation.changes) {
    RC_ASSERT(change.by >= 1);
    RC_ASSERT(what_if.starts(change));
    for (const Change& less : one_less(change)) RC_ASSERT(!what_if.starts(less));
    if (change.kind == ChangeKind::kPreempt) RC_ASSERT(change.by == std::ssize(change.jobs));
  }
}

void check_explanation(const Moment& moment, JobIndex job) {
  const World& world = moment.after.world();
  const Explanation explanation = explain(moment, job);
  RC_ASSERT(!explanation.message.empty());
  RC_ASSERT(explanation.as_of == world.now());
  const bool waits = world.record(job).state == JobState::kWaiting;
  RC_ASSERT(waits == (explanation.verdict == Verdict::kWaiting || explanation.verdict == Verdict::kStartable));
  RC_ASSERT(explanation.eta.has_value() || world.record(job).state == JobState::kNotSubmitted ||
            decides_in_rounds(moment.after.name()));
  if (explanation.eta) RC_ASSERT(explanation.eta->p50 <= explanation.eta->p90);
  if (explanation.eta && waits) RC_ASSERT(explanation.eta->p50 >= world.now());
  if (explanation.verdict != Verdict::kWaiting) {
    RC_ASSERT(explanation.blockers.empty() && explanation.changes.empty());
    return;
  }
  RC_ASSERT(!explanation.blockers.empty());
  for (const Blocker& blocker : explanation.blockers) RC_ASSERT(blocker.needed > blocker.available);
  check_changes(moment, explanation);
}

RC_GTEST_PROP(Why, WhatItSaysWouldStartAJobDoesAndOneLessDoesNot, (std::uint64_t seed)) {
  const Workload workload = testing::random_workload(Rng(seed).split("jobs"));
  const Terms terms = testing::random_terms(Rng(seed).split("terms"));
  Rng rng = Rng(seed).split("questions");
  for (const Policy policy : kPolicies) {
    const auto at = static_cast<Seconds>(rng.below(6'000));
    const auto moment = moment_at(workload, terms, policy, at, {});
    if (!moment && decides_in_rounds(policy)) continue;  // they may exchange jobs for ever
    RC_ASSERT(moment && *moment);
    for (const JobIndex job : indices_of<JobIndex>(workload.jobs)) {
      if (rng.below(4) == 0) check_explanation(**moment, job);
    }
  }
}

RC_GTEST_PROP(Slot, IsTheEarliestStartByTheExpectedEnds, (std::uint64_t seed)) {
  const Workload workload = testing::random_workload(Rng(seed).split("jobs"));
  Rng rng = Rng(seed).split("questions");
  const auto moment = moment_at(workload, {}, Policy::kBerth, static_cast<Seconds>(rng.below(6'000)), {});
  RC_ASSERT(moment && *moment);
  const World& world = (*moment)->after.world();
  const SlotWish wish{.gpus = 1 + static_cast<GpuCount>(rng.below(18)), .length = 100};
  const auto slot = find_slot(world, (*moment)->run_times, wish);
  RunTimes run_times = (*moment)->run_times;
  const auto free_at = [&](Seconds time) {
    GpuCount free = world.free_gpus();
    for (const JobIndex job : world.running()) {
      if (run_times.expected_end(world, job) <= time) free += workload.job(job).gpus;
    }
    return free;
  };
  RC_ASSERT(slot.has_value() == (wish.gpus <= workload.gpus));
  if (!slot) return;
  RC_ASSERT(slot->start >= world.now() && free_at(slot->start) >= wish.gpus);
  RC_ASSERT(slot->start == world.now() || free_at(slot->start - 1) < wish.gpus);
  RC_ASSERT(slot->confidence >= 0 && slot->confidence <= 1);
  SlotWish bounded = wish;
  bounded.before = slot->start + wish.length;
  RC_ASSERT(find_slot(world, (*moment)->run_times, bounded).has_value());
  bounded.before = slot->start + wish.length - 1;
  RC_ASSERT(!find_slot(world, (*moment)->run_times, bounded).has_value());
}

}  // namespace
}  // namespace berth::sched
