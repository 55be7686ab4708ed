#include "surface/api/one_time_login.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace berth::api {
namespace {

constexpr Micros kSoon = Micros::seconds(1);

TEST(OneTimeLogin, GivesItsKeyOnce) {
  OneTimeLogin login("token", "key");
  EXPECT_FALSE(login.accepts("key")) << "nobody has it";
  EXPECT_EQ(login.exchange("token", kSoon), "key");
  EXPECT_TRUE(login.accepts("key"));
  EXPECT_EQ(login.exchange("token", kSoon), std::nullopt);
  EXPECT_TRUE(login.accepts("key")) << "the first one keeps it";
}

TEST(OneTimeLogin, AWrongTokenDoesNotUseItUp) {
  OneTimeLogin login("token", "key");
  for (const char* wrong : {"", "toke", "tokens", "Token", "key"}) {
    EXPECT_EQ(login.exchange(wrong, kSoon), std::nullopt) << wrong;
  }
  EXPECT_EQ(login.exchange("token", kSoon), "key");
  for (const char* wrong : {"", "ke", "keys", "token"}) EXPECT_FALSE(login.accepts(wrong)) << wrong;
}

TEST(OneTimeLogin, TheTokenIsValidForTenMinutes) {
  OneTimeLogin late("token", "key");
  EXPECT_EQ(late.exchange("token", Micros::seconds(600) + Micros(1)), std::nullopt);
  EXPECT_FALSE(late.accepts("key"));
  OneTimeLogin last("token", "key");
  EXPECT_EQ(last.exchange("token", Micros::seconds(600)), "key");
}

TEST(OneTimeLogin, WithoutATokenThereIsNone) {
  OneTimeLogin login("", "");
  EXPECT_EQ(login.exchange("", kSoon), std::nullopt);
  EXPECT_FALSE(login.accepts(""));
}

TEST(OneTimeLogin, OfManyAtOnceOneGetsTheKey) {
  OneTimeLogin login("token", "key");
  std::atomic<int> got = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { got += login.exchange("token", kSoon) ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, 1);
}

}  // namespace
}  // namespace berth::api
