/// The input of a ledger, one event per line.
///
/// Times are microseconds since 1970 (UTC), from 2000-01-01 to before 2101-01-01. Texts are views into the memory of
/// the reader of the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "base/core/month.h"

namespace berth::ledger {

/// [from, to), not empty.
struct Interval {
  std::int64_t from_us = 0;
  std::int64_t to_us = 0;

  [[nodiscard]] std::int64_t length_us() const { return to_us - from_us; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// The purpose of a use, in the order of the names' bytes. kIdle and kShared are never read: the first is unused time,
/// the second a line of an invoice.
enum class Role : std::uint8_t {
  kIdle,
  kInference,
  kJob,
  kReconfiguration,
  kReserved,
  kRetraining,
  kShared,
  kStranded,
};
[[nodiscard]] std::string_view name_of(Role role);

enum class CreditReason : std::uint8_t { kSlo, kPrepaid, kFree, kGoodwill };
[[nodiscard]] std::string_view name_of(CreditReason reason);

/// A price, in force until the sku's next one; 0 to 10^15 micro-dollars.
struct PriceEvent {
  std::string_view sku;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_gpu_hour = 0;
  friend bool operator==(const PriceEvent&, const PriceEvent&) = default;
};

/// A GPU that is paid for.
struct GpuEvent {
  std::string_view gpu;
  std::string_view sku;
  std::int64_t capacity = 1;  ///< 1 to 10^6
  Interval when;
  std::optional<std::string_view> owner;  ///< a tenant; absent: no owner
  friend bool operator==(const GpuEvent&, const GpuEvent&) = default;
};

struct UseEvent {
  std::string_view gpu;
  std::string_view slice;
  std::int64_t weight = 1;  ///< 1 to 10^6
  std::string_view tenant;  ///< "": no tenant, for reconfiguration and stranded only
  std::string_view service;
  Role role = Role::kInference;
  Interval when;
  friend bool operator==(const UseEvent&, const UseEvent&) = default;
};

struct CreditEvent {
  std::string_view tenant;
  std::int64_t at_us = 0;
  std::int64_t micro_usd = 0;  ///< 0 to 10^15
  CreditReason reason = CreditReason::kSlo;
  std::optional<std::int64_t> expires_us;
  friend bool operator==(const CreditEvent&, const CreditEvent&) = default;
};

/// A monthly budget, in force until the tenant's next one; 0 to 10^15 micro-dollars.
struct BudgetEvent {
  std::string_view tenant;
  std::int64_t from_us = 0;
  std::int64_t micro_usd_per_month = 0;
  bool is_hard = false;
  friend bool operator==(const BudgetEvent&, const BudgetEvent&) = default;
};

/// Millionths of the currency for a dollar, 0 to 10^15.
struct RateEvent {
  std::string_view currency;
  std::int64_t from_us = 0;
  std::int64_t micro_per_usd = 0;
  friend bool operator==(const RateEvent&, const RateEvent&) = default;
};

struct VoidEvent {
  std::string_view of;  ///< the id of an event
  friend bool operator==(const VoidEvent&, const VoidEvent&) = default;
};

struct CloseEvent {
  Month month;
  friend bool operator==(const CloseEvent&, const CloseEvent&) = default;
};

struct Event {
  std::string_view id;
  std::variant<PriceEvent, GpuEvent, UseEvent, CreditEvent, BudgetEvent, RateEvent, VoidEvent, CloseEvent> what;
  friend bool operator==(const Event&, const Event&) = default;
};

}  // namespace berth::ledger
