#include "ledger/billing/report_time.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace berth::ledger {

ReportTime report_time(Books& books) {
  ReportTime time;
  const auto paid = books.paid_time();
  if (!paid) return time;
  std::map<std::pair<std::string, Role>, GpuMicros> holders;
  std::map<std::string, UnpricedSku, std::less<>> unpriced;
  books.for_each_cell_part(*paid, [&](const CellPart& part) {
    holders[{std::string(part.tenant), part.role}] += part.amount.gpu_us;
    if (part.micro_usd_per_gpu_hour) return;
    auto found = unpriced.find(part.sku);
    if (found == unpriced.end()) {
      const std::string sku(part.sku);
      found = unpriced.emplace(sku, UnpricedSku{.sku = sku, .from_us = part.when.from_us}).first;
    }
    found->second.from_us = std::min(found->second.from_us, part.when.from_us);
    found->second.gpu_us += part.amount.gpu_us;
  });
  for (const auto& [key, gpu_us] : holders) {
    time.holders.push_back({.tenant = key.first, .role = key.second, .gpu_us = gpu_us});
  }
  for (auto& [sku, of] : unpriced) time.unpriced.push_back(std::move(of));
  return time;
}

}  // namespace berth::ledger
