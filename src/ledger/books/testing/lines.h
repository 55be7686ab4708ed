/// Lines of files of events, for tests. Names have no character that JSON escapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/core/month.h"
#include "ledger/events/event.h"

namespace berth::ledger::testing {

inline constexpr std::int64_t kHour = 3'600'000'000;
inline constexpr std::int64_t kNovember = 1'793'491'200'000'000;  ///< 2026-11-01
inline constexpr std::int64_t kDecember = kNovember + 30 * kMicrosPerDay;
inline constexpr std::int64_t kJanuary = kDecember + 31 * kMicrosPerDay;
inline constexpr std::int64_t kFebruary = kJanuary + 31 * kMicrosPerDay;

/// `micro_usd` for an hour of a GPU.
[[nodiscard]] std::string price_line(std::string_view id, std::int64_t from_us, std::int64_t micro_usd,
                                     std::string_view sku = "h100");

struct GpuFields {
  std::string_view gpu = "g";
  std::string_view sku = "h100";
  std::int64_t capacity = 56;
  std::optional<std::string_view> owner = std::nullopt;
};
[[nodiscard]] std::string gpu_line(std::string_view id, const Interval& when, const GpuFields& fields = {});

struct UseFields {
  std::string_view gpu = "g";
  std::string_view slice = "0";
  std::int64_t weight = 56;
  std::string_view tenant = "acme";
  std::string_view service = "chat";
  Role role = Role::kInference;
};
[[nodiscard]] std::string use_line(std::string_view id, const Interval& when, const UseFields& fields = {});

struct CreditFields {
  std::string_view tenant = "acme";
  std::int64_t at_us = kNovember;
  std::int64_t micro_usd = 0;
  CreditReason reason = CreditReason::kSlo;
  std::optional<std::int64_t> expires_us = std::nullopt;
};
[[nodiscard]] std::string credit_line(std::string_view id, const CreditFields& fields);

struct BudgetFields {
  std::string_view tenant = "acme";
  std::int64_t from_us = kNovember;
  std::int64_t micro_usd = 0;
  bool is_hard = false;
};
[[nodiscard]] std::string budget_line(std::string_view id, const BudgetFields& fields);

[[nodiscard]] std::string rate_line(std::string_view id, std::int64_t from_us, std::int64_t micro_per_usd,
                                    std::string_view currency = "EUR");

struct VoidFields {
  std::string_view id;
  std::string_view of;
};
[[nodiscard]] std::string void_line(const VoidFields& fields);

[[nodiscard]] std::string close_line(std::string_view id, Month month);

}  // namespace berth::ledger::testing
