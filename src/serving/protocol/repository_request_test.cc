#include "serving/protocol/repository_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

namespace berth::serving::protocol {
namespace {

using testing::HasSubstr;

TEST(RepositoryRequestTest, AnIndexOfAllOrOfThoseThatAreReady) {
  for (const std::string_view all : {"", " \n", "{}", R"({"ready":false})", R"({"ready":null,"x":[1]})"}) {
    EXPECT_EQ(read_index_request(all), false) << all;
  }
  EXPECT_EQ(read_index_request(R"({"ready":true})"), true);
  for (const std::string_view bad : {"x", "[]", R"({"ready":1})", "{}{}", R"({"ready":true)"}) {
    EXPECT_EQ(read_index_request(bad).error().fault, ServeFault::kMalformed) << bad;
  }
}

TEST(RepositoryRequestTest, ALoadWithALease) {
  for (const std::string_view none :
       {"", "{}", R"({"parameters":{}})", R"({"parameters":null})", R"({"parameters":{"lease_seconds":0}})"}) {
    EXPECT_EQ(read_load_request(none), Micros(0)) << none;
  }
  EXPECT_EQ(read_load_request(R"({"parameters":{"lease_seconds":3600}})"), kLeaseMax);
  for (const std::string_view lease : {"3601", "-1", "1.5", "\"60\"", "true", "1e3"}) {
    const auto read = read_load_request(std::string(R"({"parameters":{"lease_seconds":)").append(lease).append("}}"));
    ASSERT_FALSE(read.has_value()) << lease;
    EXPECT_EQ(read.error().fault, ServeFault::kMalformed);
    EXPECT_THAT(read.error().message, HasSubstr("wanted a whole number from 0 to 3600"));
  }
}

TEST(RepositoryRequestTest, ALoadDoesNotOverride) {
  EXPECT_EQ(read_load_request(R"({"parameters":{"config":"{}"}})").error().fault, ServeFault::kNotOffered);
  EXPECT_EQ(read_load_request(R"({"parameters":{"file:1/model.onnx":"AAAA"}})").error().fault, ServeFault::kNotOffered);
  const auto unknown = read_load_request(R"({"parameters":{"lease":5}})");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().message, "parameters: wanted lease_seconds, found \"lease\"");
}

TEST(RepositoryRequestTest, AnUnload) {
  for (const std::string_view good : {"", "{}", R"({"parameters":{"unload_dependents":false}})"}) {
    EXPECT_TRUE(read_unload_request(good).has_value()) << good;
  }
  for (const std::string_view bad : {"x", R"({"parameters":{"unload_dependents":1}})", R"({"parameters":{"x":1}})"}) {
    EXPECT_EQ(read_unload_request(bad).error().fault, ServeFault::kMalformed) << bad;
  }
}

}  // namespace
}  // namespace berth::serving::protocol
