#include <gtest/gtest.h>

#include "domain/mig/catalogue.h"
#include "domain/mig/geometry.h"

namespace berth::mig {
namespace {

std::string parsed(std::string_view gpu, std::string_view text) {
  const GpuModel model = *find_gpu_model(gpu);
  const auto state = parse_state(model, text);
  return state ? to_string(model, *state) : "error: " + state.error().message;
}

TEST(ParseState, ReadsAndSorts) {
  EXPECT_EQ(parsed("A100-80GB", "3g.40gb@4,1g.10gb@0"), "1g.10gb@0,3g.40gb@4");
  EXPECT_EQ(parsed("A100-80GB", "  3g.40gb@4 ,\t1g.10gb+me@0  "), "1g.10gb+me@0,3g.40gb@4");
  EXPECT_EQ(parsed("A100-80GB", ""), "");
  EXPECT_EQ(parsed("A100-80GB", "  "), "");
  EXPECT_EQ(parsed("T4", "full@0"), "full@0");
  EXPECT_EQ(parsed("RTX", "2g.48gb@6,1g.24gb+me.all@3"), "1g.24gb+me.all@3,2g.48gb@6");
}

TEST(ParseState, NamesTheColumn) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {"1g.10gb", "error: state, column 1: wanted PROFILE@START, found \"1g.10gb\""},
      {"1g.10gb@0,", "error: state, column 11: wanted PROFILE@START, found \"\""},
      {"1g.10gb@0, ,", "error: state, column 12: wanted PROFILE@START, found \"\""},
      {"1g.10gb@0, 2g.20gb@3", "error: state, column 20: 2g.20gb can start at 0, 2, 4 on A100-80GB, found 3"},
      {" 9g.80gb@0",
       "error: state, column 2: wanted a profile of A100-80GB (full, 1g.10gb, 1g.10gb+me, 1g.20gb, 2g.20gb, 3g.40gb, "
       "4g.40gb, 7g.80gb), found \"9g.80gb\""},
      {"1g.10gb@0,1g.20gb@0", "error: state: 1g.10gb@0 (unit 0) and 1g.20gb@0 (units 0 to 1) overlap"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(parsed("A100-80GB", text), message);
}

TEST(ParseState, RefusesOddNumbersAndLongTexts) {
  for (const char* text : {"1g.10gb@", "1g.10gb@-1", "1g.10gb@x", "1g.10gb@ 0", "1g.10gb@99999999999999999999"}) {
    EXPECT_TRUE(parsed("A100-80GB", text).starts_with("error: state, column 9: ")) << parsed("A100-80GB", text);
  }
  EXPECT_EQ(parsed("A100-80GB", std::string(1025, ' ')), "error: state: wanted at most 1024 bytes, found 1025");
}

}  // namespace
}  // namespace berth::mig
