#include "gpu/nvml_abi/abi.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace berth::nvml_abi {
namespace {

/// As a program that opens a library would have it.
struct Functions {
// NOLINTBEGIN(bugprone-macro-parentheses): they would change what is declared.
#define BERTH_NVML_FUNCTION(name, parameters) Code(*name) parameters = nullptr;
#define BERTH_NVML_TEXT_FUNCTION(name, parameters) const char*(*name)parameters = nullptr;
#include "gpu/nvml_abi/simulated.inc"
  // NOLINTEND(bugprone-macro-parentheses)
};

TEST(Abi, FunctionsHaveTheirTypes) {
  static_assert(std::is_same_v<decltype(Functions::nvmlInit), Code (*)()>);
  static_assert(std::is_same_v<decltype(Functions::nvmlSystemGetNVMLVersion), Code (*)(char*, std::uint32_t)>);
  static_assert(std::is_same_v<decltype(Functions::nvmlErrorString), const char* (*)(Code)>);
  Functions functions;
  functions.nvmlErrorString = message_of;
  EXPECT_STREQ(functions.nvmlErrorString(Code::kInUse), "In use");
  EXPECT_EQ(functions.nvmlInit, nullptr);
}

TEST(Abi, VersionsOfStructures) {
  EXPECT_EQ(version_of<MemoryV2>(2), 0x02000028U);
  EXPECT_EQ(version_of<GpuInstanceProfileV2>(2), 0x02000098U);
  EXPECT_EQ(version_of<GpuInstanceProfileV3>(3), 0x03000098U);
  EXPECT_EQ(version_of<UuidV1>(1), 0x01000034U);
}

/// C structures: trivially copyable, with standard layout.
TEST(Abi, StructuresArePlain) {
  const auto is_plain = []<typename... T>(std::type_identity<T>...) {
    return (... && (std::is_standard_layout_v<T> && std::is_trivially_copyable_v<T>));
  };
  EXPECT_TRUE(is_plain(std::type_identity<PciPlaceV3>{}, std::type_identity<UuidV1>{}, std::type_identity<FieldValue>{},
                       std::type_identity<ProcessDetailListV1>{}, std::type_identity<EventV2>{},
                       std::type_identity<GpuInstanceProfileV3>{}, std::type_identity<ComputeInstanceDescriptionV2>{}));
}

}  // namespace
}  // namespace berth::nvml_abi
