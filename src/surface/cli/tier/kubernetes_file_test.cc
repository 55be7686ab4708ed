#include "surface/cli/tier/kubernetes_file.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace berth::cli {
namespace {

TierPredictView view_of_tier(tier::Tier one) {
  TierPredictView view;
  view.answer.call = {.kind = tier::TierKind::kServices,
                      .tiers = {std::move(one)},
                      .known = {.group = "m", .name = "Big_Model: v2\n", .points = {{}}},
                      .target = {.per_second = Decimal(10), .latency_ms = Decimal(50)}};
  view.answer.prospects = {{.probability = 0.95, .units = Decimal(3)}};
  view.answer.choice = tier::TierChoice{.tier = 0, .is_sure = true};
  return view;
}

TEST(KubernetesFile, NamesTheSliceOfAPartitionedGpu) {
  const auto file = kubernetes_file(
      view_of_tier({.name = "a100 small", .usd_per_hour = Decimal(1), .gpu = "A100-80GB", .profile = "1g.10gb"}));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(*file,
            "# Patch of a Deployment, for 10 requests per second within 50 ms.\n"
            "# Take a100 small: $3.00 per hour for 3 slices, it is the biggest tier; it keeps the target with "
            "probability 0.95.\n"
            "spec:\n"
            "  replicas: 3\n"
            "  template:\n"
            "    metadata:\n"
            "      labels:\n"
            "        berth/tier: \"a100-small\"\n"
            "        berth/workload: \"Big_Model--v2\"\n"
            "    spec:\n"
            "      nodeSelector:\n"
            "        nvidia.com/gpu.product: \"NVIDIA-A100-SXM4-80GB\"\n"
            "      containers:\n"
            "      - name: \"big-model--v2\"\n"
            "        resources:\n"
            "          limits:\n"
            "            nvidia.com/mig-1g.10gb: 1\n");
}

TEST(KubernetesFile, NamesTheWholeGpuOtherwise) {
  const auto file =
      kubernetes_file(view_of_tier({.name = "t4", .usd_per_hour = Decimal(1), .gpu = "T4-16GB", .profile = "full"}));
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_NE(file->find("nvidia.com/gpu.product: \"Tesla-T4\"\n"), std::string::npos) << *file;
  EXPECT_NE(file->find("            nvidia.com/gpu: 1\n"), std::string::npos) << *file;
}

TEST(KubernetesFile, NeedsATierWithAGpu) {
  const auto own = kubernetes_file(view_of_tier({.name = "own", .usd_per_hour = Decimal(1)}));
  ASSERT_FALSE(own.has_value());
  EXPECT_EQ(own.error().message, "--emit: wanted a tier with a gpu, found \"own\"");
  TierPredictView none = view_of_tier({.name = "t4", .usd_per_hour = Decimal(1)});
  none.answer.choice.reset();
  EXPECT_EQ(kubernetes_file(none).error().message, "--emit: wanted a tier to take, found none");
}

}  // namespace
}  // namespace berth::cli
