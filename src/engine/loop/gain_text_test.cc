#include "engine/loop/gain_text.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(GainText, NeverSaysNothing) {
  EXPECT_EQ(gain_text(12.3), "12.30 s");
  EXPECT_EQ(gain_text(-1.5), "-1.50 s");
  EXPECT_EQ(gain_text(0.006), "0.01 s");
  EXPECT_EQ(gain_text(0.004), "less than 0.01 s");
  EXPECT_EQ(gain_text(0), "less than 0.01 s");
  EXPECT_EQ(gain_text(-1e-9), "less than 0.01 s");
}

}  // namespace
}  // namespace berth
