#include "purchase/advise/find_fault.h"

#include <gtest/gtest.h>

#include <vector>

#include "purchase/advise/testing/cases.h"

namespace berth::purchase::advise {
namespace {

using reference::gpu_offer;
using reference::pod;
using reference::shared_pod;

/// A correct answer, which each test corrupts in one way.
class FindFault : public ::testing::Test {
 protected:
  std::vector<Pod> pods_ = {pod("a", 2, 4, 1), shared_pod("b", 500), shared_pod("c", 500), pod("d", 1, 1, 0)};
  std::vector<pricing::Offer> offers_ = {gpu_offer("two", "t4", 2, 100)};
  Advice advice_{.micro_usd_per_hour = 100,
                 .bound_micro_usd_per_hour = 100,
                 .instances = {{.offer = offers_[0],
                                .pods = {{.row = 0, .gpus = {0}},
                                         {.row = 1, .gpus = {1}},
                                         {.row = 2, .gpus = {1}},
                                         {.row = 3, .gpus = {}}}}},
                 .rivals = {{.name = "ffd", .micro_usd_per_hour = 100}},
                 .nodes = 0};

  std::string fault() const { return find_fault(pods_, offers_, advice_).value_or(""); }
};

TEST_F(FindFault, ARightAnswerHasNone) { EXPECT_EQ(fault(), ""); }

TEST_F(FindFault, GpusBeyondTheirCapacity) {
  pods_[1].gpu_milli = 501;
  EXPECT_EQ(fault(), "gpu-1 of pod 2 is used beyond its capacity");
}

TEST_F(FindFault, GpusThatDoNotExistOrAreTooFew) {
  advice_.instances[0].pods[0].gpus = {2};
  EXPECT_EQ(fault(), "pod 0 is on gpu-2, which does not exist");
  advice_.instances[0].pods[0].gpus = {};
  EXPECT_EQ(fault(), "pod 0 has 0 GPUs instead of 1");
}

TEST_F(FindFault, ModelsAndMemory) {
  pods_[0].gpu_models = {"A100"};
  EXPECT_EQ(fault(), "pod 0 does not accept t4");
  pods_[0].gpu_models = {"T4"};
  EXPECT_EQ(fault(), "");
  pods_[0].gpu_memory_mib = 16'385;
  EXPECT_EQ(fault(), "pod 0 needs more GPU memory");
}

TEST_F(FindFault, CpuAndMemory) {
  pods_[3].cpu_milli = 61'000;
  EXPECT_EQ(fault(), "two has too little CPU");
  pods_[3].cpu_milli = 0;
  pods_[3].memory_mib = std::int64_t{256} * 1024;
  EXPECT_EQ(fault(), "two has too little memory");
}

TEST_F(FindFault, PlacesSumsAndBounds) {
  Advice right = advice_;
  advice_.instances[0].pods.pop_back();
  EXPECT_EQ(fault(), "pod 3 has 0 places");
  advice_ = right;
  advice_.micro_usd_per_hour = 99;
  EXPECT_EQ(fault(), "the instances cost 100");
  advice_ = right;
  advice_.bound_micro_usd_per_hour = 101;
  EXPECT_EQ(fault(), "the bound is above the cost");
  advice_ = right;
  advice_.rivals[0].micro_usd_per_hour = 99;
  EXPECT_EQ(fault(), "ffd is cheaper");
  advice_ = right;
  offers_[0].micro_usd_per_hour = 101;
  EXPECT_EQ(fault(), "two is not offered");
}

}  // namespace
}  // namespace berth::purchase::advise
