#include "surface/cli/export/opencost_json.h"

#include <array>
#include <string_view>

#include "base/json/writer.h"
#include "ledger/billing/charges.h"
#include "ledger/billing/csv.h"
#include "surface/cli/export/month_times.h"

namespace berth::cli {
namespace {

using json::JsonWriter;
using ledger::decimal_of;
using ledger::OpencostAllocation;

constexpr int kUsdDecimals = 6;
constexpr int kHourDecimals = 9;
constexpr Int128 kMinutesPerDay = 1440;

/// What OpenCost sums with gpuCost to totalCost; the price of a GPU has its share of the host in it.
constexpr std::array<std::string_view, 7> kOtherCosts = {"cpuCost",          "ramCost",    "pvCost",      "networkCost",
                                                         "loadBalancerCost", "sharedCost", "externalCost"};

void write_properties(JsonWriter& json, const OpencostAllocation& allocation) {
  json.key("properties").open_object();
  if (!allocation.tenant.empty()) json.key("namespace").text(allocation.tenant);
  if (allocation.service) json.key("services").open_list().text(*allocation.service).close_list();
  if (allocation.role) json.key("labels").open_object().key("role").text(name_of(*allocation.role)).close_object();
  json.close_object();
}

void write_allocation(JsonWriter& json, const OpencostAllocation& allocation, Month month) {
  const MonthTimes times = times_of(month);
  const std::string cost = decimal_of(allocation.micro_usd, kUsdDecimals);
  json.key(allocation.name).open_object().key("name").text(allocation.name);
  write_properties(json, allocation);
  json.key("window").open_object().key("start").text(times.begin).key("end").text(times.end).close_object();
  json.key("start").text(times.begin).key("end").text(times.end);
  json.key("minutes").integer(month.day_count() * kMinutesPerDay);
  json.key("gpuHours").number(decimal_of(ledger::nano_gpu_hours(allocation.gpu_us), kHourDecimals));
  json.key("gpuCost").number(cost);
  for (const std::string_view other : kOtherCosts) json.key(other).integer(0);
  json.key("totalCost").number(cost).close_object();
}

}  // namespace

std::string opencost_json(const std::vector<OpencostAllocation>& allocations, Month month) {
  JsonWriter json;
  json.open_object().key("code").integer(200).key("data").open_list().open_object();
  for (const OpencostAllocation& allocation : allocations) write_allocation(json, allocation, month);
  json.close_object().close_list().close_object();
  return json.take();
}

}  // namespace berth::cli
