/// Made-up outcomes of `berth optimize`, for tests of its page.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "models/optimize/manifest.h"

namespace berth::report::testing {

/// A variant with that time ratio and loss; smaller in memory and file the more methods it has.
inline models::VariantRecord made_variant(std::string name, std::vector<models::Method> methods, double ratio,
                                          double loss) {
  models::VariantRecord variant{.name = std::move(name), .methods = std::move(methods)};
  models::VariantFigures figures;
  double slower = 1.06;
  for (const std::int64_t batch : {1, 8, 64}) {
    const double each = ratio * slower;
    figures.latency.push_back({.batch = batch,
                               .ratio = {.value = each, .low = each * 0.985, .high = each * 1.02},
                               .original_us = 80.0 * static_cast<double>(batch),
                               .variant_us = 80.0 * static_cast<double>(batch) * each,
                               .rounds = 34,
                               .is_settled = batch != 64});
    slower -= 0.06;
  }
  figures.time_ratio = {.value = ratio, .low = ratio * 0.99, .high = ratio * 1.01};
  const auto count = static_cast<std::int64_t>(variant.methods.size());
  figures.model = {.load_us = 5'300 + 400 * count,
                   .loaded_bytes = 9'000'000 - 1'700'000 * count,
                   .run_bytes = 14'000'000 - 1'900'000 * count,
                   .file_bytes = 4'300'000 / (1 + count),
                   .nodes = 61 - 7 * count};
  figures.choosing = {.loss = {.value = loss * 0.9, .low = loss - 0.011, .high = loss + 0.013}, .rows = 223};
  figures.judging = {
      .loss = {.value = loss, .low = loss - 0.01, .high = loss + 0.012}, .rows = 224, .rows_wanted = 1'300};
  figures.sqnr_db = loss == 0 ? std::numeric_limits<double>::infinity() : 31.4 - 400 * loss;
  variant.figures = figures;
  return variant;
}

inline void add_layers(models::VariantRecord& variant, std::size_t count, std::string_view prefix) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto step = static_cast<double>(i);
    const bool is_float = i % 17 == 5;
    variant.layers.push_back(
        {.node = fmt::format("{}{}", prefix, i),
         .sqnr_db = 42 - 14 * step / static_cast<double>(count) + 5 * std::sin(step * 1.7) + (is_float ? 4.0 : 0.0),
         .is_float = is_float});
  }
}

inline void add_channels(models::VariantRecord& variant, std::size_t count, std::string_view prefix) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t before = 64 << (i * 3 / count);
    const std::int64_t after = i % 4 == 3 ? before : before / 8 * static_cast<std::int64_t>(3 + i % 4);
    variant.channels.push_back({.group = fmt::format("{}{}", prefix, i), .before = before, .after = after});
  }
}

