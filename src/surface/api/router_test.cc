#include "surface/api/router.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

Router router() {
  const auto answer = [](const ApiContext&, const Call&) -> ApiResult<HttpAnswer> {
    return HttpAnswer(HttpResponse{});
  };
  return Router({{.method = "GET", .path = "/", .answer = answer, .is_public = true},
                 {.method = "GET", .path = "/v1/gpus", .answer = answer},
                 {.method = "GET", .path = "/v1/gpus/{id}", .answer = answer},
                 {.method = "POST", .path = "/v1/gpus/{id}/cordon", .answer = answer},
                 {.method = "PUT", .path = "/v1/tenants/{t}/services/{name}", .answer = answer},
                 {.method = "DELETE", .path = "/v1/tenants/{t}/services/{name}", .answer = answer}});
}

ApiResult<Routed> found(const std::string& method, std::vector<std::string> path) {
  static const Router kRouter = router();
  HttpRequest request;
  request.method = method;
  request.path = std::move(path);
  return kRouter.find(request);
}

TEST(Router, FindsTheRouteAndItsParameters) {
  EXPECT_EQ(found("GET", {})->route->path, "/");
  EXPECT_EQ(found("GET", {"v1", "gpus"})->route->path, "/v1/gpus");
  const auto one = found("GET", {"v1", "gpus", "gpu-3"});
  EXPECT_EQ(one->parameters.at("id"), "gpu-3");
  const auto two = found("PUT", {"v1", "tenants", "a", "services", "b/c"});
  EXPECT_EQ(two->parameters.at("t"), "a");
  EXPECT_EQ(two->parameters.at("name"), "b/c");
}

TEST(Router, WhatIsNotThereIs404) {
  for (const std::vector<std::string>& path : std::vector<std::vector<std::string>>{
           {"v1"}, {"v1", "gpus", ""}, {"v1", "gpus", "gpu-3", "x"}, {"V1", "gpus"}, {""}}) {
    const auto error = found("GET", path);
    ASSERT_FALSE(error.has_value());
    EXPECT_EQ(error.error().status, 404);
    EXPECT_EQ(error.error().code, "not_found");
  }
}

TEST(Router, WhereGetIsAllowedHeadIsToo) {
  const Router router({{.method = "GET", .path = "/a", .answer = {}}, {.method = "PUT", .path = "/a", .answer = {}}});
  HttpRequest request;
  request.method = "POST";
  request.path = {"a"};
  EXPECT_EQ(router.find(request).error().allow, "GET, HEAD, PUT");
}

TEST(Router, AnotherMethodIs405WithThoseThatAreAllowed) {
  const auto error = found("POST", {"v1", "tenants", "a", "services", "b"});
  ASSERT_FALSE(error.has_value());
  EXPECT_EQ(error.error().status, 405);
  EXPECT_EQ(error.error().allow, "PUT, DELETE");
}

TEST(ApiError, HasOneShape) {
  const HttpResponse response = error_response(
      {.status = 422, .code = "invalid", .message = "no", .field = "spec.slo", .wanted = "a map", .found = "5"}, "r-1");
  EXPECT_EQ(response.status, 422);
  EXPECT_EQ(response.body,
            R"({"error":{"code":"invalid","message":"no","field":"spec.slo","wanted":"a map","found":"5",)"
            R"("request_id":"r-1"}})"
            "\n");
  EXPECT_EQ(
      error_response({.status = 401, .code = "unauthorized", .message = "m"}, "r").body,
      R"({"error":{"code":"unauthorized","message":"m","field":null,"wanted":null,"found":null,"request_id":"r"}})"
      "\n");
}

}  // namespace
}  // namespace berth::api
