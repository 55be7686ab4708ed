#include "apps/serve/serve_identity.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>

#include "serving/replica_proof/replica_proof.h"

namespace berth::serve {
namespace {

Result<ServeIdentity> identity_in(const std::map<std::string, std::string, std::less<>>& variables) {
  return read_identity([&](std::string_view name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  });
}

TEST(ServeIdentity, IsReadAsAWhole) {
  EXPECT_FALSE(identity_in({})->is_stated());
  const auto whole = identity_in({{"BERTH_SLICE", "gpu-1"}, {"BERTH_GENERATION", "4"}, {"BERTH_KEY", "k"}});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->slice, "gpu-1");
  EXPECT_EQ(whole->generation, "4");
  EXPECT_TRUE(whole->is_stated());
  EXPECT_EQ(identity_in({{"BERTH_SLICE", "gpu-1"}}).error().message,
            "wanted both BERTH_SLICE and BERTH_GENERATION or neither, found only BERTH_SLICE");
  EXPECT_EQ(identity_in({{"BERTH_SLICE", "a"}, {"BERTH_GENERATION", "x"}}).error().message,
            "BERTH_GENERATION: wanted a whole number, found \"x\"");
  EXPECT_FALSE(identity_in({{"BERTH_KEY", "a b"}}));
}

/// Answers later, counting.
class InnerHandler final : public HttpHandler {
 public:
  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override {
    ++count;
    if (request.path == std::vector<std::string>{"now"}) return HttpResponse{200, "", {{"X", "1"}}, "now"};
    return HttpLater{.start = [](std::unique_ptr<HttpLateReply> reply) { reply->send({200, "", {}, "later"}); }};
  }
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& /*request*/) override { return 7; }
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override { return {200, "", {}, refusal.message}; }

  int count = 0;
};

class KeptReply final : public HttpLateReply {
 public:
  explicit KeptReply(HttpResponse& to) : to_(to) {}
  void send(HttpResponse response) override { to_ = std::move(response); }

 private:
  HttpResponse& to_;
};

class IdentifiedHandlerTest : public ::testing::Test {
 protected:
  HttpResponse ask(std::vector<std::string> path, std::vector<HttpField> headers) {
    HttpRequest request;
    request.method = "GET";
    request.path = std::move(path);
    request.headers = std::move(headers);
    request.peer = "127.0.0.1:40000";
    HttpAnswer answer = handler_.answer(request);
    if (auto* response = std::get_if<HttpResponse>(&answer)) return *response;
    HttpResponse kept;
    std::get<HttpLater>(answer).start(std::make_unique<KeptReply>(kept));
    return kept;
  }
  static std::string header(const HttpResponse& response, std::string_view name) {
    return std::string(find_header(response.headers, name).value_or("none"));
  }

  InnerHandler inner_;
  IdentifiedHandler handler_{{.slice = "gpu-1", .generation = "4", .key = "k1"}, inner_};
};

TEST_F(IdentifiedHandlerTest, EveryAnswerSaysWhoGaveIt) {
  for (const char* path : {"now", "later"}) {
    const HttpResponse response = ask({path}, {{"Berth-Key", "k1"}});
    EXPECT_EQ(response.body, path);
    EXPECT_EQ(header(response, "berth-slice"), "gpu-1");
    EXPECT_EQ(header(response, "berth-generation"), "4");
    EXPECT_EQ(header(response, "berth-refused"), "none");
  }
  EXPECT_EQ(header(handler_.render({.message = "x"}), "berth-slice"), "gpu-1");
}

TEST_F(IdentifiedHandlerTest, WithoutTheKeyNothingIsCarriedOut) {
  for (const std::vector<HttpField>& headers :
       {std::vector<HttpField>{}, {{"berth-key", "k2"}}, {{"berth-key", "k"}}, {{"berth-key", "k11"}}}) {
    const HttpResponse response = ask({"now"}, headers);
    EXPECT_EQ(response.status, 401);
    EXPECT_EQ(header(response, "berth-refused"), "key");
    EXPECT_EQ(header(response, "berth-slice"), "gpu-1");
  }
  EXPECT_EQ(inner_.count, 0);
  EXPECT_EQ(ask({"v2", "health", "ready"}, {}).status, 200);
  EXPECT_EQ(handler_.body_bytes_max({}), std::nullopt);
}

TEST_F(IdentifiedHandlerTest, AnAnswerToANonceHasTheProof) {
  const HttpField nonce{"berth-nonce", "n1"};
  const std::string proof =
      serving::replica_proof("k1", {.nonce = "n1", .slice = "gpu-1", .generation = "4", .client = "127.0.0.1:40000"});
  const HttpField token{"berth-key", serving::request_token("k1")};
  EXPECT_EQ(header(ask({"v2", "health", "live"}, {nonce}), "berth-proof"), proof);
  EXPECT_EQ(header(ask({"later"}, {nonce, token}), "berth-proof"), proof);
  EXPECT_EQ(header(ask({"now"}, {nonce}), "berth-proof"), proof);  // refused
  EXPECT_EQ(ask({"now"}, {nonce}).status, 401);
  EXPECT_EQ(ask({"now"}, {token}).status, 200);
  EXPECT_EQ(header(ask({"now"}, {token}), "berth-proof"), "none");
  EXPECT_EQ(header(ask({"now"}, {token, {"berth-nonce", ""}}), "berth-proof"), "none");
  // A proof is no key.
  EXPECT_EQ(ask({"now"}, {{"berth-key", proof}}).status, 401);
}

TEST_F(IdentifiedHandlerTest, AtTheEndNothingNewIsCarriedOut) {
  handler_.begin_end();
  const HttpResponse response = ask({"now"}, {{"berth-key", "k1"}});
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(header(response, "berth-refused"), "end");
  EXPECT_EQ(inner_.count, 0);
}

TEST_F(IdentifiedHandlerTest, ARequestForAnotherReplicaIsNotCarriedOut) {
  const HttpField key{"berth-key", "k1"};
  EXPECT_EQ(ask({"now"}, {key, {"berth-slice", "gpu-2"}, {"berth-generation", "4"}}).status, 421);
  const HttpResponse older = ask({"now"}, {key, {"berth-slice", "gpu-1"}, {"berth-generation", "3"}});
  EXPECT_EQ(older.status, 421);
  EXPECT_EQ(header(older, "berth-refused"), "replica");
  EXPECT_EQ(older.body, "wanted a request for slice gpu-1 of generation 4, found one for \"gpu-1\" of \"3\"");
  EXPECT_EQ(inner_.count, 0);
  EXPECT_EQ(ask({"now"}, {key, {"berth-slice", "gpu-1"}, {"berth-generation", "4"}}).status, 200);
}

}  // namespace
}  // namespace berth::serve
