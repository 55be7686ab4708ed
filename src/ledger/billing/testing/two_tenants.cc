#include "ledger/billing/testing/two_tenants.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/core/ensure.h"
#include "ledger/events/event_lines.h"

namespace berth::ledger::testing {
namespace {

constexpr std::int64_t kOctoberUs = 1'790'812'800'000'000;
constexpr std::int64_t kNovemberUs = 1'793'491'200'000'000;
constexpr std::int64_t kMicrosPerHour = 3'600'000'000;

std::string when(std::int64_t from_us, int hours) {
  return fmt::format(R"("from_us":{},"to_us":{})", from_us, from_us + hours * kMicrosPerHour);
}
std::string gpu(std::string_view name, const std::string& when) {
  return fmt::format(R"("type":"gpu","gpu":"{}","sku":"a","capacity":2,{})", name, when);
}
std::string chat_use(const std::string& when) {
  return R"("type":"use","gpu":"g","slice":"0","weight":1,"tenant":"acme","service":"chat","role":"inference",)" + when;
}
std::string nightly_use(const std::string& when) {
  return R"("type":"use","gpu":"h","slice":"0","weight":2,"tenant":"globex","service":"nightly","role":"job",)" + when;
}

/// One event per line, with the ids e1, e2, ...
std::string two_tenants_text() {
  const std::vector<std::string> events = {
      fmt::format(R"("type":"price","sku":"a","from_us":{},"micro_usd_per_gpu_hour":2000001)", kOctoberUs),
      gpu("g", when(kOctoberUs, 2)),
      fmt::format(R"("type":"credit","tenant":"globex","at_us":{},"micro_usd":5000000,"reason":"free","expires_us":{})",
                  kOctoberUs, kNovemberUs),
      R"("type":"close","month":"2026-10")",
      chat_use(when(kOctoberUs, 1)),
      gpu("g", when(kNovemberUs, 10)),
      chat_use(when(kNovemberUs, 10)),
      gpu("h", when(kNovemberUs, 1)),
      nightly_use(when(kNovemberUs, 1)),
      fmt::format(R"("type":"credit","tenant":"acme","at_us":{},"micro_usd":4000000,"reason":"slo")", kNovemberUs),
  };
  std::string text;
  int count = 0;
  for (const std::string& event : events) text += fmt::format("{{\"id\":\"e{}\",{}}}\n", ++count, event);
  return text;
}

}  // namespace

Month TwoTenants::november() { return Month::of(kNovemberUs); }

TwoTenants::TwoTenants()
    : text_(two_tenants_text()), books_([this](std::uint64_t position) { return line_at(text_, position); }) {
  EventLines lines(text_, "two tenants");
  for (auto more = lines.next();; more = lines.next()) {
    ENSURE(more);
    if (!*more) break;
    ENSURE(books_.take(lines.line()) == Verdict::kAccepted);
  }
  report_ = books_.report();
}

MonthCharges TwoTenants::charges(IdleRule idle, Month month) const {
  return charges_of(Invoicing(books_, report_), report_, month, idle);
}

}  // namespace berth::ledger::testing
