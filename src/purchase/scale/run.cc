#include "purchase/scale/run.h"

#include "base/core/ensure.h"

namespace berth::scale {

Service::Service(const Problem& problem, std::int64_t first, std::int64_t ready)
    : load_(problem.load),
      rate_(problem.rate),
      second_(first),
      replicas_(ready, problem.start_seconds),
      queue_(problem.load, problem.wait_seconds, first) {}

Moment Service::begin() {
  replicas_.advance(second_);
  return {.second = second_,
          .ready = replicas_.ready(),
          .starting = replicas_.starting(),
          .requests = result_.requests,
          .missed = queue_.missed()};
}

void Service::end(std::int64_t want) {
  ENSURE(want <= kReplicasMax);
  if (want > replicas_.size()) ++result_.ups;
  if (want < replicas_.size()) ++result_.downs;
  replicas_.resize(want, second_);
  result_.replica_seconds += replicas_.size();
  if (replicas_.ready() != capacity_replicas_) {
    capacity_replicas_ = replicas_.ready();
    capacity_ = rate_.served_by(capacity_replicas_);
  }
  result_.requests += load_.at(second_);
  result_.in_time += queue_.serve(second_, capacity_);
  ++second_;
}

}  // namespace berth::scale
