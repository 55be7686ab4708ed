#include "surface/cli/pack/pack_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "surface/cli/pack/sample_packing.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(PackTable, ShowsGpusDemandsAndTheGap) {
  const PackingProblem problem = sample::problem(false);
  const packing::PackResult result = sample::result(problem);
  EXPECT_EQ(
      pack_table({.problem = problem, .result = result}),
      "2 A30-24GB serve 3 demands; not proven: at least 1 is needed, a gap of 50.00 %. 12,345 nodes were searched; "
      "--nodes N\n"
      "  searches further\n"
      "largest free slice: 2g.12gb@2 on gpu-1 (not proven to be the largest); 4 slices (not proven to be the fewest)\n"
      "\n"
      "GPU    units  slices: model batch x processes\n"
      "gpu-0   112-  1g.6gb@0 bert 4x1, 1g.6gb@1 bert 4x1, 2g.12gb@2 shop/resnet 8x2\n"
      "gpu-1   1...  1g.6gb@0 bert 4x1; free 2g.12gb@2, 1g.6gb@1\n"
      "\n"
      "demand       target ms   rate/s   given/s  slices\n"
      "bert               200  150.125  225.1875  1g.6gb x3\n"
      "shop/resnet       99.5      290       300  2g.12gb x1\n"
      "idle                10        0         0  -\n"
      "\n"
      "More: --verify (random arrivals), --format json, --report DIR (a page with charts)\n");
}

TEST(PackTable, PricedAndReplayed) {
  PackingProblem problem = sample::problem(true);
  problem.rules.headroom = sample::decimal("1.01");
  const packing::PackResult result = sample::result(problem);
  const study::PackingReplay replay = sample::replay();
  EXPECT_EQ(pack_table({.problem = problem, .result = result, .replay = &replay}),
            "$0.850000 an hour (1 A30-24GB, 1 T4-16GB) serves 3 demands; proven: no mix is cheaper\n"
            "largest free slice: none (proven); 4 slices (not proven to be the fewest)\n"
            "\n"
            "GPU       model  units  slices: model batch x processes\n"
            "gpu-0  A30-24GB   112-  1g.6gb@0 bert 4x1, 1g.6gb@1 bert 4x1, 2g.12gb@2 shop/resnet 8x2\n"
            "gpu-1   T4-16GB   full  full@0 shop/resnet 8x1\n"
            "\n"
            "demand       target ms   rate/s   wanted/s  given/s    load  in time  p99 ms  slices\n"
            "bert               200  150.125  151.62625  150.125  50.00%  100.00%    80.2  1g.6gb x2\n"
            "shop/resnet       99.5      290      292.9  300.123  87.50%   89.90%    99.0  2g.12gb x1, full x1\n"
            "idle                10        0          0        0       -        -       -  -\n"
            "\n"
            "load, in time, p99: Poisson arrivals at the stated rates, 600 s with each of the seeds 1, 2, 3. 1 demand "
            "is below "
            "99 %\n"
            "  in time, at full capacity: --cure finds the headroom that is needed.\n");
}

TEST(PackTable, EmptyPlanIsProven) {
  PackingProblem problem = sample::problem(false);
  problem.demands.clear();
  packing::PackResult result;
  result.is_proven = true;
  EXPECT_EQ(pack_table({.problem = problem, .result = result}),
            "0 GPUs, proven: no demand has a rate\n\n"
            "More: --verify (random arrivals), --format json, --report DIR (a page with charts)\n");
}

TEST(PackTable, EqualNeighboursShareALineAndNamesCannotSteer) {
  PackingProblem problem = sample::problem(false);
  problem.demands[0].model = problem.demands[0].tenant = "b\x1b[2Jrt";
  packing::PackResult result = sample::result(problem);
  result.unused.clear();
  result.packing.gpu_offers.assign(5, 0);
  for (std::uint32_t gpu = 2; gpu < 5; ++gpu) {
    result.packing.slices.push_back(result.packing.slices[3]);
    result.packing.slices.back().slice.gpu.index = gpu;
  }
  const std::string table = pack_table({.problem = problem, .result = result});
  EXPECT_THAT(table, HasSubstr("\ngpu-1 to gpu-4   1...  "));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
  EXPECT_THAT(table, HasSubstr("b?[2Jrt"));
}

}  // namespace
}  // namespace berth::cli
