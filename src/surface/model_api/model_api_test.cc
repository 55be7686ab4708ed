#include "surface/model_api/model_api.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "surface/model_api/infer_routes.h"
#include "surface/model_api/testing/api_client.h"
#include "surface/model_api/testing/fake_inference_service.h"

namespace berth::model_api {
namespace {

using serving::InferAnswer;
using serving::ServeError;
using serving::ServeFault;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::string_view kInfer = "/v2/models/digits/infer";
constexpr std::string_view kBody = R"({"id":"a","inputs":[{"name":"X","shape":[1],"datatype":"INT8","data":[5]}]})";

InferAnswer one_number() {
  return {.model = "digits",
          .version = "1",
          .id = "a",
          .outputs = {{.name = "Y", .type = TensorType::kInt8, .shape = {1}, .bytes = "\7", .texts = {}}}};
}

class ModelApiTest : public testing::Test {
 protected:
  std::shared_ptr<Exchange> get(std::string_view path, std::vector<HttpField> headers = {}) {
    return ask(api_, request_of("GET", path, "", std::move(headers)));
  }
  std::shared_ptr<Exchange> post(std::string_view path, std::string_view body = "",
                                 std::vector<HttpField> headers = {}) {
    return ask(api_, request_of("POST", path, std::string(body), std::move(headers)));
  }
  /// Of a request that ends with this error.
  std::shared_ptr<Exchange> fail_with(ServeError error) {
    service_.answer_now = tl::unexpected(std::move(error));
    return post(kInfer, kBody);
  }

