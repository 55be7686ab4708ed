/// A month of a ledger as allocations of OpenCost, as its /allocation API returns them for one window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/billing/charges.h"
#include "ledger/books/amount.h"
#include "ledger/events/event.h"

namespace berth::ledger {

/// The level of an allocation: a tenant (OpenCost: a namespace), one of its services, or a role of that service.
enum class AllocationDepth : std::uint8_t { kTenant, kService, kRole };
/// Such as "tenant".
[[nodiscard]] std::string_view name_of(AllocationDepth depth);
[[nodiscard]] std::optional<AllocationDepth> allocation_depth_named(std::string_view name);

/// OpenCost's names of idle time, and of other time, without a tenant.
inline constexpr std::string_view kIdleName = "__idle__";
inline constexpr std::string_view kUnallocatedName = "__unallocated__";

struct OpencostAllocation {
  /// "acme", "acme/chat" or "acme/chat/inference", with kIdleName instead of a service for idle time that the tenant
  /// owns. In the longer ones / and % are written as %2F and %25.
  std::string name;
  std::string tenant;                                 ///< "": no tenant
  std::optional<std::string> service = std::nullopt;  ///< absent: of several, or of none
  std::optional<Role> role = std::nullopt;            ///< absent: of several
  GpuMicros gpu_us = 0;
  MicroUsd micro_usd = 0;
};

/// By the bytes of their names, which differ. The sum is that of the lines: OpenCost has no credits.
[[nodiscard]] std::vector<OpencostAllocation> opencost_allocations(const MonthCharges& charges, AllocationDepth depth);

}  // namespace berth::ledger
