#include "ledger/books/testing/lines.h"

#include <fmt/format.h>

namespace berth::ledger::testing {

std::string price_line(std::string_view id, std::int64_t from_us, std::int64_t micro_usd, std::string_view sku) {
  return fmt::format(R"({{"type":"price","id":"{}","sku":"{}","from_us":{},"micro_usd_per_gpu_hour":{}}})", id, sku,
                     from_us, micro_usd);
}

std::string gpu_line(std::string_view id, const Interval& when, const GpuFields& fields) {
  return fmt::format(R"({{"type":"gpu","id":"{}","gpu":"{}","sku":"{}","capacity":{},"from_us":{},"to_us":{}{}}})", id,
                     fields.gpu, fields.sku, fields.capacity, when.from_us, when.to_us,
                     fields.owner ? fmt::format(R"(,"owner":"{}")", *fields.owner) : "");
}

std::string use_line(std::string_view id, const Interval& when, const UseFields& fields) {
  return fmt::format(
      R"({{"type":"use","id":"{}","gpu":"{}","slice":"{}","weight":{},"tenant":"{}","service":"{}","role":"{}",)"
      R"("from_us":{},"to_us":{}}})",
      id, fields.gpu, fields.slice, fields.weight, fields.tenant, fields.service, name_of(fields.role), when.from_us,
      when.to_us);
}

std::string credit_line(std::string_view id, const CreditFields& fields) {
  return fmt::format(R"({{"type":"credit","id":"{}","tenant":"{}","at_us":{},"micro_usd":{},"reason":"{}"{}}})", id,
                     fields.tenant, fields.at_us, fields.micro_usd, name_of(fields.reason),
                     fields.expires_us ? fmt::format(R"(,"expires_us":{})", *fields.expires_us) : "");
}

std::string budget_line(std::string_view id, const BudgetFields& fields) {
  return fmt::format(R"({{"type":"budget","id":"{}","tenant":"{}","from_us":{},"micro_usd_per_month":{},"hard":{}}})",
                     id, fields.tenant, fields.from_us, fields.micro_usd, fields.is_hard);
}

std::string rate_line(std::string_view id, std::int64_t from_us, std::int64_t micro_per_usd,
                      std::string_view currency) {
  return fmt::format(R"({{"type":"rate","id":"{}","currency":"{}","from_us":{},"micro_per_usd":{}}})", id, currency,
                     from_us, micro_per_usd);
}

std::string void_line(const VoidFields& fields) {
  return fmt::format(R"({{"type":"void","id":"{}","of":"{}"}})", fields.id, fields.of);
}

std::string close_line(std::string_view id, Month month) {
  return fmt::format(R"({{"type":"close","id":"{}","month":"{}"}})", id, month.to_string());
}

}  // namespace berth::ledger::testing
