/// A month of a ledger as allocations of OpenCost: what its /allocation API answers for one window.
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

/// What an allocation is: a tenant (OpenCost: a namespace), a service of it, or a role of that.
enum class AllocationDepth : std::uint8_t { kTenant, kService, kRole };
/// Such as "tenant".
[[nodiscard]] std::string_view name_of(AllocationDepth depth);
[[nodiscard]] std::optional<AllocationDepth> allocation_depth_named(std::string_view name);

/// Nobody's idle time, and nobody's other time, in OpenCost's words.
inline constexpr std::string_view kIdleName = "__idle__";
inline constexpr std::string_view kUnallocatedName = "__unallocated__";

struct OpencostAllocation {
  /// "acme", "acme/chat" or "acme/chat/inference", with kIdleName instead of a service in time that the tenant owns and
  /// nobody used. In the longer ones / and % are written as %2F and %25.
  std::string name;
  std::string tenant;                                 ///< "": nobody's
  std::optional<std::string> service = std::nullopt;  ///< absent: of several, or of none
  std::optional<Role> role = std::nullopt;            ///< absent: of several
  GpuMicros gpu_us = 0;
  MicroUsd micro_usd = 0;
};

/// By the bytes of their names, which differ. The sum is that of the lines: OpenCost has no credits.
[[nodiscard]] std::vector<OpencostAllocation> opencost_allocations(const MonthCharges& charges, AllocationDepth depth);

}  // namespace berth::ledger
