// With a fake driver (fake_driver/): nothing here says how a card behaves.
#include "edges/cuda_device/cuda_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace berth::edges {
namespace {

using ::testing::HasSubstr;

class CudaDeviceTest : public ::testing::Test {
 protected:
  void TearDown() override {
    ::unsetenv("BERTH_FAKE_CUDA_ERROR");
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  static std::string why_not(int index, const std::string& driver = BERTH_FAKE_CUDA) {
    const auto device = CudaDevice::open(index, driver);
    EXPECT_FALSE(device);
    if (device) return "";
    EXPECT_EQ(device.error().code, ErrorCode::kInvalidInput);
    return device.error().message;
  }
};

TEST_F(CudaDeviceTest, SaysWhatIsFree) {
  const auto device = CudaDevice::open(1, BERTH_FAKE_CUDA);
  ASSERT_TRUE(device) << device.error().message;
  EXPECT_EQ((*device)->name(), "Berth's fake CUDA device 1");
  EXPECT_EQ((*device)->index(), 1);
  EXPECT_EQ((*device)->free_bytes(), 2'000'000'000);
  std::thread([&] { EXPECT_EQ((*device)->free_bytes(), 2'000'000'000); }).join();
}

TEST_F(CudaDeviceTest, SaysWhyThereIsNoDevice) {
  EXPECT_THAT(why_not(0, "/no/such/libcuda.so.1"), HasSubstr("cuda:0: wanted the driver of NVIDIA, /no/such"));
  EXPECT_THAT(why_not(0, "libc.so.6"), HasSubstr("found libc.so.6"));
  EXPECT_THAT(why_not(2), HasSubstr("cuda:2: wanted one of 2 devices"));
  ::setenv("CUDA_VISIBLE_DEVICES", "MIG-1", 1);
  EXPECT_THAT(why_not(2), HasSubstr("(CUDA_VISIBLE_DEVICES=MIG-1)"));
  for (const char* call : {"cuInit", "cuDevicePrimaryCtxRetain"}) {
    ::setenv("BERTH_FAKE_CUDA_ERROR", call, 1);
    EXPECT_THAT(why_not(0), HasSubstr("error 999, unknown error"));
  }
}

TEST_F(CudaDeviceTest, ADeviceThatFailsLaterIsUnavailable) {
  const auto device = CudaDevice::open(0, BERTH_FAKE_CUDA);
  ASSERT_TRUE(device);
  ::setenv("BERTH_FAKE_CUDA_ERROR", "cuMemGetInfo", 1);
  const auto free = (*device)->free_bytes();
  ASSERT_FALSE(free);
  EXPECT_EQ(free.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace berth::edges
