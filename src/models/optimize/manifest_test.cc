#include "models/optimize/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace berth::models {
namespace {

using ::testing::HasSubstr;

VariantRecord kept_variant() {
  VariantRecord variant = {.name = "fuse+int8", .methods = {Method::kFuse, Method::kInt8}};
  variant.passes = {
      {.name = "fold-constants", .is_undone = true, .reason = "why", .measured = {{"nodes", "3"}, {"nodes", "again"}}}};
  variant.channels = {{.group = "conv1", .before = 64, .after = 32}};
  variant.layers = {{.node = "conv1", .sqnr_db = 31.25, .is_float = true}};
  variant.is_kept = true;
  variant.figures =
      VariantFigures{.latency = {{.batch = 8,
                                  .ratio = {0.5, 0.49, 0.51},
                                  .original_us = 100.5,
                                  .variant_us = 50,
                                  .rounds = 12,
                                  .is_settled = true}},
                     .time_ratio = {0.5, 0.49, 0.51},
                     .model = {.load_us = 1, .loaded_bytes = -2, .run_bytes = 3, .file_bytes = 4, .nodes = 5},
                     .choosing = {.loss = {0.001, -0.01, 0.02}, .rows = 450, .rows_wanted = 1000, .score = 0.97},
                     .judging = {.loss = {0.002, -0.01, 0.02}, .rows = 451},
                     .sqnr_db = std::numeric_limits<double>::infinity()};
  variant.sha256 = std::string(64, 'a');
  return variant;
}

Manifest whole_manifest() {
  Manifest manifest;
  manifest.version = "1.2";
  manifest.engine = "ONNX Runtime 1.32.0";
  manifest.device = "x86-64-avx2";
  manifest.model = {.path = "a \"model\".onnx", .sha256 = std::string(64, 'b')};
  manifest.calibration = {.path = "rows.npz", .sha256 = std::string(64, 'c')};
  manifest.evaluation = SourceFile{.path = "test.npz", .sha256 = std::string(64, 'd')};
  manifest.terms = {.max_loss = 0.01,
                    .methods = {Method::kFuse, Method::kInt8},
                    .ranges = RangeRule::kEntropy,
                    .batches = {8},
                    .metric = Metric::kAgreement,
                    .goal = Goal::kMemory,
                    .cuda_index = 1,
                    .budget_seconds = 60,
                    .seed = 7};
  manifest.keep = KeepChoice::kAll;
  manifest.findings = {.metric = Metric::kAccuracy,
                       .rows = {.calibration = 10, .choosing = 5, .judging = 6, .left_out = 1},
                       .batches = {8},
                       .has_fixed_batch = true,
                       .original = {.load_us = 9},
                       .original_score = 0.98,
                       .variants = {kept_variant(), {.name = "fuse", .methods = {Method::kFuse}, .reason = "none"}},
                       .recommended = "fuse+int8",
                       .left_out = {"prune: why"}};
  return manifest;
}

TEST(ManifestText, IsReadAsItWasWritten) {
  const Manifest manifest = whole_manifest();
  const std::string text = write_manifest(manifest);
  const auto read = read_manifest(text, "manifest.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, manifest);
  EXPECT_EQ(write_manifest(*read), text);
}

TEST(ManifestText, RefusesWhatItDoesNotKnow) {
  const std::string text = write_manifest(whole_manifest());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return other.replace(at, from.size(), to);
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "manifest.json"},
      {"{}", "wanted a manifest of `berth optimize`"},
      {changed("\"berth\": 1", "\"berth\": 2"), "wanted a manifest of `berth optimize`"},
      {changed("\"engine\"", "\"motor\""), "wanted the key engine, found none"},
      {changed("\"goal\": \"memory\"", "\"goal\": \"beauty\""), "terms.goal: wanted a known word"},
      {changed("\"rounds\": 12", "\"rounds\": 1.5"), "rounds: wanted a whole number"},
      {changed("\"name\": \"fuse+int8\"", "\"name\": \"../x\""), "named after its methods"},
      {changed(std::string(64, 'a'), ""), "wanted figures and the sum of each kept variant"},
      {changed("\"recommended\": \"fuse+int8\"", "\"recommended\": \"fuse\""), "wanted a kept variant as recommended"},
  };
  for (const auto& [other, message] : cases) {
    const auto read = read_manifest(other, "manifest.json");
    ASSERT_FALSE(read.has_value()) << message;
    EXPECT_THAT(read.error().message, HasSubstr(message));
  }
}

TEST(VariantPath, SaysWhetherItIsKept) {
  EXPECT_EQ(variant_path(kept_variant()), "fuse+int8/model.onnx");
  EXPECT_EQ(variant_path({.name = "fuse", .methods = {Method::kFuse}}), "refused/fuse/model.onnx");
}

}  // namespace
}  // namespace berth::models
