#include "world/slices/slice_sums.h"

#include <utility>

#include "base/core/ensure.h"

namespace berth::world {
namespace {

bool is_whole(const HeldPart& part) { return part.sms % part.holder_count == 0; }

double sms_of(const HeldPart& part) { return static_cast<double>(part.sms) / static_cast<double>(part.holder_count); }

}  // namespace

SliceSumsMeter::SliceSumsMeter(const Scenario& scenario)
    : gpus_(scenario.gpu_count()), gpus_by_entry_(scenario.fleet.size(), 0), rates_(scenario.services.size()) {
  for (std::uint32_t entry = 0; entry < scenario.fleet.size(); ++entry) {
    entry_of_gpu_.insert(entry_of_gpu_.end(), static_cast<std::size_t>(scenario.fleet[entry].count), entry);
  }
  for (Rates& rates : rates_) rates.gpus.resize(scenario.fleet.size());
  sums_.gpu_us_by_entry.resize(scenario.fleet.size());
  sums_.allocated_sm_us_by_service.resize(rates_.size());
  sums_.lost_us_by_service.resize(rates_.size());
  sums_.gpu_us_by_service.resize(rates_.size(), std::vector<Decimal>(scenario.fleet.size()));
  sums_.changes_by_service.resize(rates_.size());
}

void SliceSumsMeter::add_service() {
  Rates& rates = rates_.emplace_back();
  rates.gpus.resize(gpus_by_entry_.size());
  rates.settled_until = reached_;
  sums_.allocated_sm_us_by_service.push_back(0);
  sums_.lost_us_by_service.push_back(0);
  sums_.gpu_us_by_service.emplace_back(gpus_by_entry_.size());
  sums_.changes_by_service.push_back(0);
}

// ---- rates

void SliceSumsMeter::set_gpu(GpuId gpu, HeldGpu held) {
  HeldGpu& known = gpus_[gpu.index];
  if (held == known) return;
  for (const HeldPart& part : known.parts) settle(part.service);
  for (const HeldPart& part : held.parts) settle(part.service);
  add(known, entry_of_gpu_[gpu.index], -1);
  add(held, entry_of_gpu_[gpu.index], 1);
  note_fractions(known);
  note_fractions(held);
  known = std::move(held);
}

void SliceSumsMeter::add(const HeldGpu& held, std::uint32_t entry, int sign) {
  if (held.has_slices) gpus_by_entry_[entry] += sign;
  std::int64_t owned_sms = 0;
  for (const HeldPart& part : held.parts) {
    if (part.is_first_holder) owned_sms += part.sms;
  }
  sms_ += sign * (owned_sms + held.foreign_sms);
  for (const HeldPart& part : held.parts) {
    Rates& rates = rates_[part.service.index];
    rates.sms += sign * sms_of(part);
    rates.lost += part.is_lost ? sign : 0;
    rates.gpus[entry] += Decimal(std::int64_t{sign} * part.sms, owned_sms * part.holder_count);
  }
}

void SliceSumsMeter::note_fractions(const HeldGpu& held) {
  for (const HeldPart& part : held.parts) {
    if (!is_whole(part)) fractions_.try_emplace(part.service, 0.0);
    if (fractions_.contains(part.service)) are_fractions_stale_ = true;
  }
}

void SliceSumsMeter::add_up_fractions() {
  for (auto& [service, sms] : fractions_) sms = 0;
  for (const HeldGpu& held : gpus_) {
    for (const HeldPart& part : held.parts) {
      const auto sum = fractions_.find(part.service);
      if (sum != fractions_.end()) sum->second += sms_of(part);
    }
  }
  are_fractions_stale_ = false;
}

// ---- sums

void SliceSumsMeter::advance(Instant now) {
  const std::int64_t span_us = (now - reached_).count();
  ENSURE(span_us >= 0);
  if (span_us == 0) return;
  if (are_fractions_stale_) add_up_fractions();
  const auto span = static_cast<double>(span_us);
  sums_.allocated_sm_us += static_cast<double>(sms_) * span;
  for (std::size_t entry = 0; entry < gpus_by_entry_.size(); ++entry) {
    sums_.gpu_us_by_entry[entry] =
        detail::checked_add(sums_.gpu_us_by_entry[entry], detail::checked_multiply(gpus_by_entry_[entry], span_us));
  }
  for (const auto& [service, sms] : fractions_) sums_.allocated_sm_us_by_service[service.index] += sms * span;
  reached_ = now;
}

void SliceSumsMeter::settle(ServiceId service) {
  Rates& rates = rates_[service.index];
  const std::int64_t span_us = (reached_ - rates.settled_until).count();
  if (span_us == 0) return;
  if (!fractions_.contains(service)) {
    sums_.allocated_sm_us_by_service[service.index] += rates.sms * static_cast<double>(span_us);
  }
  sums_.lost_us_by_service[service.index] += rates.lost * span_us;
  for (std::size_t entry = 0; entry < rates.gpus.size(); ++entry) {
    const Decimal& share = rates.gpus[entry];
    if (share.sign() != 0) sums_.gpu_us_by_service[service.index][entry] += share * Decimal(span_us);
  }
  rates.settled_until = reached_;
}

void SliceSumsMeter::settle() {
  for (std::uint32_t service = 0; service < rates_.size(); ++service) settle(ServiceId{service});
}

void SliceSumsMeter::count_change(const std::vector<ServiceId>& services) {
  ++sums_.changes;
  for (const ServiceId service : services) ++sums_.changes_by_service[service.index];
}

}  // namespace berth::world
