#include "surface/cli/size/size_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "surface/cli/size/sample_sizes.h"

namespace berth::cli {
namespace {

TEST(SizeJson, HasEveryKeyInItsOrder) {
  EXPECT_EQ(
      size_json(sample::sizes()),
      R"({"berth":1,"scenario":"dir/scenario.yaml","gpu":"A100-80GB","simulated_seconds":1200,"attainment":0.99,)"
      R"("gpus_max":4,"seeds":[1,2],"policies":[)"
      R"({"name":"shared","gpus":4,"infeasible":null,"smallest_proven":false,"stable":null,"gpus_by_seed":[null,null],)"
      R"("hindsight":false,"cost_micro_usd":9794668,"cost_micro_usd_per_hour":null,)"
      R"("utilisation":{"allocated":1.0,"busy":0.625,"effective":0.5},"goodput_mean_of_services":0.7,)"
      R"("slo_attainment_worst_service":0.995,"tried":[)"
      R"({"gpus":3,"holds":false,"slo_attainment_worst_service":[0.989999]},)"
      R"({"gpus":4,"holds":true,"slo_attainment_worst_service":[0.995,0.99]}],"how":"MPS"},)"
      R"({"name":"whole","gpus":3,"infeasible":null,"smallest_proven":true,"stable":false,"gpus_by_seed":[2,3],)"
      R"("hindsight":true,"cost_micro_usd":null,"cost_micro_usd_per_hour":null,)"
      R"("utilisation":{"allocated":1.0,"busy":0.8,"effective":0.75},"goodput_mean_of_services":0.7,)"
      R"("slo_attainment_worst_service":null,"tried":[)"
      R"({"gpus":1,"holds":false,"slo_attainment_worst_service":[null],"infeasible":"needs 2 GPUs"},)"
      R"({"gpus":2,"holds":false,"slo_attainment_worst_service":[0.99,0.5]},)"
      R"({"gpus":3,"holds":true,"slo_attainment_worst_service":[null,1.0]}],)"
      R"("ignores":["s.floor"],"notes":["SM counts of 3g.40gb are estimated"]},)"
      R"({"name":"paris","gpus":null,)"
      R"("infeasible":"no count up to 4 GPUs reaches the target for every service; )"
      R"(best: 50.00% of s in time, with 4 GPUs",)"
      R"("smallest_proven":true,"stable":null,)"
      R"("gpus_by_seed":[],"hindsight":false,"cost_micro_usd":null,"cost_micro_usd_per_hour":null,)"
      R"("utilisation":{"allocated":null,"busy":null,"effective":null},)"
      R"("goodput_mean_of_services":null,"slo_attainment_worst_service":null,"tried":[)"
      R"({"gpus":4,"holds":false,"slo_attainment_worst_service":[0.5]}]}]})"
      "\n");
}

TEST(SizeJson, IdeasSayWhatTheySaveAndCostAnHour) {
  study::SizeResult result = sample::sizes();
  result.usd_per_gpu_hour = Decimal(3673, 1000);
  EXPECT_FALSE(nlohmann::json::parse(size_json(result)).contains("ideas"));
  result.ideas = {{.adds = "whole GPUs", .without = {}, .size = result.policies[0]},
                  {.adds = "slices", .without = {"berth.recuts"}, .size = result.policies[1]},
                  {.adds = "forecasts", .without = {}, .size = result.policies[2]}};
  const auto ideas = nlohmann::json::parse(size_json(result))["ideas"];
  ASSERT_EQ(ideas.size(), 3);
  EXPECT_EQ(ideas[0]["adds"], "whole GPUs");
  EXPECT_TRUE(ideas[0]["gpus_saved"].is_null());
  EXPECT_EQ(ideas[1]["gpus_saved"], 1);
  EXPECT_EQ(ideas[1]["gpus"], 3);
  EXPECT_EQ(ideas[1]["without"], nlohmann::json({"berth.recuts"}));
  EXPECT_EQ(ideas[1]["cost_micro_usd_per_hour"], 11'019'000);
  EXPECT_TRUE(ideas[2]["gpus_saved"].is_null());
  EXPECT_TRUE(ideas[2]["cost_micro_usd_per_hour"].is_null());
}

TEST(SizeJson, IsUtf8WhateverThePath) {
  study::SizeResult result = sample::sizes();
  result.scenario = "a\xff";
  EXPECT_TRUE(nlohmann::json::accept(size_json(result)));
}

}  // namespace
}  // namespace berth::cli
