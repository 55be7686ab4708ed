/// The GPUs that are paid for when some are committed: the journal of a run, with other orders.
#pragma once

#include <cstdint>
#include <set>

#include "domain/values/gpu.h"
#include "sim/world/journal.h"

namespace berth::study {

/// Passes the records of a run on, so that never fewer GPUs are paid for than are committed: a released GPU is kept if
/// it is among them, and a later order takes over such an idle one. Requires: a run that orders at most `gpus` GPUs, as
/// many as committed or more.
class CommittedGpus {
 public:
  CommittedGpus(std::int64_t committed, std::uint32_t gpus, sim::JournalSink sink)
      : committed_(committed), gpus_(gpus), sink_(std::move(sink)) {}

  void add(const sim::JournalRecord& record);

 private:
  void begin();
  void order(const sim::GpuRecord& record);
  void release(const sim::GpuRecord& record);
  void pay(GpuId gpu, Instant at, bool is_on);

  std::int64_t committed_;
  std::uint32_t gpus_;
  sim::JournalSink sink_;
  std::set<GpuId> paid_;
  std::set<GpuId> idle_;  ///< paid for, but not ordered by the run
  bool has_begun_ = false;
};

}  // namespace berth::study
