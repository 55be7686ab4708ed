#include "base/yaml/plain_kind.h"

#include <gtest/gtest.h>

namespace berth::yaml {
namespace {

TEST(PlainKind, TakesWhatEitherVersionOfYamlTakes) {
  for (const std::string_view text : {"true", "True", "FALSE", "yes", "No", "ON", "off"}) {
    EXPECT_EQ(kind_of_plain(text), PlainKind::kTruth) << text;
  }
  for (const std::string_view text : {"", "~", "null", "Null", "NULL"}) {
    EXPECT_EQ(kind_of_plain(text), PlainKind::kNull) << text;
  }
  for (const std::string_view text :
       {"0",   "7",    "007",  "08",   "-5",    "+12",  "1_000", "1e3",  "1E-3",     "1.5e+2", "1.",          ".5",
        "-.5", "0x1f", "0X1F", "0o17", "0b101", ".inf", "-.Inf", ".NaN", "12:30:45", "1:5",    "190:20:30.15"}) {
    EXPECT_EQ(kind_of_plain(text), PlainKind::kNumber) << text;
  }
  for (const std::string_view text :
       {"y",    "n",   "a",   "detector", "1a", "e3",   "1e",   "1e-",    "0x",      "0xg",
        "-",    "+",   ".",   "_1",       "_",  "1-2",  "2-7",  "10-b",   "nul",     "none",
        "yess", "0o8", "0b2", "1:",       ":1", "1:7x", "1:70", "truely", "infinity"}) {
    EXPECT_EQ(kind_of_plain(text), PlainKind::kText) << text;
  }
}

}  // namespace
}  // namespace berth::yaml
