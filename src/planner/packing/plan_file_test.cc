#include "planner/packing/plan_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"

namespace berth::packing {
namespace {

PackingProblem two_models() {
  PackingProblem problem;
  problem.offers.push_back({.model = mig::find_gpu_model("A30").value(), .count_max = {}, .micro_usd_per_hour = {}});
  problem.demands = {{"m", "m", Decimal(1), Decimal(1)}, {"m", "t", Decimal(1), Decimal(1)}};
  return problem;
}

PackingProblem two_offers() {
  PackingProblem problem = two_models();
  problem.offers.push_back({.model = mig::find_gpu_model("T4").value(), .count_max = {}, .micro_usd_per_hour = {}});
  return problem;
}

/// A slice, with members appended.
std::string slice_json(std::string_view place, std::string_view more = "") {
  return fmt::format(R"({{{},"model":"m","batch":2,"processes":1,"requests_per_second":10.25{}}})", place, more);
}

std::string plan_json(std::string_view slices) { return fmt::format(R"({{"slices":[{}],"bound":1}})", slices); }

struct BadCase {
  std::string text;
  std::string message;
};

void expect_refused(const std::vector<BadCase>& cases, const PackingProblem& problem) {
  for (const BadCase& bad : cases) {
    const auto plan = parse_plan(bad.text, "p.json", problem);
    ASSERT_FALSE(plan.has_value()) << bad.message;
    EXPECT_EQ(plan.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(plan.error().message, bad.message);
  }
}

constexpr const char* kFirst = R"("gpu":0,"profile":"1g.6gb","start":0)";
constexpr const char* kSecond = R"("gpu":1,"profile":"2g.12gb","start":2)";

TEST(PlanFile, BindsNamesAndSortsSlices) {
  const PackingProblem problem = two_models();
  const auto plan =
      parse_plan(plan_json(slice_json(kSecond, R"(,"tenant":"t")") + "," + slice_json(kFirst)), "p.json", problem);
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->gpu_offers, (std::vector<std::uint32_t>{0, 0}));
  ASSERT_EQ(plan->slices.size(), 2U);
  const GpuModel& model = problem.offers.front().model;
  const PackedSlice expected = {{GpuId{1}, 2, mig::find_profile(model, "2g.12gb").value()}, 1, 2, 1, Decimal(41, 4)};
  EXPECT_EQ(plan->slices[1], expected);
  EXPECT_EQ(plan->slices[0].demand, 0U);
}

TEST(PlanFile, RatesKeepEveryDigit) {
  const auto plan =
      read_plan_file(plan_json(R"({"gpu":0,"profile":"full","start":0,"model":"m","batch":1,"processes":1,)"
                               R"("requests_per_second":1234567890.12345678901234})"),
                     "p.json");
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->slices[0].requests_per_second.to_string(), "1234567890.12345678901234");
}

TEST(PlanFile, EmptyPlanAndGpusThatAreTooMany) {
  EXPECT_EQ(parse_plan(R"({"gpus":0,"slices":[]})", "p.json", two_models()).value(), Packing{});
  EXPECT_EQ(parse_plan(R"({"gpus":2,"slices":[]})", "p.json", two_models())->gpu_offers.size(), 2U);
}

TEST(PlanFile, GpuModelsComeFromSlices) {
  const std::string t4 = R"("gpu":1,"gpu_model":"T4-16GB","profile":"full","start":0)";
  const std::string a30 = R"("gpu":0,"gpu_model":"A30-24GB","profile":"4g.24gb","start":0)";
  const auto plan = parse_plan(plan_json(slice_json(t4) + "," + slice_json(a30)), "p.json", two_offers());
  ASSERT_TRUE(plan.has_value()) << plan.error().message;
  EXPECT_EQ(plan->gpu_offers, (std::vector<std::uint32_t>{0, 1}));
  const std::string other = R"("gpu":1,"gpu_model":"A30-24GB","profile":"1g.6gb","start":0)";
  const std::string unknown = R"("gpu":1,"gpu_model":"T5","profile":"full","start":0)";
  expect_refused(
      {{plan_json(slice_json(t4) + "," + slice_json(other)),
        "p.json: slices[1].gpu_model: wanted T4-16GB as elsewhere on gpu-1, found \"A30-24GB\""},
       {plan_json(slice_json(unknown)), "p.json: slices[0].gpu_model: wanted one of A30-24GB, T4-16GB, found \"T5\""},
       {plan_json(slice_json(kFirst)), "p.json: slices[0].gpu_model: wanted one of A30-24GB, T4-16GB, found nothing"},
       {plan_json(slice_json(t4)), "p.json: wanted a slice on each of 2 GPUs, found none on gpu-0"}},
      two_offers());
}

TEST(PlanFile, WrongMembersAreReportedByPath) {
  const std::string place = R"("gpu":0,"profile":)";
  expect_refused(
      {{"[]", "p.json: wanted an object, found a list"},
       {"{}", "p.json: slices: wanted a list, found nothing"},
       {R"({"slices":{}})", "p.json: slices: wanted a list, found an object"},
       {R"({"slices":[7.5]})", "p.json: slices[0]: wanted an object, found 7.5"},
       {plan_json(R"({"gpu":0})"), "p.json: slices[0].profile: wanted a string, found nothing"},
       {plan_json(slice_json(R"("gpu":-1)")),
        "p.json: slices[0].gpu: wanted a whole number from 0 to 999999, found -1"},
       {plan_json(slice_json(R"("gpu":"0")")),
        "p.json: slices[0].gpu: wanted a whole number from 0 to 999999, found \"0\""},
       {plan_json(slice_json(kFirst) + "," + slice_json(place + R"("1g.6gb","start":1.5)")),
        "p.json: slices[1].start: wanted a whole number from 0 to 1000, found 1.5"},
       {plan_json(slice_json(place + R"(null,"start":1)")), "p.json: slices[0].profile: wanted a string, found null"},
       {plan_json(slice_json(place + R"("9g","start":1)")),
        "p.json: slices[0].profile: wanted a profile of A30-24GB, found \"9g\""},
       {plan_json(slice_json(kFirst, R"(,"tenant":"u")")),
        "p.json: slices[0].model: wanted a model of tenant \"u\" in the demand, found \"m\""},
       {R"({"gpus":1,"slices":[)" + slice_json(kSecond) + "]}",
        "p.json: gpus: wanted a whole number from 2 to 1000000, found 1"}},
      two_models());
}

TEST(PlanFile, WhatIsNoJsonIsReportedByLineAndColumn) {
  const std::string deep(65, '[');
  std::string path;
  for (int level = 0; level < 64; ++level) path += "[0]";
  expect_refused({{"", "p.json:1:1: wanted JSON, found the end of the text"},
                  {"{\"slices\":\n  [}", "p.json:2:4: slices[0]: wanted JSON, found \"}\""},
                  {"{\"slices\":[],\"slices\":[]}", "p.json:1:14: wanted each key once, found \"slices\" again"},
                  {deep, "p.json:1:65: " + path + ": wanted at most 64 levels of nesting, found more"},
                  {"{\"slices\":[]} x", "p.json:1:15: wanted JSON, found \"x\""}},
                 two_models());
}

}  // namespace
}  // namespace berth::packing
