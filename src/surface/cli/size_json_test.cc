#include "surface/cli/size_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "surface/cli/detail/sample_sizes.h"

namespace berth::cli {
namespace {

TEST(SizeJson, HasEveryKeyInItsOrder) {
  EXPECT_EQ(
      size_json(detail::sample_sizes()),
      R"({"berth":1,"scenario":"dir/scenario.yaml","gpu":"A100-80GB","simulated_seconds":1200,"attainment":0.99,)"
      R"("gpus_max":4,"seeds":[1,2],"policies":[)"
      R"({"name":"shared","gpus":4,"infeasible":null,"smallest_proven":false,"stable":null,"gpus_by_seed":[null,null],)"
      R"("hindsight":false,"cost_micro_usd":9794668,)"
      R"("utilisation":{"allocated":1.0,"busy":0.625,"effective":0.5},"goodput_mean_of_services":0.7,)"
      R"("slo_attainment_worst_service":0.995,"tried":[)"
      R"({"gpus":3,"holds":false,"slo_attainment_worst_service":[0.989999]},)"
      R"({"gpus":4,"holds":true,"slo_attainment_worst_service":[0.995,0.99]}],"how":"MPS"},)"
      R"({"name":"whole","gpus":3,"infeasible":null,"smallest_proven":true,"stable":false,"gpus_by_seed":[2,3],)"
      R"("hindsight":true,"cost_micro_usd":null,)"
      R"("utilisation":{"allocated":1.0,"busy":0.8,"effective":0.75},"goodput_mean_of_services":0.7,)"
      R"("slo_attainment_worst_service":null,"tried":[)"
      R"({"gpus":1,"holds":false,"slo_attainment_worst_service":[null],"infeasible":"needs 2 GPUs"},)"
      R"({"gpus":2,"holds":false,"slo_attainment_worst_service":[0.99,0.5]},)"
      R"({"gpus":3,"holds":true,"slo_attainment_worst_service":[null,1.0]}],)"
      R"("ignores":["s.floor"],"notes":["SM counts of 3g.40gb are estimated"]},)"
      R"({"name":"paris","gpus":null,)"
      R"("infeasible":"no count up to 4 GPUs keeps every share; best: 50.00% of s in time, with 4 GPUs",)"
      R"("smallest_proven":true,"stable":null,)"
      R"("gpus_by_seed":[],"hindsight":false,"cost_micro_usd":null,)"
      R"("utilisation":{"allocated":null,"busy":null,"effective":null},)"
      R"("goodput_mean_of_services":null,"slo_attainment_worst_service":null,"tried":[)"
      R"({"gpus":4,"holds":false,"slo_attainment_worst_service":[0.5]}]}]})"
      "\n");
}

TEST(SizeJson, IsUtf8WhateverThePath) {
  sim::SizeResult result = detail::sample_sizes();
  result.scenario = "a\xff";
  EXPECT_TRUE(nlohmann::json::accept(size_json(result)));
}

}  // namespace
}  // namespace berth::cli
