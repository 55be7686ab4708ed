#include "scheduling/jobs/coverage_control.h"

namespace berth::sched {
namespace {

constexpr double kMissesWanted = 0.1;
/// A prior: as if this many promises had been made before the first, and nine in ten of them had held.
constexpr double kCautious = 20;

}  // namespace

void CoverageControl::promise(JobIndex job, Seconds by) {
  is_pending_[static_cast<std::size_t>(job)] = true;
  promised_[static_cast<std::size_t>(job)] = by;
  next_.emplace(by, job);
  ++pending_;
}

void CoverageControl::decide(JobIndex job, bool is_missed) {
  is_pending_[static_cast<std::size_t>(job)] = false;
  --pending_;
  ++decided_;
  missed_ += is_missed ? 1 : 0;
}

void CoverageControl::started(JobIndex job, Seconds at) {
  if (!is_pending_[static_cast<std::size_t>(job)]) return;
  decide(job, at > promised_[static_cast<std::size_t>(job)]);
}

void CoverageControl::pass(Seconds now) {
  for (; !next_.empty() && next_.top().first < now; next_.pop()) {
    const JobIndex job = next_.top().second;
    if (is_pending_[static_cast<std::size_t>(job)]) decide(job, true);
  }
}

double CoverageControl::excess() const {
  const auto decided = static_cast<double>(decided_);
  return (static_cast<double>(missed_) - kMissesWanted * decided) /
         (decided + static_cast<double>(pending_) + kCautious);
}

}  // namespace berth::sched
