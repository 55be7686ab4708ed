#include "domain/lists/tenant_list.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

const std::string tenant_header = "tenant,parent,guaranteed,limit,weight\n";

std::string tenant_refusal(const std::string& rows) {
  const auto tenants = read_tenants(tenant_header + rows, "t.csv", 16);
  return tenants ? "" : tenants.error().message;
}

TEST(TenantList, ReadsATreeInTheOrderOfItsRows) {
  const auto tenants = read_tenants(tenant_header + "a,all,4,8,2\nall,,12,,1\nb,all,8,8,1\n", "t.csv", 16);
  ASSERT_TRUE(tenants.has_value()) << tenants.error().message;
  EXPECT_EQ((*tenants)[0], (ListedTenant{.name = "a", .parent = 1, .guaranteed = 4, .limit = 8, .weight = 2}));
  EXPECT_EQ((*tenants)[1], (ListedTenant{.name = "all", .guaranteed = 12}));
  EXPECT_EQ((*tenants)[2], (ListedTenant{.name = "b", .parent = 1, .guaranteed = 8, .limit = 8}));
}

TEST(TenantList, RefusesWhatIsNoTreeOrPromisesTooMuch) {
  EXPECT_EQ(tenant_refusal("a,b,0,,1\n"), "t.csv:2:3: parent: wanted a tenant of this file, found \"b\"");
  EXPECT_EQ(tenant_refusal("a,a,0,,1\n"), "t.csv:2:3: parent: wanted a tree, found \"a\" below \"a\"");
  EXPECT_EQ(tenant_refusal("x,,0,,1\na,b,0,,1\nb,a,0,,1\n"),
            "t.csv:4:3: parent: wanted a tree, found \"a\" below \"b\"");
  EXPECT_EQ(tenant_refusal("a,,9,,1\nb,,8,,1\n"),
            "t.csv:3:4: guaranteed: wanted at most 16 together with its siblings (the GPUs), found 17");
  EXPECT_EQ(tenant_refusal("a,,4,,1\nb,a,3,,1\nc,a,2,,1\n"),
            "t.csv:4:5: guaranteed: wanted at most 4 together with its siblings (the guarantee of \"a\"), found 5");
  EXPECT_EQ(tenant_refusal("a,,4,3,1\n"), "t.csv:2:6: limit: wanted a whole number from 4 to 1000000000, found \"3\"");
  EXPECT_EQ(tenant_refusal("a,,0,,0\n"), "t.csv:2:7: weight: wanted a whole number from 1 to 1000000000, found \"0\"");
  EXPECT_EQ(tenant_refusal("a,,0,,1\na,,0,,1\n"),
            "t.csv:3:1: tenant: wanted a name that no other tenant has, found \"a\"");
  EXPECT_EQ(tenant_refusal(""), "t.csv:1:1: wanted at least one tenant, found none");
}

}  // namespace
}  // namespace berth
