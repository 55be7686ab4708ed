#include "gpu/nvml_abi/codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace berth::nvml_abi {
namespace {

constexpr int kLastInRow = static_cast<int>(Code::kResetTypeNotSupported);

TEST(Codes, NameAndNumber) {
  EXPECT_EQ(name_of(Code::kSuccess), "NVML_SUCCESS");
  EXPECT_EQ(name_of(static_cast<Code>(19)), "NVML_ERROR_IN_USE");
  EXPECT_EQ(name_of(static_cast<Code>(999)), "NVML_ERROR_UNKNOWN");
  for (const int number : {-1, kLastInRow + 1, 998, 1000}) {
    EXPECT_EQ(name_of(static_cast<Code>(number)), "(unknown NVML return code)") << number;
  }
}

TEST(Codes, EachIsFoundByBothNames) {
  std::set<std::string_view> names;
  for (int number = 1; number <= kLastInRow; ++number) {
    const Code code = static_cast<Code>(number);
    const std::string_view name = name_of(code);
    EXPECT_TRUE(name.starts_with("NVML_ERROR_")) << number;
    EXPECT_EQ(find_code(name), code) << name;
    EXPECT_EQ(find_code(name.substr(std::string_view("NVML_ERROR_").size())), code) << name;
    names.insert(name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kLastInRow));
}

TEST(Codes, NotAnError) {
  for (const std::string_view name : {"", "SUCCESS", "NVML_SUCCESS", "NVML_ERROR_", "in_use", "IN_USE ", "19"}) {
    EXPECT_EQ(find_code(name), std::nullopt) << name;
  }
}

TEST(Codes, AllNamesAreFound) {
  EXPECT_THAT(error_names(), testing::Contains("GPU_IS_LOST"));
  EXPECT_THAT(error_names(), testing::Contains("NVML_ERROR_GPU_IS_LOST"));
  EXPECT_THAT(error_names(), testing::SizeIs(2 * (kLastInRow + 1)));
  for (const std::string_view name : error_names()) EXPECT_NE(find_code(name), std::nullopt) << name;
}

TEST(Codes, EachHasItsOwnMessage) {
  std::set<std::string> messages;
  for (int number = 0; number <= kLastInRow; ++number) messages.insert(message_of(static_cast<Code>(number)));
  messages.insert(message_of(Code::kUnknown));
  messages.insert(message_of(static_cast<Code>(12345)));
  EXPECT_EQ(messages.size(), static_cast<std::size_t>(kLastInRow) + 3);
}

}  // namespace
}  // namespace berth::nvml_abi
