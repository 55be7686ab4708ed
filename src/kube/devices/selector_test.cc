#include "kube/devices/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/devices/quantity.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;

Device slice() {
  Device device{.name = "gpu-0-mig-1g.10gb-19-5"};
  device.attributes["gpu.nvidia.com/profile"] = std::string("1g.10gb");
  device.attributes["gpu.nvidia.com/type"] = std::string("mig");
  device.attributes["gpu.nvidia.com/index"] = std::int64_t{3};
  device.attributes["gpu.nvidia.com/ecc"] = true;
  device.attributes["gpu.nvidia.com/driverVersion"] = VersionText{"1.2.3"};
  device.capacity["gpu.nvidia.com/memory"] = parse_quantity_milli("10Gi").value();
  return device;
}

TEST(Selector, OfTheSubsetAreEvaluated) {
  const std::string a = "device.attributes[\"gpu.nvidia.com\"].";
  const std::string c = "device.capacity['gpu.nvidia.com'].";
  const std::vector<std::pair<std::string, bool>> cases = {
      {"device.driver == 'gpu.nvidia.com'", true},
      {"device.driver != 'gpu.nvidia.com'", false},
      {a + "profile == \"1g.10gb\" && " + a + "type == 'mig'", true},
      {a + "profile.startsWith('1g') && !" + a + "profile.endsWith('20gb')", true},
      {a + "profile.contains('.')", true},
      {a + "profile in ['2g.20gb', '1g.10gb']", true},
      {a + "profile in []", false},
      {a + "index >= 3 && " + a + "index < 4", true},
      {a + "ecc", true},
      {c + "memory.compareTo(quantity('10Gi')) >= 0", true},
      {c + "memory.compareTo(quantity(\"20Gi\")) == 0", false},
      {"(true || false) && !(false)", true},
      // An attribute that is missing decides nothing, unless the other operand does.
      {a + "nothing == 'x'", false},
      {"!(" + a + "nothing == 'x')", false},
      {a + "nothing == 'x' || true", true},
      {"true || " + a + "nothing == 'x'", true},
      {a + "nothing == 'x' && false", false},
      {a + "index == '3'", false},
      {a + "driverVersion == '1.2.3'", false},
      {"'text'", false},
  };
  for (const auto& [text, is_match] : cases) {
    const auto selector = parse_selector(text);
    ASSERT_TRUE(selector) << text << ": " << selector.error().message;
    EXPECT_EQ(matches(*selector, slice(), "gpu.nvidia.com"), is_match) << text;
  }
}

TEST(Selector, WhatIsOutsideTheSubsetIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "found its end"},
      {"device.driver ==", "column 17"},
      {"device.allowMultipleAllocations", "wanted driver, attributes or capacity"},
      {"device.attributes['a'].b.matches('x')", "found \"matches('x')\""},
      {"device.attributes['a'].b ? true : false", "wanted the end, or an operator, found \"? true"},
      {"semver('1.0')", "found \"semver"},
      {"device.attributes.exists(x, true)", "wanted [, found \".exists"},
      {"1.5 < 2", "wanted a whole number"},
      {"'a\\n' == 'b'", "without escapes"},
      {"device.driver in device.driver", "wanted a list behind in"},
      {std::string(100, '('), "less nesting"},
      {std::string(100, '!') + "true", "less nesting"},
  };
  for (const auto& [text, message] : cases) {
    const auto selector = parse_selector(text);
    ASSERT_FALSE(selector) << text;
    EXPECT_THAT(selector.error().message, HasSubstr(message)) << text;
  }
}

TEST(Quantity, IsInMilliRoundedUp) {
  EXPECT_EQ(parse_quantity_milli("1"), 1'000);
  EXPECT_EQ(parse_quantity_milli("500m"), 500);
  EXPECT_EQ(parse_quantity_milli("1.5"), 1'500);
  EXPECT_EQ(parse_quantity_milli("2Ki"), 2'048'000);
  EXPECT_EQ(parse_quantity_milli("1e3"), 1'000'000);
  EXPECT_EQ(parse_quantity_milli("1n"), 1);
  EXPECT_EQ(parse_quantity_milli("80Gi"), 85'899'345'920'000);
  for (const char* text : {"", "Gi", "1KiB", "a", "9E", "1 Gi"})
    EXPECT_EQ(parse_quantity_milli(text), std::nullopt) << text;
}

}  // namespace
}  // namespace berth::kube
