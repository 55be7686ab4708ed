#include "sim/study/committed_gpus.h"

#include <iterator>

#include "base/core/ensure.h"

namespace berth::study {

void CommittedGpus::add(const sim::JournalRecord& record) {
  const auto* gpu = std::get_if<sim::GpuRecord>(&record);
  // The orders at second 0 come first.
  if (!has_begun_ && (gpu == nullptr || gpu->at > Instant())) begin();
  if (gpu == nullptr) {
    sink_(record);
  } else if (gpu->is_on) {
    order(*gpu);
  } else {
    release(*gpu);
  }
}

void CommittedGpus::begin() {
  has_begun_ = true;
  for (std::uint32_t index = 0; index < gpus_ && std::ssize(paid_) < committed_; ++index) {
    if (paid_.contains({index})) continue;
    idle_.insert({index});
    pay({index}, Instant(), true);
  }
  ENSURE(std::ssize(paid_) >= committed_);
}

void CommittedGpus::order(const sim::GpuRecord& record) {
  if (idle_.erase(record.gpu) > 0) return;
  if (!idle_.empty()) {
    const GpuId last = *std::prev(idle_.end());
    idle_.erase(last);
    pay(last, record.at, false);
  }
  pay(record.gpu, record.at, true);
}

void CommittedGpus::release(const sim::GpuRecord& record) {
  if (std::ssize(paid_) > committed_) {
    pay(record.gpu, record.at, false);
  } else {
    idle_.insert(record.gpu);
  }
}

void CommittedGpus::pay(GpuId gpu, Instant at, bool is_on) {
  if (is_on) {
    paid_.insert(gpu);
  } else {
    paid_.erase(gpu);
  }
  sink_(sim::GpuRecord{.at = at, .gpu = gpu, .is_on = is_on});
}

}  // namespace berth::study
