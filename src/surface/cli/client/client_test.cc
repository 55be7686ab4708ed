#include "surface/cli/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "surface/cli/client/test_server.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;

ClientResult<Reply> read(const std::string& body, const ReplyLimits& limits) {
  testing::Script script;
  script.answers["GET /v1/x"] = {{.status = 200, .body = body}};
  const Client client(std::make_unique<testing::ScriptedClient>(script),
                      {.url = "http://a", .key = "k", .key_path = ""}, limits);
  return client.get("/v1/x");
}

TEST(Client, AnAnswerThatIsTooLargeIsNotCalledBroken) {
  EXPECT_TRUE(read("[1,2,3]", {.values_max = 4}));
  const auto of_values = read("[1,2,3,4]", {.values_max = 4});
  ASSERT_FALSE(of_values);
  EXPECT_THAT(of_values.error().message, HasSubstr("the answer is too large: http://a/v1/x"));
  EXPECT_THAT(of_values.error().message, HasSubstr("wanted at most 4 values"));
  const auto of_bytes = read("[1,2,3]", {.bytes_max = 6});
  ASSERT_FALSE(of_bytes);
  EXPECT_THAT(of_bytes.error().message, HasSubstr("the answer is too large: http://a/v1/x"));
  EXPECT_THAT(of_bytes.error().message, HasSubstr("wanted at most 6 bytes"));
  const auto broken = read("[1,2", {});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().message, HasSubstr("the answer is no JSON"));
}

}  // namespace
}  // namespace berth::cli