/// What is the same in all of them; no variants.
inline models::Manifest bare_manifest() {
  models::Manifest manifest{.version = "0.54", .engine = "ONNX Runtime 1.32.0", .device = "x86-64-avx2"};
  manifest.model = {.path = "digits_cnn.onnx", .sha256 = std::string(64, 'a')};
  manifest.calibration = {.path = "calibration.npz", .sha256 = std::string(64, 'b')};
  manifest.evaluation = models::SourceFile{.path = "test.npz", .sha256 = std::string(64, 'c')};
  manifest.findings.metric = models::Metric::kAccuracy;
  manifest.findings.rows = {.calibration = 450, .choosing = 223, .judging = 224, .left_out = 3};
  manifest.findings.batches = {1, 8, 64};
  manifest.findings.original = {
      .load_us = 5'200, .loaded_bytes = 9'300'000, .run_bytes = 14'200'000, .file_bytes = 4'300'000, .nodes = 64};
  manifest.findings.original_score = 0.9732;
  return manifest;
}

/// Seven variants: four kept, three refused, one of them not measured; 50 layers.
inline models::Manifest rich_manifest() {
  using models::Method;
  models::Manifest manifest = bare_manifest();
  std::vector<models::VariantRecord>& variants = manifest.findings.variants;
  variants.push_back(made_variant("fuse", {Method::kFuse}, 0.96, 0));
  variants.push_back(made_variant("prune", {Method::kPrune}, 0.71, 0.0045));
  variants.push_back(made_variant("int8", {Method::kInt8}, 0.78, 0.0022));
  variants.push_back(made_variant("fuse+prune", {Method::kFuse, Method::kPrune}, 0.66, 0.0045));
  variants.push_back(made_variant("fuse+int8", {Method::kFuse, Method::kInt8}, 0.61, 0.0022));
  variants.push_back(made_variant("fuse+prune+int8", {Method::kFuse, Method::kPrune, Method::kInt8}, 0.42, 0.082));
  variants.push_back({.name = "fp16", .methods = {Method::kFp16}});
  for (const std::size_t kept : {1U, 2U, 3U, 4U}) variants[kept].is_kept = true;
  variants[0].reason = "takes 0.96 x the time (0.95 to 0.97), wanted: surely at most 0.90 x";
  variants[5].reason = "loses 8.20 points on the rows that judge, allowed: 0.50 points";
  variants[6].reason = "fp16: the session fails: no kernel for Conv(11)";
  for (const std::size_t quantised : {2U, 4U, 5U}) add_layers(variants[quantised], 50, "/block/conv.");
  for (const std::size_t pruned : {1U, 3U}) add_channels(variants[pruned], 6, "/block/conv.");
  add_channels(variants[5], 7, "/block/conv.");
  variants[4].passes = {{.name = "fold-batch-norm", .is_undone = true, .reason = "outputs differ by 3e-3"}};
  manifest.findings.recommended = "fuse+int8";
  manifest.findings.left_out = {"fp16: not tried: on the processor it saves bytes of the file alone (--goal file)"};
  return manifest;
}

/// Nothing is kept.
inline models::Manifest poor_manifest() {
  models::Manifest manifest = bare_manifest();
  manifest.evaluation = std::nullopt;
  manifest.findings.rows = {.calibration = 450, .choosing = 225, .judging = 225, .is_one_data_set = true};
  manifest.findings.batches = {1, 8, 64};
  for (const auto& [name, ratio, loss] : {std::tuple("fuse", 0.99, 0.0), std::tuple("fuse+int8", 1.31, 0.002)}) {
    manifest.findings.variants.push_back(made_variant(name, {models::Method::kFuse}, ratio, loss));
    manifest.findings.variants.back().reason =
        fmt::format("takes {:.2f} x the time, wanted: surely at most 0.90 x", ratio);
  }
  add_layers(manifest.findings.variants[1], 3, "MatMul_");
  return manifest;
}

/// Long names with markup, many layers and groups.
inline models::Manifest large_manifest() {
  models::Manifest manifest = rich_manifest();
  manifest.model.path = "<models>/" + std::string(120, 'm') + "&\".onnx";
  manifest.findings.batches = {1, 2, 4, 8, 16, 32, 64, 128};
  for (models::VariantRecord& variant : manifest.findings.variants) {
    variant.name += "+<b>" + std::string(60, 'e') + "</b>";
    if (!variant.layers.empty()) {
      variant.layers.clear();
      add_layers(variant, 300, "/model/<encoder>/layers.with.a.very.long.name/attention/self/projection/MatMul_");
    }
    if (!variant.channels.empty()) {
      variant.channels.clear();
      add_channels(variant, 120, "/model/<encoder>/stage.with.a.very.long.name/bottleneck/conv_");
    }
    if (!variant.figures) continue;
    std::vector<models::BatchLatency> all;
    for (const std::int64_t batch : manifest.findings.batches) {
      all.push_back(variant.figures->latency.front());
      all.back().batch = batch;
    }
    variant.figures->latency = std::move(all);
  }
  manifest.findings.recommended = manifest.findings.variants[4].name;
  return manifest;
}

}  // namespace berth::report::testing
