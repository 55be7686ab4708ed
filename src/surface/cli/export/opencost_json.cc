#include "surface/cli/export/opencost_json.h"

#include <array>
#include <string_view>

#include "base/json/writer.h"
#include "ledger/billing/charges.h"
#include "ledger/billing/csv.h"
#include "surface/cli/export/month_times.h"

namespace berth::cli {
namespace {

using json::Writer;
using ledger::decimal_of;
using ledger::OpencostAllocation;

constexpr int kUsdDecimals = 6;
constexpr int kHourDecimals = 9;
constexpr Int128 kMinutesPerDay = 1440;

/// OpenCost adds these to gpuCost for totalCost. They are 0: the price of a GPU includes its share of the host.
constexpr std::array<std::string_view, 7> kOtherCosts = {"cpuCost",          "ramCost",    "pvCost",      "networkCost",
                                                         "loadBalancerCost", "sharedCost", "externalCost"};

void write_properties(Writer& json, const OpencostAllocation& allocation) {
  json.open_object("properties");
  if (!allocation.tenant.empty()) json.member("namespace", allocation.tenant);
  if (allocation.service) json.open_list("services").value(*allocation.service).close_list();
  if (allocation.role) json.open_object("labels").member("role", name_of(*allocation.role)).close_object();
  json.close_object();
}

void write_allocation(Writer& json, const OpencostAllocation& allocation, Month month) {
  const MonthTimes times = times_of(month);
  const std::string cost = decimal_of(allocation.micro_usd, kUsdDecimals);
  json.open_object(allocation.name).member("name", allocation.name);
  write_properties(json, allocation);
  json.open_object("window").member("start", times.begin).member("end", times.end).close_object();
  json.member("start", times.begin).member("end", times.end);
  json.member("minutes", month.day_count() * kMinutesPerDay);
  json.key("gpuHours").written(decimal_of(ledger::nano_gpu_hours(allocation.gpu_us), kHourDecimals));
  json.key("gpuCost").written(cost);
  for (const std::string_view other : kOtherCosts) json.member(other, 0);
  json.key("totalCost").written(cost).close_object();
}

}  // namespace

std::string opencost_json(const std::vector<OpencostAllocation>& allocations, Month month) {
  Writer json;
  json.open_object().member("code", 200).open_list("data").open_object();
  for (const OpencostAllocation& allocation : allocations) write_allocation(json, allocation, month);
  json.close_object().close_list().close_object();
  return json.take_line();
}

}  // namespace berth::cli
