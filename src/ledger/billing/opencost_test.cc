#include "ledger/billing/opencost.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ledger/billing/testing/two_tenants.h"

namespace berth::ledger {
namespace {

using testing::TwoTenants;

std::vector<std::string> allocation_texts_of(const MonthCharges& charges, AllocationDepth depth) {
  std::vector<std::string> texts;
  for (const OpencostAllocation& each : opencost_allocations(charges, depth)) {
    texts.push_back(fmt::format("{}: {} {}", each.name, nano_gpu_hours(each.gpu_us), each.micro_usd));
  }
  return texts;
}

/// A month with one line for each of these rows.
MonthCharges charges_with(const std::vector<RowKey>& keys) {
  MonthCharges charges;
  for (const RowKey& key : keys) {
    charges.lines.push_back({.row = {.key = key, .amount = {.gpu_us = 3'600'000'000, .grains = 1}, .micro_usd = 1}});
  }
  return charges;
}

TEST(Opencost, SumsByTenantWithCorrectionsAndWithoutCredits) {
  const TwoTenants ledger;
  EXPECT_EQ(allocation_texts_of(ledger.charges(IdleRule::kKeep), AllocationDepth::kTenant),
            (std::vector<std::string>{"__idle__: 4500000000 9000004", "acme: 5500000000 11000005",
                                      "globex: 1000000000 2000001"}));
  EXPECT_EQ(allocation_texts_of(ledger.charges(IdleRule::kProportional), AllocationDepth::kTenant),
            (std::vector<std::string>{"acme: 9307692281 18615393", "globex: 1692307719 3384617"}));
}

TEST(Opencost, SumsByServiceAndRole) {
  const TwoTenants ledger;
  EXPECT_EQ(allocation_texts_of(ledger.charges(IdleRule::kKeep), AllocationDepth::kService),
            (std::vector<std::string>{"__idle__: 4500000000 9000004", "acme/chat: 5500000000 11000005",
                                      "globex/nightly: 1000000000 2000001"}));
  EXPECT_EQ(allocation_texts_of(ledger.charges(IdleRule::kProportional), AllocationDepth::kRole),
            (std::vector<std::string>{
                "acme/__unallocated__/shared: 3807692281 7615388", "acme/chat/inference: 5500000000 11000005",
                "globex/__unallocated__/shared: 692307719 1384616", "globex/nightly/job: 1000000000 2000001"}));
}

TEST(Opencost, KeepsWhatHasNoTenantAndWhatATenantOwnsApart) {
  const MonthCharges charges = charges_with({{.tenant = "", .service = "", .sku = "a", .role = Role::kIdle},
                                             {.tenant = "", .service = "", .sku = "a", .role = Role::kStranded},
                                             {.tenant = "acme", .service = "", .sku = "a", .role = Role::kIdle},
                                             {.tenant = "acme", .service = "s", .sku = "a", .role = Role::kJob}});
  EXPECT_EQ(
      allocation_texts_of(charges, AllocationDepth::kTenant),
      (std::vector<std::string>{"__idle__: 1000000000 1", "__unallocated__: 1000000000 1", "acme: 2000000000 2"}));
  EXPECT_EQ(allocation_texts_of(charges, AllocationDepth::kService),
            (std::vector<std::string>{"__idle__: 1000000000 1", "__unallocated__/__unallocated__: 1000000000 1",
                                      "acme/__idle__: 1000000000 1", "acme/s: 1000000000 1"}));
}

TEST(Opencost, NamesOfDifferentServicesDiffer) {
  const MonthCharges charges = charges_with({{.tenant = "a/b", .service = "c", .sku = "a", .role = Role::kJob},
                                             {.tenant = "a", .service = "b/c", .sku = "a", .role = Role::kJob},
                                             {.tenant = "a", .service = "b%2Fc", .sku = "a", .role = Role::kJob}});
  EXPECT_EQ(allocation_texts_of(charges, AllocationDepth::kService),
            (std::vector<std::string>{"a%2Fb/c: 1000000000 1", "a/b%252Fc: 1000000000 1", "a/b%2Fc: 1000000000 1"}));
  EXPECT_EQ(allocation_texts_of(charges, AllocationDepth::kTenant),
            (std::vector<std::string>{"a: 2000000000 2", "a/b: 1000000000 1"}));
}

TEST(Opencost, PropertiesAreThoseOfAllRowsBehindIt) {
  const auto by_tenant = opencost_allocations(TwoTenants().charges(IdleRule::kKeep), AllocationDepth::kTenant);
  EXPECT_EQ(by_tenant[1].tenant, "acme");
  EXPECT_FALSE(by_tenant[1].service);
  EXPECT_FALSE(by_tenant[1].role);
  const auto by_role = opencost_allocations(TwoTenants().charges(IdleRule::kKeep), AllocationDepth::kRole);
  EXPECT_EQ(by_role[0].tenant, "");
  EXPECT_FALSE(by_role[0].service);
  EXPECT_EQ(by_role[0].role, Role::kIdle);
  EXPECT_EQ(by_role[1].service, "chat");
  EXPECT_EQ(by_role[1].role, Role::kInference);
}

TEST(Opencost, DepthsHaveNames) {
  for (const std::string_view name : {"tenant", "service", "role"}) {
    const auto depth = allocation_depth_named(name);
    ASSERT_TRUE(depth);
    EXPECT_EQ(name_of(*depth), name);
  }
  EXPECT_FALSE(allocation_depth_named("gpu"));
}

}  // namespace
}  // namespace berth::ledger