  FakeInferenceService service_;
  ModelApi api_{service_};
};

TEST_F(ModelApiTest, Health) {
  EXPECT_EQ(get("/v2/health/live")->body(), R"({"live":true})");
  EXPECT_EQ(get("/v2/health/ready")->body(), R"({"ready":true,"device":"cpu"})");
  service_.ready = false;
  EXPECT_EQ(get("/v2/health/live")->status(), 200);
  EXPECT_EQ(get("/v2/health/ready")->status(), 503);
}

TEST_F(ModelApiTest, MetadataOfTheServerAndItsModels) {
  EXPECT_THAT(get("/v2")->body(), StartsWith(R"({"name":"berth","version":"0.1.0","extensions":[)"));
  EXPECT_EQ(get("/v2")->response->content_type, "application/json");
  for (const std::string_view model : {"/v2/models/digits", "/v2/models/digits/versions/1"}) {
    EXPECT_THAT(get(model)->body(), StartsWith(R"({"name":"digits","versions":["1"],)"));
    EXPECT_THAT(get(std::string(model) + "/config")->body(), HasSubstr(R"("max_batch_size":64)"));
    EXPECT_EQ(get(std::string(model) + "/ready")->body(), R"({"name":"digits","ready":true})");
    EXPECT_THAT(get(std::string(model) + "/stats")->body(), StartsWith(R"({"model_stats":[{"name":"digits",)"));
  }
  EXPECT_THAT(get("/v2/models/stats")->body(), StartsWith(R"({"model_stats":[)"));
  for (const std::string_view page : {"", "/config", "/ready", "/stats"}) {
    EXPECT_EQ(get(fmt::format("/v2/models/other{}", page))->status(), 404);
    EXPECT_EQ(get(fmt::format("/v2/models/digits/versions/2{}", page))->status(), 404);
  }
}

TEST_F(ModelApiTest, AModelThatIsNotReady) {
  service_.model_ready = false;
  EXPECT_EQ(get("/v2/models/digits/ready")->status(), 503);
  EXPECT_EQ(get("/v2/models/digits")->status(), 503);
  EXPECT_EQ(get("/v2/models/digits")->body(), R"({"error":"its file is not ONNX"})");
}

TEST_F(ModelApiTest, InferenceIsAnsweredLater) {
  const auto exchange = post("/v2/models/digits/versions/1/infer", kBody);
  EXPECT_EQ(exchange->response, std::nullopt);
  ASSERT_EQ(service_.requests.size(), 1U);
  const serving::InferRequest& request = service_.requests.front();
  EXPECT_EQ(request.model, "digits");
  EXPECT_EQ(request.version, "1");
  EXPECT_EQ(request.id, "a");
  ASSERT_EQ(request.inputs.size(), 1U);
  EXPECT_EQ(request.inputs.front().bytes, "\5");
  service_.done.front()(one_number());
  EXPECT_EQ(exchange->status(), 200);
  EXPECT_EQ(exchange->response->content_type, "application/json");
  EXPECT_EQ(exchange->body(), R"({"model_name":"digits","model_version":"1","id":"a",)"
                              R"("outputs":[{"name":"Y","datatype":"INT8","shape":[1],"data":[7]}]})");
  EXPECT_EQ(exchange->header("Inference-Header-Content-Length"), "");
  EXPECT_THAT(service_.cancelled, IsEmpty());
}

TEST_F(ModelApiTest, BinaryInputsAndOutputs) {
  service_.answer_now = one_number();
  const std::string head =
      R"({"inputs":[{"name":"X","shape":[2],"datatype":"INT8","parameters":{"binary_data_size":2}}],)"
      R"("outputs":[{"name":"Y","parameters":{"binary_data":true}}]})";
  const auto exchange = post(
      kInfer, head + "\1\2",
      {{"inference-header-content-length", fmt::to_string(head.size())}, {"Content-Type", "application/octet-stream"}});
  EXPECT_EQ(service_.requests.front().inputs.front().bytes, "\1\2");
  EXPECT_EQ(exchange->response->content_type, "application/octet-stream");
  const std::string answer_head = exchange->body().substr(0, exchange->body().size() - 1);
  EXPECT_EQ(exchange->header("Inference-Header-Content-Length"), fmt::to_string(answer_head.size()));
  EXPECT_THAT(answer_head, testing::EndsWith(R"("parameters":{"binary_data_size":1}}]})"));
  EXPECT_EQ(exchange->body().back(), '\7');
}

TEST_F(ModelApiTest, EachErrorHasItsStatus) {
  const std::vector<std::pair<ServeFault, int>> cases{
      {ServeFault::kMalformed, 400},   {ServeFault::kUnknown, 404},      {ServeFault::kTooLarge, 413},
      {ServeFault::kRejected, 429},    {ServeFault::kEngineFailed, 500}, {ServeFault::kNotOffered, 501},
      {ServeFault::kUnavailable, 503}, {ServeFault::kExpired, 504},
  };
  for (const auto& [fault, status] : cases) {
    const auto exchange = fail_with({.fault = fault, .message = "why"});
    EXPECT_EQ(exchange->status(), status);
    EXPECT_EQ(exchange->body(), R"({"error":"why"})");
    EXPECT_EQ(exchange->header("Retry-After"), status == 429 ? "1" : "");
  }
}

TEST_F(ModelApiTest, WhenToTryAgain) {
  const auto later = [&](ServeFault fault, Micros after) {
    const auto exchange = fail_with({.fault = fault, .message = "full", .retry_after = after});
    return exchange->header("Retry-After") + " " + exchange->header("retry-after-ms");
  };
  EXPECT_EQ(later(ServeFault::kRejected, Micros(1'500'001)), "2 1501");
  EXPECT_EQ(later(ServeFault::kRejected, Micros(20'000)), "1 20");
  EXPECT_EQ(later(ServeFault::kRejected, Micros(0)), "1 1");
  EXPECT_EQ(later(ServeFault::kUnavailable, Micros::seconds(10)), "10 10000");
}

TEST_F(ModelApiTest, AnAnswerThatJsonCannotCarry) {
  InferAnswer answer = one_number();
  answer.outputs.front().type = TensorType::kFp32;
  answer.outputs.front().bytes = std::string("\0\0\xC0\x7F", 4);
  service_.answer_now = answer;
  const auto exchange = post(kInfer, kBody);
  EXPECT_EQ(exchange->status(), 500);
  EXPECT_THAT(exchange->body(), HasSubstr("binary_data"));
}

TEST_F(ModelApiTest, AClientThatLeavesCancelsItsRequest) {
  const auto exchange = post(kInfer, kBody);
  ASSERT_TRUE(exchange->gone);
  exchange->gone();
  EXPECT_THAT(service_.cancelled, ElementsAre(1));
  service_.done.front()(serving::refuse(ServeFault::kCancelled, "its client left"));
  EXPECT_EQ(exchange->status(), 499);
}

TEST_F(ModelApiTest, AClientThatLeavesBeforeItsRequestHasANumber) {
  const auto exchange = std::make_shared<Exchange>();
  service_.during_infer = [&] {
    exchange->gone();
    EXPECT_THAT(service_.cancelled, IsEmpty());
  };
  ask(api_, request_of("POST", kInfer, std::string(kBody)), exchange);
  EXPECT_THAT(service_.cancelled, ElementsAre(1));
}

TEST_F(ModelApiTest, AServiceThatDoesNotAnswerDropsTheReply) {
  const auto exchange = post(kInfer, kBody);
  service_.done.clear();
  EXPECT_TRUE(exchange->is_dropped);
}

TEST_F(ModelApiTest, TheIndex) {
  EXPECT_THAT(post("/v2/repository/index")->body(), HasSubstr(R"("state":"UNAVAILABLE","reason":"no version"})"));
  EXPECT_EQ(post("/v2/repository/index", R"({"ready":true})")->body(),
            R"([{"name":"digits","version":"1","state":"READY","reason":"loads on request"}])");
  EXPECT_EQ(post("/v2/repository/index", "x")->status(), 400);
}

TEST_F(ModelApiTest, LoadAndUnload) {
  EXPECT_EQ(post("/v2/repository/models/digits/load")->status(), 200);
  EXPECT_EQ(post("/v2/repository/models/digits/load", R"({"parameters":{"lease_seconds":60}})")->body(), "{}");
  EXPECT_EQ(post("/v2/repository/models/digits/unload", R"({"parameters":{"unload_dependents":false}})")->status(),
            200);
  EXPECT_THAT(service_.model_calls, ElementsAre("load digits 0", "load digits 60000000", "unload digits"));
  EXPECT_EQ(post("/v2/repository/models/digits/load", R"({"parameters":{"config":"{}"}})")->status(), 501);
  EXPECT_EQ(post("/v2/repository/models/digits/load", R"({"parameters":{"lease_seconds":3601}})")->status(), 400);
  EXPECT_EQ(post("/v2/repository/models/digits/unload", "[]")->status(), 400);
  service_.model_answer = serving::refuse(ServeFault::kUnavailable, "no room");
  EXPECT_EQ(post("/v2/repository/models/digits/load")->status(), 503);
  EXPECT_EQ(post("/v2/repository/models/digits/unload")->body(), R"({"error":"no room"})");
}

TEST_F(ModelApiTest, UnknownPathsAndMethods) {
  for (const std::string_view path : {"/", "/v1", "/v2/", "/v2/models", "/v2/models/", "/v2/models//infer",
                                      "/v2/models/digits/versions//infer", "/v2/models/digits/infer/x", "/metrics"}) {
    EXPECT_EQ(post(path)->status(), 404) << path;
  }
  EXPECT_EQ(get("/v3")->body(), R"({"error":"there is nothing at \"/v3\""})");
  EXPECT_EQ(get(kInfer)->status(), 405);
  EXPECT_EQ(get(kInfer)->header("Allow"), "POST");
  EXPECT_EQ(post("/v2/models/digits")->header("Allow"), "GET, HEAD");
  EXPECT_EQ(ask(api_, request_of("DELETE", "/v2/repository/index"))->status(), 405);
}

TEST_F(ModelApiTest, WhatIsKnownButNotOffered) {
  for (const std::string_view path :
       {"/v2/systemsharedmemory/status", "/v2/systemsharedmemory/region/r/register", "/v2/cudasharedmemory/unregister",
        "/v2/trace/setting", "/v2/models/digits/trace/setting", "/v2/logging", "/v2/models/digits/generate"}) {
    EXPECT_EQ(get(path)->status(), 501) << path;
    EXPECT_EQ(post(path, "{}")->status(), 501) << path;
  }
  EXPECT_EQ(post(kInfer, R"({"inputs":[],"parameters":{"sequence_id":1}})")->status(), 501);
}

TEST_F(ModelApiTest, BodyTypes) {
  service_.answer_now = one_number();
  for (const std::string_view type : {"", "application/json", "Application/JSON; charset=utf-8",
                                      "application/octet-stream", "application/x-www-form-urlencoded"}) {
    EXPECT_EQ(post(kInfer, kBody, {{"Content-Type", std::string(type)}})->status(), 200) << type;
  }
  for (const std::string_view path :
       {kInfer, std::string_view("/v2/repository/index"), std::string_view("/v2/repository/models/digits/load"),
        std::string_view("/v2/repository/models/digits/unload")}) {
    EXPECT_EQ(post(path, kBody, {{"content-type", "text/plain"}})->status(), 415);
    EXPECT_EQ(post(path, kBody, {{"Content-Encoding", "gzip"}})->status(), 415);
  }
  EXPECT_EQ(post(kInfer, kBody, {{"Content-Encoding", "identity"}})->status(), 200);
}

TEST_F(ModelApiTest, TenantsNeedTheirKeys) {
  service_.keys = {{"k1", serving::TenantIndex(1)}, {"k2", serving::TenantIndex(2)}};
  for (const std::string_view path : {"/v2/health/live", "/v2/health/ready"}) EXPECT_EQ(get(path)->status(), 200);
  for (const std::string_view path : {"/v2", "/v2/models/digits/ready", "/nothing", kInfer.data(), "/v2/logging"}) {
    const auto exchange = get(path);
    EXPECT_EQ(exchange->status(), 401) << path;
    EXPECT_EQ(exchange->header("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(exchange->body(), R"({"error":"wanted the key of a tenant"})");
  }
  EXPECT_EQ(post(kInfer, kBody, {{"Authorization", "Bearer k3"}})->status(), 401);
  post(kInfer, kBody, {{"authorization", "Bearer k2"}});
  ASSERT_EQ(service_.requests.size(), 1U);
  EXPECT_EQ(service_.requests.front().tenant, serving::TenantIndex(2));
  EXPECT_EQ(api_.body_bytes_max(request_of("POST", kInfer)), std::nullopt);
  EXPECT_EQ(api_.body_bytes_max(request_of("POST", kInfer, "", {{"Authorization", "Bearer k1"}})), kInferBodyBytesMax);
}

TEST_F(ModelApiTest, LimitsOfBodiesAndRefusalsOfTheServer) {
  EXPECT_EQ(api_.body_bytes_max(request_of("POST", kInfer)), std::size_t{64} << 20U);
  EXPECT_EQ(api_.body_bytes_max(request_of("POST", "/v2/repository/index")), std::nullopt);
  EXPECT_EQ(api_.body_bytes_max(request_of("POST", "/x")), std::nullopt);
  const HttpResponse refusal = api_.render({.fault = HttpFault::kBodyTooLarge, .status = 413, .message = "too much"});
  EXPECT_EQ(refusal.status, 413);
  EXPECT_EQ(refusal.body, R"({"error":"too much"})");
}

TEST_F(ModelApiTest, RoutesOfOthers) {
  ModelApi api(service_, {{.method = "GET",
                           .path = "/metrics",
                           .answer =
                               [](const ModelCall&) {
                                 return HttpResponse{
                                     .status = 200, .content_type = "text/plain", .headers = {}, .body = "up 1"};
                               },
                           .is_public = true}});
  service_.keys = {{"k", serving::TenantIndex(0)}};
  EXPECT_EQ(ask(api, request_of("GET", "/metrics"))->body(), "up 1");
}

/// Each prefix of a good request, and each with one byte changed, is answered: by 400, or as a request that is good,
/// too.
TEST_F(ModelApiTest, BrokenRequestsInQuantity) {
  service_.answer_now = one_number();
  const std::string head =
      R"({"id":"a","inputs":[{"name":"X","shape":[2,1],"datatype":"INT16","parameters":{"binary_data_size":4}},)"
      R"({"name":"Z","shape":[1,2],"datatype":"FP32","data":[[1.5e0,-2]]}],"outputs":[{"name":"Y"}]})";
  const std::string good = head + "\1\2\3\4";
  const std::vector<HttpField> headers{{"Inference-Header-Content-Length", fmt::to_string(head.size())}};
  ASSERT_EQ(post(kInfer, good, headers)->status(), 200);
  std::size_t refused_count = 0;
  const auto try_body = [&](const std::string& body) {
    const int status = post(kInfer, body, headers)->status();
    EXPECT_TRUE(status == 200 || status == 400 || status == 501) << body;
    refused_count += status == 200 ? 0 : 1;
  };
  for (std::size_t size = 0; size < good.size(); ++size) try_body(good.substr(0, size));
  EXPECT_EQ(refused_count, good.size());
  for (std::size_t at = 0; at < head.size(); ++at) {
    for (const char byte : {'\0', '"', '[', '}', '9', '-', ',', '\xFF', ' '}) {
      std::string bad = good;
      bad[at] = byte;
      try_body(bad);
    }
  }
  EXPECT_GT(refused_count, good.size() * 5);
}

}  // namespace
}  // namespace berth::model_api
