#include "kube/fleet/planned_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"
#include "kube/devices/testing/toy_cluster.h"
#include "kube/fleet/testing/nvidia_pool.h"

namespace berth::kube {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<PlannedGpu> gpus_of(const std::vector<testing::NvidiaPool>& pools) {
  Inventory inventory;
  std::set<PoolName> names;
  for (const testing::NvidiaPool& pool : pools) {
    testing::put_pool(inventory, pool);
    names.insert({"gpu.nvidia.com", pool.node});
  }
  return planned_gpus(inventory, names);
}

TEST(PlannedGpus, ModelsAreFoundByTheNamesOfProducts) {
  EXPECT_EQ(model_of_product("NVIDIA A100-SXM4-80GB").value().name, "A100-80GB");
  EXPECT_EQ(model_of_product("NVIDIA A100 80GB PCIe").value().name, "A100-80GB");
  EXPECT_EQ(model_of_product("NVIDIA H100 80GB HBM3").value().name, "H100-80GB-SXM5");
  EXPECT_EQ(model_of_product("NVIDIA A30").value().name.substr(0, 3), "A30");
  EXPECT_FALSE(model_of_product("NVIDIA Z9").has_value());
  EXPECT_FALSE(model_of_product("").has_value());
}

TEST(PlannedGpus, HaveThePlacesOfTheirDevices) {
  const auto gpus = gpus_of({{.node = "b", .gpu_count = 2}, {.node = "a", .gpu_count = 1}});
  ASSERT_THAT(gpus, SizeIs(3));
  EXPECT_EQ(gpus[0].key, "gpu.nvidia.com/a/GPU-a-0");
  EXPECT_EQ(gpus[2].key, "gpu.nvidia.com/b/GPU-b-1");
  EXPECT_EQ(gpus[2].node, "b");
  const auto small = mig::find_profile(gpus[1].model, "1g.10gb");
  ASSERT_TRUE(small.has_value());
  EXPECT_EQ(gpus[1].devices.at({*small, 6}), "gpu-0-mig-1g.10gb-19-6");
  EXPECT_EQ(place_of(gpus[1], "gpu-0-mig-1g.10gb-19-6"), GpuPlace(*small, 6));
  EXPECT_FALSE(gpus[1].model.has_full);
  // Profiles without devices are not part of the model.
  EXPECT_FALSE(mig::find_profile(gpus[1].model, "1g.10gb+me").has_value());
}

TEST(PlannedGpus, TheWholeDeviceTakesTheLargestPlace) {
  const auto gpus = gpus_of({{}});
  ASSERT_THAT(gpus, SizeIs(1));
  const auto largest = mig::find_profile(gpus[0].model, "7g.80gb");
  EXPECT_EQ(place_of(gpus[0], "gpu-0"), GpuPlace(largest.value(), 0));
  EXPECT_EQ(place_of(gpus[0], "unknown"), std::nullopt);
}

TEST(PlannedGpus, GpusWithoutPartitionsAreUsedWhole) {
  const auto gpus = gpus_of({{.model = "A100-80GB", .product = "NVIDIA L4"}});
  ASSERT_THAT(gpus, SizeIs(1));  // its MIG devices are not those of an L4
  EXPECT_TRUE(gpus[0].model.has_full);
  EXPECT_EQ(gpus[0].devices.at({ProfileId::full(), 0}), "gpu-0");
}

TEST(PlannedGpus, PoolsThatAreNotOwnedAndDevicesOfOthersAreLeftOut) {
  Inventory inventory;
  testing::put_pool(inventory, {});
  EXPECT_THAT(planned_gpus(inventory, {}), IsEmpty());
  Inventory toys;
  for (const std::string& text : {testing::counters_slice("t"), testing::devices_slice("t")}) {
    const Change change = testing::change_of(text);
    ASSERT_TRUE(toys.put_slice(change.identity.name.name, &change.object));
  }
  EXPECT_THAT(planned_gpus(toys, {{"gpu.nvidia.com", "t"}}), IsEmpty());
  EXPECT_THAT(gpus_of({{.product = "NVIDIA Z9"}}), IsEmpty());
}

}  // namespace
}  // namespace berth::kube
