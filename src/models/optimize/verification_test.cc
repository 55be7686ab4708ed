#include "models/optimize/verification.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace berth::models {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

VariantFigures recorded_figures() {
  VariantFigures figures;
  figures.latency = {{.batch = 8, .ratio = {0.5, 0.49, 0.51}}};
  figures.model = {.loaded_bytes = 40 * kMiB, .run_bytes = 50 * kMiB};
  figures.choosing.loss = {.value = 0.001, .low = 0, .high = 0.004};
  figures.judging.loss = {.value = 0.002, .low = 0, .high = 0.005};
  return figures;
}

/// The figures that do not hold after a change.
std::string broken_after(const std::function<void(VariantFigures&)>& change) {
  VariantFigures measured = recorded_figures();
  change(measured);
  std::string broken;
  for (const VerifiedFigure& figure : verify_figures("v", recorded_figures(), measured, Metric::kAccuracy)) {
    EXPECT_EQ(figure.variant, "v");
    if (!figure.holds) broken += (broken.empty() ? "" : "; ") + figure.figure;
  }
  return broken;
}

TEST(Verification, HoldsWithinTheTolerances) {
  EXPECT_EQ(broken_after([](VariantFigures&) {}), "");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.latency[0].ratio.value = 0.5249; }), "");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.latency[0].ratio.value = 0.5251; }), "time at batch 8");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.latency[0].ratio.value = 0.4749; }), "time at batch 8");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.model.loaded_bytes = 43 * kMiB; }), "");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.model.loaded_bytes = 45 * kMiB; }), "memory after the load");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.model.run_bytes = 44 * kMiB; }), "memory at the largest batch");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.choosing.loss.value = 0.0041; }), "loss on the rows that choose");
  EXPECT_EQ(broken_after([](VariantFigures& f) { f.judging.loss.value = -0.001; }), "loss on the rows that judge");
}

TEST(Verification, AllowsWhatProcessesDifferBy) {
  const auto figures =
      verify_memory("v", {.loaded_bytes = kMiB, .run_bytes = kMiB}, {.loaded_bytes = 2 * kMiB, .run_bytes = 3 * kMiB});
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_TRUE(figures[0].holds);
  EXPECT_FALSE(figures[1].holds);
}

TEST(Verification, HoldsIfAllFiguresDo) {
  Verification verification;
  verification.figures.push_back(verify_sum("", "sum", "a", "a"));
  EXPECT_TRUE(verification.holds());
  verification.figures.push_back(verify_sum("v", "sum", "a", "b"));
  EXPECT_FALSE(verification.holds());
}

}  // namespace
}  // namespace berth::models
