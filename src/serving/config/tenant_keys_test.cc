#include "serving/config/tenant_keys.h"

#include <gtest/gtest.h>

namespace berth::serving {
namespace {

// printf abc | sha256sum, and of nothing.
constexpr const char* kDigestOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kDigestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(TenantKeysTest, AKeyNamesItsTenantByTheOrderOfNames) {
  const std::vector<ConfiguredTenant> tenants = {
      {.name = "zoo", .key_sha256 = kDigestOfAbc}, {.name = "none"}, {.name = "ant", .key_sha256 = kDigestOfNothing}};
  const TenantKeys keys(tenants);
  EXPECT_EQ(keys.names(), (std::vector<std::string>{"ant", "none", "zoo"}));
  EXPECT_TRUE(keys.are_needed());
  for (const char* right : {"Bearer abc", "bearer abc", "BEARER   abc "}) EXPECT_EQ(keys.tenant_of(right), 2) << right;
  for (const char* wrong : {"", "Bearer", "Bearer ", "Bearer ab", "Bearer abcd", "Basic abc", "abc", "Bearerabc",
                            "Bearer ABC", kDigestOfAbc}) {
    EXPECT_FALSE(keys.tenant_of(wrong)) << wrong;
  }
  EXPECT_FALSE(keys.tenant_of(std::nullopt));
}

TEST(TenantKeysTest, WithoutTenantsThereIsOneWithoutKey) {
  const TenantKeys keys({});
  EXPECT_EQ(keys.names(), std::vector<std::string>{"default"});
  EXPECT_FALSE(keys.are_needed());
  EXPECT_EQ(keys.tenant_of(std::nullopt), 0);
  EXPECT_EQ(keys.tenant_of("Bearer anything"), 0);
}

}  // namespace
}  // namespace berth::serving
