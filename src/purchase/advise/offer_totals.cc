#include "purchase/advise/offer_totals.h"

#include <algorithm>

namespace berth::purchase::advise {

std::int64_t OfferTotals::micro_usd_per_hour() const { return offer->micro_usd_per_hour.value_or(0) * instances; }

std::vector<OfferTotals> totals_by_offer(const Advice& advice, std::span<const Pod> pods) {
  std::vector<OfferTotals> all;
  for (const Instance& instance : advice.instances) {
    const auto is_same = [&](const OfferTotals& totals) { return totals.offer->key == instance.offer.key; };
    auto totals = std::ranges::find_if(all, is_same);
    if (totals == all.end()) totals = all.insert(all.end(), {.offer = &instance.offer});
    ++totals->instances;
    for (const SeatedPod& seat : instance.pods) {
      const Pod& pod = pods[seat.row];
      ++totals->pods;
      totals->gpu_milli += std::int64_t{pod.gpu_count} * pod.gpu_milli;
      totals->cpu_milli += pod.cpu_milli;
      totals->memory_mib += pod.memory_mib;
    }
  }
  return all;
}

}  // namespace berth::purchase::advise
