#include "ledger/billing/opencost.h"

#include <array>
#include <map>
#include <utility>

#include "base/core/ensure.h"

namespace berth::ledger {
namespace {

constexpr std::array kAllocationDepths = {AllocationDepth::kTenant, AllocationDepth::kService, AllocationDepth::kRole};

/// One part of a longer name, escaped so that no two rows share a name.
std::string name_part(std::string_view text) {
  if (text.empty()) return std::string(kUnallocatedName);
  std::string part;
  for (const char c : text) {
    if (c == '/') {
      part += "%2F";
    } else if (c == '%') {
      part += "%25";
    } else {
      part += c;
    }
  }
  return part;
}

std::string allocation_name(const RowKey& key, AllocationDepth depth) {
  const bool is_idle = key.role == Role::kIdle;
  if (key.tenant.empty() && is_idle) return std::string(kIdleName);
  if (depth == AllocationDepth::kTenant) return key.tenant.empty() ? std::string(kUnallocatedName) : key.tenant;
  if (is_idle) return name_part(key.tenant) + "/" + std::string(kIdleName);
  const std::string name = name_part(key.tenant) + "/" + name_part(key.service);
  return depth == AllocationDepth::kService ? name : name + "/" + std::string(name_of(key.role));
}

OpencostAllocation allocation_named(std::string name, const RowKey& key, AllocationDepth depth) {
  OpencostAllocation allocation{.name = std::move(name), .tenant = key.tenant};
  if (depth != AllocationDepth::kTenant && !key.service.empty()) allocation.service = key.service;
  if (depth == AllocationDepth::kRole) allocation.role = key.role;
  return allocation;
}

}  // namespace

std::string_view name_of(AllocationDepth depth) {
  switch (depth) {
    case AllocationDepth::kTenant:
      return "tenant";
    case AllocationDepth::kService:
      return "service";
    case AllocationDepth::kRole:
      return "role";
  }
  ENSURE(false);
}

std::optional<AllocationDepth> allocation_depth_named(std::string_view name) {
  for (const AllocationDepth depth : kAllocationDepths) {
    if (name_of(depth) == name) return depth;
  }
  return std::nullopt;
}

std::vector<OpencostAllocation> opencost_allocations(const MonthCharges& charges, AllocationDepth depth) {
  std::map<std::string, OpencostAllocation> by_name;
  for (const InvoiceLine& line : charges.lines) {
    std::string name = allocation_name(line.row.key, depth);
    auto found = by_name.find(name);
    if (found == by_name.end()) {
      found = by_name.emplace(name, allocation_named(name, line.row.key, depth)).first;
    }
    found->second.gpu_us += line.row.amount.gpu_us;
    found->second.micro_usd += line.row.micro_usd;
  }
  std::vector<OpencostAllocation> allocations;
  allocations.reserve(by_name.size());
  for (auto& [name, allocation] : by_name) allocations.push_back(std::move(allocation));
  return allocations;
}

}  // namespace berth::ledger
