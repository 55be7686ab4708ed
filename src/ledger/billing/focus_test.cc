#include "ledger/billing/focus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ledger/billing/testing/two_tenants.h"

namespace berth::ledger {
namespace {

using testing::TwoTenants;

/// "TENANT MICRO_USD CHARGE_MONTH: DESCRIPTION", then of a usage "HOURS METHOD", with "correction" where it is one.
std::string text_of(const FocusLine& line) {
  std::string text = fmt::format("{} {} {}: {}", line.tenant.empty() ? "-" : line.tenant, line.micro_usd,
                                 line.charge_month.to_string(), line.description);
  if (!line.usage) return text + "; credit " + line.credit_id.value_or("none");
  text += fmt::format("; {} {} {}", line.usage->sku, nano_gpu_hours(line.usage->gpu_us), name_of(line.usage->method));
  return line.usage->is_correction ? text + " correction" : text;
}

std::vector<std::string> focus_texts_of(IdleRule idle) {
  std::vector<std::string> texts;
  for (const FocusLine& line : focus_lines(TwoTenants().charges(idle))) texts.push_back(text_of(line));
  return texts;
}

TEST(Focus, HasALineForEachRowAndEachCreditUsed) {
  EXPECT_EQ(
      focus_texts_of(IdleRule::kKeep),
      (std::vector<std::string>{
          "- -1000001 2026-10: idle on a, correction of 2026-10; a -500000000 idle-remainder correction",
          "- 10000005 2026-11: idle on a; a 5000000000 idle-remainder",
          "acme 1000000 2026-10: inference of chat on a, correction of 2026-10; a 500000000 weight-share correction",
          "acme 10000005 2026-11: inference of chat on a; a 5000000000 weight-share",
          "globex 2000001 2026-11: job of nightly on a; a 1000000000 weight-share",
          "acme -4000000 2026-11: slo credit e10; credit e10",
      }));
}

TEST(Focus, SharesWhatBelongsToNobodyByCost) {
  EXPECT_EQ(
      focus_texts_of(IdleRule::kProportional),
      (std::vector<std::string>{
          "acme -846155 2026-10: share of idle on a, correction of 2026-10; a -423076920 shared-by-cost correction",
          "acme 8461543 2026-11: share of idle on a; a 4230769201 shared-by-cost",
          "acme 1000000 2026-10: inference of chat on a, correction of 2026-10; a 500000000 weight-share correction",
          "acme 10000005 2026-11: inference of chat on a; a 5000000000 weight-share",
          "globex -153846 2026-10: share of idle on a, correction of 2026-10; a -76923080 shared-by-cost correction",
          "globex 1538462 2026-11: share of idle on a; a 769230799 shared-by-cost",
          "globex 2000001 2026-11: job of nightly on a; a 1000000000 weight-share",
          "acme -4000000 2026-11: slo credit e10; credit e10",
      }));
}

TEST(Focus, SumsToTheTotal) {
  const TwoTenants ledger;
  for (const IdleRule idle : {IdleRule::kKeep, IdleRule::kProportional}) {
    const MonthCharges charges = ledger.charges(idle);
    MicroUsd sum = 0;
    for (const FocusLine& line : focus_lines(charges)) sum += line.micro_usd;
    EXPECT_EQ(sum, charges.total_micro_usd);
  }
}

TEST(Focus, TagsNameServiceAndRoleAndWhatIsShared) {
  using Tags = std::vector<std::pair<std::string, std::string>>;
  const TwoTenants ledger;
  const auto kept = focus_lines(ledger.charges(IdleRule::kKeep));
  EXPECT_EQ(kept[1].usage->tags, (Tags{{"service", ""}, {"role", "idle"}}));
  EXPECT_EQ(kept[3].usage->tags, (Tags{{"service", "chat"}, {"role", "inference"}}));
  const auto shared = focus_lines(ledger.charges(IdleRule::kProportional));
  EXPECT_EQ(shared[1].usage->tags, (Tags{{"service", ""}, {"role", "shared"}, {"shared_role", "idle"}}));
}

}  // namespace
}  // namespace berth::ledger
