// models/int8 through the real engine.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "base/core/rng.h"
#include "edges/onnx_probe/testing/engine_probe.h"
#include "models/graph/testing/random_graph.h"
#include "models/int8/choose_int8.h"
#include "models/int8/int8_plan.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"
#include "models/probing/run_rows.h"

namespace berth::edges {
namespace {

using models::Model;
using models::RowSet;

class Int8Test : public berth::testing::EngineTest {
 protected:
  std::vector<Tensor> outputs_of(const Model& model, const RowSet& rows) {
    const Result<std::string> bytes = models::write_model(model);
    EXPECT_TRUE(bytes) << bytes.error().message;
    auto loaded = probe().load(*bytes, EngineOptimisation::kAll);
    EXPECT_TRUE(loaded) << loaded.error().message;
    if (!loaded) return {};
    auto outputs = models::run_rows(**loaded, rows, 8);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? *outputs : std::vector<Tensor>{};
  }
};

double signal_to_noise_db(const Tensor& original, const Tensor& variant) {
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i + sizeof(float) <= original.bytes.size(); i += sizeof(float)) {
    float a = 0;
    float b = 0;
    std::memcpy(&a, original.bytes.data() + i, sizeof a);
    std::memcpy(&b, variant.bytes.data() + i, sizeof b);
    signal += static_cast<double>(a) * a;
    noise += (static_cast<double>(a) - b) * (static_cast<double>(a) - b);
  }
  return noise == 0 ? 200 : 10 * std::log10(signal / noise);
}

RowSet rows_for(const Model& model, Rng rng) {
  RowSet rows{.inputs = berth::testing::random_inputs(model, 16, rng), .count = 16};
  return rows;
}

TEST_F(Int8Test, RandomModelsLoadAndKeepTheirSignal) {
  std::size_t quantized_count = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Model model = berth::testing::random_model(Rng(seed));
    const RowSet rows = rows_for(model, Rng(seed + 1000));
    const auto shapes = models::value_shapes(probe(), model);
    ASSERT_TRUE(shapes) << shapes.error().message;
    const models::Int8Plan plan = models::int8_plan(model.graph, *shapes);
    if (plan.heavy.empty()) continue;
    const auto statistics =
        models::collect_statistics(probe(), model, rows, models::values_to_observe(model, *shapes), 4);
    ASSERT_TRUE(statistics) << statistics.error().message;
    const std::vector<Tensor> original = outputs_of(model, rows);
    for (const bool is_signed : {false, true}) {
      const models::QuantizedType type = {.is_signed = is_signed};
      models::RangesByValue ranges;
      for (const auto& [value, seen] : statistics->all) {
        ranges[value] = models::range_of(seen, models::RangeRule::kMinMax, type);
      }
      const auto quantized = models::quantize(model, plan, ranges, {.activations = type});
      ASSERT_TRUE(quantized) << quantized.error().message;
      const std::vector<Tensor> variant = outputs_of(*quantized, rows);
      ASSERT_EQ(variant.size(), original.size());
      for (std::size_t i = 0; i < original.size(); ++i) {
        EXPECT_EQ(variant[i].shape, original[i].shape);
        EXPECT_EQ(original[i].type, TensorType::kFp32);
        EXPECT_GT(signal_to_noise_db(original[i], variant[i]), 12);
      }
    }
    ++quantized_count;
  }
  EXPECT_GT(quantized_count, 20U);
}

}  // namespace
}  // namespace berth::edges
