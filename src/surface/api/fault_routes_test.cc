#include "surface/api/fault_routes.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json/document.h"
#include "domain/mig/catalogue.h"

namespace berth::api {
namespace {

/// Two nodes: 3 A100-80GB, 2 H100-80GB; a service.
Scenario five_gpus() {
  Scenario scenario;
  scenario.fleet = {{.model = *mig::find_gpu_model("A100-80GB"), .count = 3, .usd_per_gpu_hour = {}},
                    {.model = *mig::find_gpu_model("H100-80GB"), .count = 2, .usd_per_gpu_hour = {}}};
  ServiceSpec service;
  service.tenant = "vision";
  service.name = "detector";
  scenario.services.push_back(std::move(service));
  return scenario;
}

ApiResult<sim::FaultOrder> read_order(const std::string& text) {
  static const Scenario scenario = five_gpus();
  const auto tree = json::parse_document(text, "body");
  if (!tree) return tl::unexpected(ApiError{.status = 400, .code = "malformed", .message = tree.error().message});
  return read_fault(*tree, scenario);
}

std::vector<std::uint32_t> gpus_of_order(const std::string& text) {
  const auto order = read_order(text);
  EXPECT_TRUE(order) << text << ": " << order.error().message;
  std::vector<std::uint32_t> gpus;
  if (order) {
    for (const GpuId gpu : order->gpus) gpus.push_back(gpu.index);
  }
  return gpus;
}

TEST(FaultRoutes, AFleetWithoutGpusHasNoneToClear) {
  Scenario empty = five_gpus();
  empty.fleet.clear();
  const auto order = read_fault(*json::parse_document(R"({"kind":"clear","all":true})", "body"), empty);
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().status, 422);
  EXPECT_EQ(order.error().field, "all");
}

TEST(FaultRoutes, GpusAreARangeANodeOrAll) {
  EXPECT_EQ(gpus_of_order(R"({"kind":"lose","gpu":"gpu-3"})"), (std::vector<std::uint32_t>{3}));
  EXPECT_EQ(gpus_of_order(R"({"kind":"return","gpu":"gpu-1","gpus":4})"), (std::vector<std::uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(gpus_of_order(R"({"kind":"slow","node":"node-1","seconds":2.5})"), (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(gpus_of_order(R"({"kind":"clear","all":true})"), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
}

TEST(FaultRoutes, TimesAreOneUnlessGivenExceptForSlow) {
  EXPECT_EQ(read_order(R"({"kind":"fail_create","gpu":"gpu-0"})")->times, 1);
  EXPECT_EQ(read_order(R"({"kind":"reports_failure","gpu":"gpu-0","times":7})")->times, 7);
  const auto slow = read_order(R"({"kind":"slow","gpu":"gpu-0","seconds":0.25})");
  EXPECT_EQ(slow->times, std::nullopt);
  EXPECT_EQ(slow->duration, Micros(250'000));
  EXPECT_EQ(read_order(R"({"kind":"slow","gpu":"gpu-0","seconds":1,"times":2})")->times, 2);
}

TEST(FaultRoutes, NumbersThatMeanNothingAreIgnored) {
  for (const char* kind : {"lose", "return", "fail_create", "fail_destroy", "slow", "reports_failure"}) {
    const auto order =
        read_order(R"({"kind":")" + std::string(kind) + R"(","gpu":"gpu-3","gpus":1,"times":1,"seconds":60})");
    ASSERT_TRUE(order) << kind << ": " << order.error().message;
    const bool is_now = order->kind == sim::FaultKind::kLose || order->kind == sim::FaultKind::kReturn;
    EXPECT_EQ(order->times, is_now ? std::nullopt : std::optional<std::int64_t>(1)) << kind;
    EXPECT_EQ(order->duration, order->kind == sim::FaultKind::kSlow ? Micros::seconds(60) : Micros()) << kind;
  }
}

TEST(FaultRoutes, NullIsAsGoodAsAbsent) {
  EXPECT_EQ(gpus_of_order(R"({"kind":"lose","gpu":null,"node":"node-1","gpus":null,"times":null,"seconds":null,)"
                          R"("profile":null,"start":null,"all":null})"),
            (std::vector<std::uint32_t>{3, 4}));
}

TEST(FaultRoutes, ASliceOfOthersHasAPlaceOfItsModel) {
  const auto order = read_order(R"({"kind":"foreign_slice","gpu":"gpu-0","profile":"1g.10gb","start":6})");
  ASSERT_TRUE(order);
  EXPECT_EQ(order->start, 6);
  EXPECT_EQ(profile_name(five_gpus().model_of({0}), order->profile), "1g.10gb");
}

TEST(FaultRoutes, BatchesOfAServiceTakeAnotherTime) {
  const auto order = read_order(R"({"kind":"serving","service":"vision/detector","factor":1.3,"jitter":0.2})");
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_TRUE(order->gpus.empty());
  EXPECT_EQ(order->serving,
            (sim::ServingFault{.service = ServiceId{0}, .factor = Decimal(13, 10), .jitter = Decimal(1, 5)}));
  const auto plain = read_order(R"({"kind":"serving","service":"vision/detector"})");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->serving->factor, Decimal(1));
  const auto clear = read_order(R"({"kind":"clear","service":"vision/detector"})");
  ASSERT_TRUE(clear);
  EXPECT_TRUE(clear->gpus.empty());
  EXPECT_EQ(clear->serving->service, ServiceId{0});
  const auto all = read_order(R"({"kind":"clear","all":true})");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->serving->service, std::nullopt);
  EXPECT_FALSE(read_order(R"({"kind":"clear","gpu":"gpu-0"})")->serving.has_value());
}

TEST(FaultRoutes, WhatIsWrongIsNamed) {
  const struct {
    std::string text;
    std::string field;
  } cases[] = {
      {R"({})", "kind"},
      {R"({"kind":"explode","gpu":"gpu-0"})", "kind"},
      {R"({"kind":7,"gpu":"gpu-0"})", "kind"},
      {R"({"kind":"lose"})", "gpu"},
      {R"({"kind":"lose","gpu":"gpu-5"})", "gpu"},
      {R"({"kind":"lose","gpu":3})", "gpu"},
      {R"({"kind":"lose","gpu":"gpu-0","node":"node-0"})", "node"},
      {R"({"kind":"lose","node":"node-2"})", "node"},
      {R"({"kind":"lose","node":"node-0","gpus":2})", "gpus"},
      {R"({"kind":"lose","gpu":"gpu-3","gpus":3})", "gpus"},
      {R"({"kind":"lose","gpu":"gpu-3","gpus":0})", "gpus"},
      {R"({"kind":"lose","gpu":"gpu-3","gpus":1.5})", "gpus"},
      {R"({"kind":"lose","gpu":"gpu-3","gpus":"1"})", "gpus"},
      {R"({"kind":"lose","gpu":"gpu-0","times":0})", "times"},
      {R"({"kind":"lose","gpu":"gpu-0","seconds":-1})", "seconds"},
      {R"({"kind":"lose","gpu":null,"node":null})", "gpu"},
      {R"({"kind":"slow","gpu":"gpu-0","seconds":null})", "seconds"},
      {R"({"kind":"lose","all":true})", "all"},
      {R"({"kind":"clear","all":false})", "all"},
      {R"({"kind":"fail_create","gpu":"gpu-0","times":0})", "times"},
      {R"({"kind":"fail_create","gpu":"gpu-0","seconds":"1"})", "seconds"},
      {R"({"kind":"slow","gpu":"gpu-0"})", "seconds"},
      {R"({"kind":"slow","gpu":"gpu-0","seconds":-1})", "seconds"},
      {R"({"kind":"slow","gpu":"gpu-0","seconds":true})", "seconds"},
      {R"({"kind":"foreign_slice","gpu":"gpu-0","start":0})", "profile"},
      {R"({"kind":"foreign_slice","gpu":"gpu-0","profile":"9g","start":0})", "profile"},
      {R"({"kind":"foreign_slice","gpu":"gpu-0","profile":"1g.10gb"})", "start"},
      {R"({"kind":"foreign_slice","gpu":"gpu-0","profile":"2g.20gb","start":1})", "start"},
      {R"({"kind":"serving"})", "service"},
      {R"({"kind":"serving","service":"vision"})", "service"},
      {R"({"kind":"serving","service":"vision/detector","gpu":"gpu-0"})", "gpu"},
      {R"({"kind":"serving","service":"vision/detector","factor":0.05})", "factor"},
      {R"({"kind":"serving","service":"vision/detector","factor":11})", "factor"},
      {R"({"kind":"serving","service":"vision/detector","jitter":1})", "jitter"},
      {R"({"kind":"serving","service":"vision/detector","jitter":-0.1})", "jitter"},
      {R"({"kind":"lose","gpu":"gpu-0","factor":2})", "factor"},
      {R"({"kind":"lose","gpu":"gpu-0","service":"vision/detector"})", "service"},
      {R"({"kind":"clear","service":"vision/detector","all":true})", "all"},
  };
  for (const auto& each : cases) {
    const auto order = read_order(each.text);
    ASSERT_FALSE(order) << each.text;
    EXPECT_EQ(order.error().status, 422) << each.text;
    EXPECT_EQ(order.error().field, each.field) << each.text << ": " << order.error().message;
  }
}

TEST(FaultRoutes, AnUnknownKeyIsReportedWithTheNearestOne) {
  const auto order = read_order(R"({"kind":"lose","gpuz":"gpu-0"})");
  ASSERT_FALSE(order);
  EXPECT_EQ(order.error().field, "gpuz");
  EXPECT_NE(order.error().message.find("gpus"), std::string::npos) << order.error().message;
}

}  // namespace
}  // namespace berth::api
