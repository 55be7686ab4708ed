#include "surface/figures/optimize_words.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace berth::figures {
namespace {

using models::Manifest;
using models::Metric;
using models::VariantRecord;

VariantRecord worded_variant(std::string name, double ratio, double loss) {
  VariantRecord variant{.name = std::move(name)};
  models::VariantFigures figures;
  figures.time_ratio = {.value = ratio, .low = ratio, .high = ratio};
  figures.model = {.run_bytes = 110, .file_bytes = 30};
  figures.choosing.loss = {.value = loss, .low = loss - 0.01, .high = loss + 0.01};
  figures.judging = {.loss = figures.choosing.loss, .rows = 224};
  variant.figures = figures;
  variant.reason = "reason of " + variant.name;
  return variant;
}

Manifest worded_manifest() {
  Manifest manifest{.version = "1", .engine = "ONNX Runtime 1.32.0", .device = "x86-64-avx2"};
  manifest.findings.metric = Metric::kAccuracy;
  manifest.findings.rows.judging = 1'224;
  manifest.findings.batches = {1, 8};
  manifest.findings.original = {.run_bytes = 100, .file_bytes = 100};
  manifest.findings.variants = {worded_variant("fuse", 0.99, 0), worded_variant("int8", 0.5, 0.2),
                                worded_variant("prune", 0.95, 0.001), worded_variant("fuse+int8", 0.604, 0.0022)};
  return manifest;
}

TEST(OptimizeWords, SayWhatIsSavedAndLost) {
  Manifest manifest = worded_manifest();
  manifest.findings.variants[3].is_kept = true;
  manifest.findings.recommended = "fuse+int8";
  EXPECT_EQ(
      optimize_advice(manifest, "out/x"),
      "Use out/x: 40 % less time, 10 % more memory, 70 % smaller file; it loses 0.22 points of accuracy (loss -0.78 to "
      "1.22).");
  EXPECT_EQ(optimize_shortfall(manifest), "");
  manifest.findings.metric = Metric::kError;
  manifest.findings.variants[3].figures->judging.loss = {.value = 0.0022, .low = -0.00001, .high = 0.01};
  EXPECT_EQ(optimize_advice(manifest, "x"),
            "Use x: 40 % less time, 10 % more memory, 70 % smaller file; the error is 0.0022 (0.0000 to 0.0100).");
}

TEST(OptimizeWords, TheClosestIsWithinTheAllowedLossIfOneIs) {
  Manifest manifest = worded_manifest();
  manifest.findings.variants.pop_back();
  EXPECT_EQ(optimize_advice(manifest, ""), "Keep the original: nothing that was tried is better.");
  EXPECT_EQ(optimize_shortfall(manifest), "Closest was prune: reason of prune.");
  manifest.findings.variants = {worded_variant("int8", 0.5, 0.2)};
  EXPECT_EQ(optimize_shortfall(manifest), "Closest was int8: reason of int8.");
  manifest.findings.variants.front().figures = std::nullopt;
  EXPECT_EQ(optimize_shortfall(manifest), "");
}

TEST(OptimizeWords, SayWhatItWasMeasuredOn) {
  Manifest manifest = worded_manifest();
  EXPECT_EQ(optimize_measured(manifest),
            "Measured by ONNX Runtime 1.32.0 on x86-64-avx2, one thread: each variant and the original in turn, at "
            "batches 1, 8. The loss is that of the 1,224 rows that judge, which no search saw. Intervals: 95 %.");
}

TEST(OptimizeWords, FiguresAsText) {
  EXPECT_EQ(bytes_text(912), "912 B");
  EXPECT_EQ(bytes_text(-1'536), "-1.5 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 31), "6,144.0 MiB");
  EXPECT_EQ(duration_text(84.24), "84.2 us");
  EXPECT_EQ(duration_text(1'234'567), "1,234.57 ms");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(loss_interval_text({.value = infinity, .low = 0, .high = infinity}, Metric::kError),
            "infinite (0.0000 to infinite)");
  EXPECT_EQ(ratio_interval_text({.value = 0.684, .low = 0.66, .high = 0.7}), "0.68 x (0.66 to 0.70)");
}

}  // namespace
}  // namespace berth::figures
