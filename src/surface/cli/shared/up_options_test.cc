#include "surface/cli/shared/up_options.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace berth::cli {
namespace {

TEST(UpOptions, HaveTheDefaultsOfTheHelp) {
  const auto request = check_up_options({});
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->speed, 10);
  EXPECT_FALSE(request->seed || request->policy || request->approval);
  EXPECT_EQ(request->listen, (live::ListenAddress{.host = "127.0.0.1", .port = 8642}));
  EXPECT_FALSE(request->until_second.has_value());
  EXPECT_FALSE(request->until_end);
}

TEST(UpOptions, AreReadAsTyped) {
  UpOptions words;
  words.speed = "max";
  words.until = "end";
  words.listen = "[::1]:0";
  const auto request = check_up_options(words);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->speed, 0);
  EXPECT_TRUE(request->until_end);
  EXPECT_EQ(request->listen, (live::ListenAddress{.host = "::1", .port = 0}));
  for (const auto& [word, approval] :
       {std::pair("never", Approval::kNever), {"first", Approval::kFirst}, {"always", Approval::kAlways}}) {
    words.approval = word;
    EXPECT_EQ(check_up_options(words)->approval, approval);
  }
  words.until = "90";
  words.speed = "0.5";
  EXPECT_EQ(check_up_options(words)->until_second, 90);
  EXPECT_EQ(check_up_options(words)->speed, 0.5);
}

TEST(UpOptions, RealDevicesTakeTheirOwnTime) {
  UpOptions words;
  words.world = "local";
  EXPECT_EQ(live::settle_world(*check_up_options(words), live::WorldKind::kLocal)->speed, 1);
  EXPECT_FALSE(live::settle_world(*check_up_options(words), live::WorldKind::kLocal)->has_load);
  words.speed = "10";
  EXPECT_FALSE(live::settle_world(*check_up_options(words), live::WorldKind::kLocal).has_value());
  words.load = "simulated";
  EXPECT_EQ(live::settle_world(*check_up_options(words), live::WorldKind::kLocal)->speed, 10);
  words.speed = "max";
  EXPECT_FALSE(live::settle_world(*check_up_options(words), live::WorldKind::kLocal).has_value());
  words.world = "auto";
  EXPECT_FALSE(check_up_options(words)->world.has_value());
  EXPECT_EQ(live::settle_world(*check_up_options(words), live::WorldKind::kSimulated)->speed, 0);
  EXPECT_TRUE(live::settle_world(*check_up_options(words), live::WorldKind::kSimulated)->has_load);
}

TEST(UpOptions, OfDevicesMeanNothingInASimulatedWorld) {
  const auto refusal_of = [](const std::function<void(UpOptions&)>& state) {
    UpOptions words;
    state(words);
    const auto settled = live::settle_world(*check_up_options(words), live::WorldKind::kSimulated);
    return settled ? std::string() : settled.error().message;
  };
  EXPECT_EQ(refusal_of([](UpOptions& words) { words.nvml = "x.so"; }),
            "--nvml: wanted --world local or auto with it, found a simulated world");
  EXPECT_TRUE(refusal_of([](UpOptions& words) { words.load = "simulated"; }).starts_with("--load: "));
  EXPECT_TRUE(refusal_of([](UpOptions& words) { words.manage_gpus = true; }).starts_with("--manage-gpus: "));
  EXPECT_TRUE(refusal_of([](UpOptions& words) { words.hands = "/run/x"; }).starts_with("--hands: "));
  const std::string no_devices =
      "--device-metrics: wanted the GPUs of this machine (--world local), found a simulated world";
  EXPECT_EQ(refusal_of([](UpOptions& words) { words.device_metrics = "127.0.0.1:9400"; }), no_devices);
  EXPECT_EQ(
      refusal_of([](UpOptions& words) {
        words.world = "auto";
        words.device_metrics = "127.0.0.1:9400";
      }),
      "--device-metrics: wanted a GPU in this machine, found none: with --world auto its world is a simulated one");
  EXPECT_EQ(refusal_of([](UpOptions& words) {
              words.world = "auto";
              words.load = "simulated";
            }),
            "");
}

TEST(UpOptions, RefuseWhatMeansNothing) {
  struct Case {
    std::function<void(UpOptions&)> spoil;
    std::string beginning;
  };
  const std::vector<Case> cases = {
      {[](UpOptions& words) { words.speed = "0"; }, "--speed: wanted max or a number above 0"},
      {[](UpOptions& words) { words.speed = "fast"; }, "--speed: "},
      {[](UpOptions& words) { words.until = "-1"; }, "--until: "},
      {[](UpOptions& words) { words.policy = "ekya"; }, "--policy: wanted berth or fixed, found"},
      {[](UpOptions& words) { words.approval = "once"; }, "--approval: wanted never, first or always, found"},
      {[](UpOptions& words) { words.world = "cloud"; }, "--world: wanted simulated, local or auto, found \"cloud\""},
      {[](UpOptions& words) {
         words.world = "local";
         words.load = "real";
       },
       "--load: wanted simulated or measured, found \"real\""},
      {[](UpOptions& words) { words.listen = "8642"; }, "--listen: wanted HOST:PORT"},
      {[](UpOptions& words) { words.listen = "127.0.0.1:65536"; }, "--listen: wanted HOST:PORT"},
      {[](UpOptions& words) { words.listen = "0.0.0.0:80"; }, "--listen: wanted a loopback address"},
      {[](UpOptions& words) { words.device_metrics = "9400"; }, "--device-metrics: wanted HOST:PORT such as"},
      {[](UpOptions& words) { words.device_metrics = "10.0.0.1:9400"; }, "--device-metrics: wanted a loopback address"},
      {[](UpOptions& words) { words.scenario = ""; }, "--scenario: "},
      {[](UpOptions& words) { words.seed = "x"; }, "--seed: "},
  };
  for (const Case& each : cases) {
    UpOptions words;
    each.spoil(words);
    const auto request = check_up_options(words);
    ASSERT_FALSE(request.has_value()) << each.beginning;
    EXPECT_EQ(request.error().code, ErrorCode::kInvalidInput);
    EXPECT_TRUE(request.error().message.starts_with(each.beginning)) << request.error().message;
  }
}

}  // namespace
}  // namespace berth::cli
