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
constexpr int kGpuDecimals = 9;
constexpr Int128 kMinutesPerDay = 1440;

/// The number fields of OpenCost's allocations that describe what a ledger of GPUs does not have. They are 0 and not
/// left out: readers convert every field that they know to a number, and fail where one is missing. Source:
/// AllocationJSON in core/pkg/opencost/allocation_json.go of github.com/opencost/opencost. gpuEfficiency is not among
/// them: a ledger does not know it, which is not 0.
constexpr std::array<std::string_view, 36> kZeroFields = {
    // Processors and memory of the host: the price of a GPU includes its share of them.
    "cpuCores", "cpuCoreRequestAverage", "cpuCoreLimitAverage", "cpuCoreUsageAverage", "cpuCoreHours", "cpuCost",
    "cpuCostAdjustment", "cpuCostIdle", "cpuEfficiency", "ramBytes", "ramByteRequestAverage", "ramByteLimitAverage",
    "ramByteUsageAverage", "ramByteHours", "ramCost", "ramCostAdjustment", "ramCostIdle", "ramEfficiency",
    // A correction is in gpuCost, and idle time is an allocation of its own.
    "gpuCostAdjustment", "gpuCostIdle",
    // Networks, load balancers and volumes.
    "networkTransferBytes", "networkReceiveBytes", "networkCost", "networkCrossZoneCost", "networkCrossRegionCost",
    "networkInternetCost", "networkCostAdjustment", "loadBalancerCost", "loadBalancerCostAdjustment", "pvBytes",
    "pvByteHours", "pvCost", "pvCostAdjustment",
    // Costs from outside of the window, and of other allocations. The efficiency is that of processors and memory.
    "externalCost", "sharedCost", "totalEfficiency"};

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
  json.key("gpuCount").written(decimal_of(ledger::nano_gpus(allocation.gpu_us, month), kGpuDecimals));
  json.key("gpuHours").written(decimal_of(ledger::nano_gpu_hours(allocation.gpu_us), kGpuDecimals));
  json.key("gpuCost").written(cost);
  for (const std::string_view field : kZeroFields) json.member(field, 0);
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
