#include "surface/cli/pack/pack_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "planner/packing/plan_file.h"
#include "surface/cli/pack/sample_packing.h"

namespace berth::cli {
namespace {

TEST(PackJson, HasItsWordsInOrder) {
  const PackingProblem problem = sample::problem(false);
  const packing::PackResult result = sample::result(problem);
  EXPECT_EQ(pack_json({.problem = problem, .result = result}),
            R"({"gpus":2,"bound":1,"proven":false,"objective":"gpus","cost_micro_usd_per_hour":null,"slices":[)"
            R"({"gpu":0,"profile":"1g.6gb","start":0,"model":"bert","tenant":"bert","batch":4,"processes":1,)"
            R"("requests_per_second":75.0625},)"
            R"({"gpu":0,"profile":"1g.6gb","start":1,"model":"bert","tenant":"bert","batch":4,"processes":1,)"
            R"("requests_per_second":75.0625},)"
            R"({"gpu":0,"profile":"2g.12gb","start":2,"model":"resnet","tenant":"shop","batch":8,"processes":2,)"
            R"("requests_per_second":300},)"
            R"({"gpu":1,"profile":"1g.6gb","start":0,"model":"bert","tenant":"bert","batch":4,"processes":1,)"
            R"("requests_per_second":75.0625}],)"
            R"("unused":[{"gpu":1,"profile":"2g.12gb","start":2},{"gpu":1,"profile":"1g.6gb","start":1}],)"
            R"("largest_free":{"gpu":1,"profile":"2g.12gb","start":2},"largest_free_proven":false,)"
            R"("slice_count":4,"slice_count_proven":false,"nodes":12345,"verification":null})"
            "\n");
}

TEST(PackJson, PricedPlansNameTheirGpuModels) {
  const PackingProblem problem = sample::problem(true);
  const packing::PackResult result = sample::result(problem);
  const study::PackingReplay replay = sample::replay();
  const std::string text = pack_json({.problem = problem, .result = result, .replay = &replay});
  const auto json = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(json["objective"], "cost_micro_usd_per_hour");
  EXPECT_EQ(json["cost_micro_usd_per_hour"], 850'000);
  EXPECT_EQ(json["slices"][3]["gpu_model"], "T4-16GB");
  EXPECT_TRUE(json["largest_free"].is_null());
  // A double would round it.
  EXPECT_NE(text.find("\"requests_per_second\":0.1234567890123456789}"), std::string::npos);
  EXPECT_EQ(json["verification"].dump(),
            R"({"seconds":600,"seeds":[1,2,3],"demands":[)"
            R"({"model":"bert","tenant":"bert","requests_per_second":150.125,"load":0.5,"slo_attainment":1.0,)"
            R"("latency_p99_ms":80.25},)"
            R"({"model":"resnet","tenant":"shop","requests_per_second":290,"load":0.875,"slo_attainment":0.899,)"
            R"("latency_p99_ms":99.0},)"
            R"({"model":"idle","tenant":"idle","requests_per_second":0,"load":null,"slo_attainment":null,)"
            R"("latency_p99_ms":null}],"fidelity":"requests","cure":null})");
}

TEST(PackJson, IsReadAgain) {
  for (const bool is_priced : {false, true}) {
    const PackingProblem problem = sample::problem(is_priced);
    const packing::PackResult result = sample::result(problem);
    const auto packing = packing::parse_plan(pack_json({.problem = problem, .result = result}), "p.json", problem);
    ASSERT_TRUE(packing.has_value()) << packing.error().message;
    EXPECT_EQ(*packing, result.packing);
  }
}

TEST(PackJson, NamesCannotBreakIt) {
  PackingProblem problem = sample::problem(false);
  problem.demands[0].model = "a\"b\\\n\xff";
  const packing::PackResult result = sample::result(problem);
  const auto json = nlohmann::json::parse(pack_json({.problem = problem, .result = result}));
  EXPECT_EQ(json["slices"][0]["model"], "a\"b\\\n\xEF\xBF\xBD");
}

}  // namespace
}  // namespace berth::cli
