#include <gtest/gtest.h>

#include "models/graph/testing/random_graph.h"
#include "models/onnx/read_model.h"
#include "models/onnx/write_model.h"

namespace berth::models {
namespace {

Result<std::string> no_weights(const std::string& path, std::uint64_t, std::uint64_t) { return invalid(path); }

TEST(RoundTrip, OfRandomModels) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Result<std::string> bytes = write_model(testing::random_model(Rng(seed)));
    ASSERT_TRUE(bytes) << bytes.error().message;
    const Result<Model> read = read_model(*bytes, "random", no_weights);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(write_model(*read).value(), *bytes) << seed;
  }
}

}  // namespace
}  // namespace berth::models
