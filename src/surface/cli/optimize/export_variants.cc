#include "surface/cli/optimize/export_variants.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/core/text.h"
#include "base/json/writer.h"
#include "edges/files/file_sink.h"
#include "surface/cli/optimize/variant_folder.h"
#include "surface/cli/shared/unwritable.h"

namespace berth::cli {
namespace {

using models::BatchLatency;
using models::Manifest;
using models::Metric;
using models::VariantRecord;

/// A word for a column of a table: what else is in a name becomes a hyphen.
std::string plain_word(std::string_view name) {
  std::string word;
  for (const char each : name) {
    const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                          (each >= '0' && each <= '9') || each == '.' || each == '_';
    word += is_plain ? each : '-';
  }
  return word.empty() ? "model" : word;
}

std::string service_word(const Manifest& manifest) {
  return plain_word(std::filesystem::path(manifest.model.path).stem().string());
}

/// A time of 0 would be no measurement.
constexpr double kLatencyMsMin = 0.000001;

std::string profile_csv_row(std::string_view model, const ExportVariantsRequest& request, std::int64_t batch,
                            double micros) {
  constexpr double kMicrosPerMs = 1000;
  constexpr double kMsPerSecond = 1000;
  const double latency_ms = std::max(micros / kMicrosPerMs, kLatencyMsMin);
  return fmt::format("{},{},{},{},1,{:.6f},{:.6f}\n", model, request.gpu, request.profile, batch,
                     static_cast<double>(batch) * kMsPerSecond / latency_ms, latency_ms);
}

/// Text in quotes for YAML, which reads JSON.
std::string quoted(const std::string& text) { return json::text_of(text); }

std::string variant_item(const Manifest& manifest, const VariantRecord& variant, const ExportedVariants& exported) {
  const auto& score = variant.figures->judging.score;
  return fmt::format("      - {{name: {}, profile: {{format: csv, path: {}, model: {}}}{}}}\n",
                     plain_word(variant.name), quoted(exported.csv_path),
                     fmt::format("{}-{}", service_word(manifest), plain_word(variant.name)),
                     score ? fmt::format(", accuracy: {:.6f}", std::clamp(*score, 0.0, 1.0)) : "");
}

/// What a reader of the block must know: comments.
std::string block_remarks(const Manifest& manifest, const ExportVariantsRequest& request) {
  std::string lines;
  if (!manifest.terms.cuda_index) {
    lines += fmt::format("    # measured on cpu; that the figures hold for {} {} is not known\n", request.gpu,
                         request.profile);
  }
  if (manifest.findings.metric == Metric::kError) {
    lines += "    # without accuracy: the loss was measured as an error\n";
  } else {
    lines += fmt::format("    # accuracy: share of rows in {}\n",
                         manifest.findings.metric == Metric::kAccuracy ? "accuracy" : "agreement with the original");
  }
  return lines + fmt::format("    # path: from the folder of the scenario; the model {} in it is the original\n",
                             service_word(manifest));
}

}  // namespace

Result<ExportedVariants> export_variants(const Manifest& manifest, const ExportVariantsRequest& request) {
  const auto& variants = manifest.findings.variants;
  const auto first = std::ranges::find(variants, true, &VariantRecord::is_kept);
  if (first == variants.end()) {
    return invalid(fmt::format("{}: wanted a variant that is kept, found none", request.folder));
  }
  ExportedVariants exported;
  exported.csv_path = fmt::format("{}/{}_{}{}.csv", request.folder, request.gpu, request.profile,
                                  manifest.terms.cuda_index ? "" : ".cpu");
  exported.csv = "model,gpu,profile,batch,processes,requests_per_second,latency_ms\n";
  for (const BatchLatency& latency : first->figures->latency) {
    exported.csv += profile_csv_row(service_word(manifest), request, latency.batch, latency.original_us);
  }
  exported.block = block_remarks(manifest, request) + "    variants:\n";
  for (const VariantRecord& variant : variants) {
    if (!variant.is_kept) continue;
    const std::string model = fmt::format("{}-{}", service_word(manifest), plain_word(variant.name));
    for (const BatchLatency& latency : variant.figures->latency) {
      exported.csv += profile_csv_row(model, request, latency.batch, latency.variant_us);
    }
    exported.block += variant_item(manifest, variant, exported);
  }
  return exported;
}

Result<std::string> run_export_variants(const ExportVariantsRequest& request, const VerbContext& context) {
  const auto manifest = read_variant_folder(*context.files, request.folder);
  if (!manifest) return pass_on(manifest.error());
  auto exported = export_variants(*manifest, request);
  if (!exported) return pass_on(exported.error());
  if (auto written = edges::write_file_whole(exported->csv_path, exported->csv); !written) {
    return unwritable(written.error());
  }
  return std::move(exported->block);
}

}  // namespace berth::cli
