#include "base/json/value.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace berth::json {
namespace {

TEST(JsonValue, IsWrittenAsWhatItIsMadeOf) {
  EXPECT_EQ(Value().to_line(), "null\n");
  EXPECT_EQ(Value(true).to_line(), "true\n");
  EXPECT_EQ(Value(-5).to_line(), "-5\n");
  EXPECT_EQ(Value(std::numeric_limits<std::uint64_t>::max()).to_line(), "18446744073709551615\n");
  EXPECT_EQ(Value("text").to_line(), "\"text\"\n");
  EXPECT_EQ(Value(std::string_view("a \"b\"\xFF")).to_line(), "\"a \\\"b\\\"\xEF\xBF\xBD\"\n");
  EXPECT_EQ(Value(Value::Number{"1.500"}).to_line(), "1.500\n");
  EXPECT_EQ(Value(std::optional<std::string>()).to_line(), "null\n");
  EXPECT_EQ(Value(std::optional<bool>(false)).to_line(), "false\n");
}

TEST(JsonValue, DoublesAreShortAndStayDoubles) {
  EXPECT_EQ(Value(1.0).to_line(), "1.0\n");
  EXPECT_EQ(Value(0.1).to_line(), "0.1\n");
  EXPECT_EQ(Value(-2.5e-30).to_line(), "-2.5e-30\n");
  EXPECT_EQ(Value(std::numeric_limits<double>::infinity()).to_line(), "null\n");
}

TEST(JsonValue, ListsAndObjectsKeepTheirOrder) {
  const Value value = Value::Object{{"z", Value::List{1, "two", nullptr}},
                                    {"a", Value::Object{{"inner", std::optional<int>(3)}}},
                                    {"none", Value::List{}},
                                    {"o", Value::Object{}}};
  EXPECT_EQ(value.to_line(), "{\"z\":[1,\"two\",null],\"a\":{\"inner\":3},\"none\":[],\"o\":{}}\n");
}

}  // namespace
}  // namespace berth::json
