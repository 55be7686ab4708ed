#include "gpu/nvml/detail/answers.h"

#include <gtest/gtest.h>

#include "gpu/nvml_abi/constants.h"

namespace berth::edges::detail {
namespace {

using nvml_abi::Code;

TEST(Answers, AFailureHasItsNumberAndItsName) {
  const GpuCallFailure lost = failed("nvmlX", Code::kGpuIsLost).value();
  EXPECT_EQ(lost, (GpuCallFailure{"nvmlX", 15, "NVML_ERROR_GPU_IS_LOST", true, false}));
  EXPECT_EQ(failed("nvmlX", Code::kInUse).value(), (GpuCallFailure{"nvmlX", 19, "NVML_ERROR_IN_USE", false, true}));
  EXPECT_EQ(failed("nvmlX", Code{4711}).value(),
            (GpuCallFailure{"nvmlX", 4711, "(unknown NVML return code)", false, false}));
}

TEST(Answers, TextsEndAtTheirZeroAndArePrintable) {
  const char full[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(text_of(full), "abcd");
  EXPECT_EQ(text_of(std::string_view("ab\0cd", 5)), "ab");
  EXPECT_EQ(text_of("gr\xC3\xBC\xC3\x9F"), "gr\xC3\xBC\xC3\x9F");
  EXPECT_EQ(text_of("a\x1B[1m\x7F\xFF\xC3"), "a?[1m???");
}

TEST(Answers, MemoryIsInWholeMib) {
  EXPECT_EQ(mib_of_bytes(0), 0);
  EXPECT_EQ(mib_of_bytes(3 * 1024 * 1024 - 1), 2);
  EXPECT_EQ(mib_of_bytes(nvml_abi::kValueNotAvailable), 0);
}

}  // namespace
}  // namespace berth::edges::detail
