// The words for the first difference between two reports.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ledger/recount/recount.h"

namespace berth::ledger {
namespace {

Row row_of(std::string tenant, Grains grains, std::optional<Month> of = std::nullopt) {
  return {.key = {.tenant = std::move(tenant), .service = "chat", .sku = "h100", .role = Role::kInference, .of = of},
          .amount = {.gpu_us = 7, .grains = grains},
          .micro_usd = 3};
}

Month november() { return *Month::parse("2026-11"); }
Month december() { return november().next(); }

Report example() {
  return {.counts = {.lines = 9, .accepted = 8, .duplicates = 1},
          .grains = 37,
          .carried_grains = 1,
          .micro_usd = 9,
          .months = {
              {.month = november(), .is_closed = true, .micro_usd = 6, .rows = {row_of("acme", 12), row_of("zed", 9)}},
              {.month = december(), .micro_usd = 3, .rows = {row_of("acme", 16, november())}}}};
}

TEST(FindDifference, EqualReportsHaveNone) {
  EXPECT_EQ(find_difference(example(), example()), std::nullopt);
  EXPECT_EQ(find_difference({}, {}), std::nullopt);
}

TEST(FindDifference, NamesTheFirstOne) {
  struct Case {
    std::function<void(Report&)> change;  ///< of the report on the other side
    std::string words;
  };
  const std::vector<Case> cases = {
      {[](Report& r) { r.counts.lines = 10; }, "lines: 9 here, 10 there"},
      {[](Report& r) { r.counts.accepted = 7; }, "accepted: 8 here, 7 there"},
      {[](Report& r) { r.counts.duplicates = 0; }, "duplicates: 1 here, 0 there"},
      {[](Report& r) { r.counts.conflicts = 2; }, "conflicts: 0 here, 2 there"},
      {[](Report& r) { r.counts.overlaps = 2; }, "overlaps: 0 here, 2 there"},
      {[](Report& r) { r.counts.refused_closed = 2; }, "refused_closed: 0 here, 2 there"},
      {[](Report& r) { r.counts.refused_void = 2; }, "refused_void: 0 here, 2 there"},
      {[](Report& r) { r.counts.refused_close = 2; }, "refused_close: 0 here, 2 there"},
      {[](Report& r) { r.counts.voided = 2; }, "voided: 0 here, 2 there"},
      {[](Report& r) { r.months[0].rows[0].amount.grains = 13; },
       "2026-11, acme/chat/h100/inference/usage: 12 grains here, 13 there"},
      {[](Report& r) { r.months[1].rows[0].amount.gpu_us = -8; },
       "2026-12, acme/chat/h100/inference/correction of 2026-11: 7 gpu_us here, -8 there"},
      {[](Report& r) { r.months[0].rows[1].micro_usd = 4; },
       "2026-11, zed/chat/h100/inference/usage: 3 micro_usd here, 4 there"},
      {[](Report& r) { r.months[0].rows.pop_back(); },
       "2026-11, zed/chat/h100/inference/usage: 9 grains here, no row there"},
      {[](Report& r) { r.months[0].rows.insert(r.months[0].rows.begin(), row_of("a\n", 2)); },
       "2026-11, \"a\\x0a\"/chat/h100/inference/usage: 2 grains there, no row here"},
      {[](Report& r) { r.months.pop_back(); }, "2026-12: 1 rows here, none there"},
      {[](Report& r) { r.months[1].month = december().next(); }, "2026-12: 1 rows here, none there"},
      {[](Report& r) { r.months[0].is_closed = false; }, "2026-11: closed here, open there"},
      {[](Report& r) { r.months[1].micro_usd = 4; }, "2026-12: 3 micro_usd here, 4 there"},
      {[](Report& r) { r.unpriced_us = 1; }, "unpriced_us: 0 here, 1 there"},
      {[](Report& r) { r.unbacked_us = 1; }, "unbacked_us: 0 here, 1 there"},
      {[](Report& r) { r.grains = 38; }, "grains: 37 here, 38 there"},
      {[](Report& r) { r.carried_grains = 2; }, "carried_grains: 1 here, 2 there"},
      {[](Report& r) { r.micro_usd = Int128{1} << 100; }, "micro_usd: 9 here, 1267650600228229401496703205376 there"},
  };
  for (const Case& each : cases) {
    Report there = example();
    each.change(there);
    EXPECT_EQ(find_difference(example(), there), each.words);
  }
}

}  // namespace
}  // namespace berth::ledger
