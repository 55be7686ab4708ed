#include "surface/cli/replay/replay_json.h"

#include <gtest/gtest.h>

#include <string>

#include "surface/cli/replay/sample_result.h"

namespace berth::cli {
namespace {

const std::string full_figures =
    R"("requests":1234567,"in_time":1111111,"late":100000,"dropped":23000,"unfinished":456,"goodput":0.75,)"
    R"("goodput_mean_of_services":0.7,"goodput_worst_service":0.1,"slo_attainment":0.9,)"
    R"("mean_accuracy":0.8333333333333334,"gpu_seconds":2400.0,"gpu_seconds_fleet":2400.0,"cost_micro_usd":2448667,)"
    R"("cost_micro_usd_per_million_in_time":2203800,"utilisation":{"allocated":1.0,"busy":0.625,"effective":0.5},)"
    R"("changes":4,"lost_slice_seconds":12.5,"latency_ms":{"mean":31.25,"p50":12.345,"p99":180.5})";

const std::string empty_figures =
    R"("requests":0,"in_time":0,"late":0,"dropped":0,"unfinished":0,"goodput":null,)"
    R"("goodput_mean_of_services":null,"goodput_worst_service":null,"slo_attainment":null,"mean_accuracy":null,)"
    R"("gpu_seconds":0.0,"gpu_seconds_fleet":2400.0,"cost_micro_usd":null,)"
    R"("cost_micro_usd_per_million_in_time":null,"utilisation":{"allocated":0.0,"busy":0.0,"effective":0.0},)"
    R"("changes":0,"lost_slice_seconds":0.0,"latency_ms":{"mean":null,"p50":null,"p99":null})";

const std::string null_figures =
    R"("requests":null,"in_time":null,"late":null,"dropped":null,"unfinished":null,"goodput":null,)"
    R"("goodput_mean_of_services":null,"goodput_worst_service":null,"slo_attainment":null,"mean_accuracy":null,)"
    R"("gpu_seconds":null,"gpu_seconds_fleet":null,"cost_micro_usd":null,"cost_micro_usd_per_million_in_time":null,)"
    R"("utilisation":{"allocated":null,"busy":null,"effective":null},)"
    R"("changes":null,"lost_slice_seconds":null,"latency_ms":{"mean":null,"p50":null,"p99":null})";

TEST(ReplayJson, HasTheKeysAndTheirOrder) {
  const std::string expected =
      R"({"berth":1,"scenario":"dir/scenario.yaml","seed":7,"simulated_seconds":1200,"cost_micro_usd_fleet":2448667,)"
      R"("bound":{"goodput":0.97,"goodput_mean_of_services":0.96,"goodput_without_sharing":0.91,)"
      R"("goodput_mean_of_services_without_sharing":0.9},)"
      R"("policies":[{"name":"shared","hindsight":false,)" +
      full_figures + R"(,"services":[{"name":"say \"hi\"",)" + full_figures +
      R"(}],"how":"MPS","ignores":["s.pins","s.floor"]},{"name":"static-best","hindsight":true,)" + empty_figures +
      R"(,"services":[],"ignores":["s.pins","s.floor"],"notes":["SM counts of 3g.40gb are estimated"]},)"
      R"({"name":"whole","hindsight":true,)" +
      null_figures + R"(,"services":[],"infeasible":"wanted 4 GPUs, one for each service; the fleet has 2"}]})" + "\n";
  EXPECT_EQ(replay_json(sample::result(), false), expected);
}

TEST(ReplayJson, HasWallClockTimesOnlyWhenAsked) {
  const study::ReplayResult result = sample::result();
  EXPECT_EQ(replay_json(result, false).find("wall_seconds"), std::string::npos);
  EXPECT_NE(replay_json(result, true).find(R"("ignores":["s.pins","s.floor"],"wall_seconds":0.25})"),
            std::string::npos);
}

TEST(ReplayJson, ReplacesWhatIsNotUtf8AndKeepsLargeSeedsAndUnknownCosts) {
  const study::ReplayResult result{.scenario = "a\xff.yaml",
                                   .seed = 9223372036854775807U,
                                   .simulated_seconds = 1,
                                   .cost_micro_usd_fleet = {},
                                   .policies = {}};
  EXPECT_EQ(replay_json(result, false),
            "{\"berth\":1,\"scenario\":\"a\xef\xbf\xbd.yaml\",\"seed\":9223372036854775807,\"simulated_seconds\":1,"
            "\"cost_micro_usd_fleet\":null,\"bound\":{\"goodput\":null,\"goodput_mean_of_services\":null,"
            "\"goodput_without_sharing\":null,\"goodput_mean_of_services_without_sharing\":null},\"policies\":[]}\n");
}

}  // namespace
}  // namespace berth::cli
