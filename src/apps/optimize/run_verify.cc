#include "apps/optimize/run_verify.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "apps/optimize/workbench.h"
#include "live/chain/field_hash.h"
#include "models/onnx/read_model.h"
#include "models/optimize/measuring.h"
#include "models/optimize/time_plan.h"

namespace berth::optimizer {
namespace {

using models::Manifest;
using models::VariantRecord;
using models::Verification;
using models::VerifyRequest;

/// A variant as it is in the folder.
struct FoundVariant {
  const VariantRecord* record;
  std::string bytes;
};

Result<std::string> read_text(const FileTree& tree, const std::string& path, std::size_t bytes_max) {
  const auto file = tree.open(path);
  if (!file) return invalid(file.error().message);
  auto bytes = read_whole(**file, bytes_max);
  if (!bytes) return invalid(fmt::format("{}: {}", path, bytes.error().message));
  return bytes;
}

Result<Manifest> read_folder_manifest(const FileTree& tree, const std::string& folder) {
  constexpr std::size_t kManifestBytesMax = std::size_t{64} << 20U;
  const std::string path = fmt::format("{}/{}", folder, models::kManifestFile);
  const auto text = read_text(tree, path, kManifestBytesMax);
  if (!text) return pass_on(text.error());
  return models::read_manifest(*text, path);
}

std::vector<FoundVariant> find_variants(const FileTree& tree, const VerifyRequest& request, const Manifest& manifest,
                                        Verification& verification) {
  std::vector<FoundVariant> found;
  for (const VariantRecord& variant : manifest.findings.variants) {
    if (variant.sha256.empty() || !variant.figures) continue;
    auto bytes = read_text(tree, fmt::format("{}/{}", request.folder, variant_path(variant)), models::kModelBytesMax);
    const std::string sum = bytes ? chain::hex_of(chain::sha256(*bytes)) : bytes.error().message;
    verification.figures.push_back(models::verify_sum(variant.name, "SHA-256 of the file", variant.sha256, sum));
    if (verification.figures.back().holds) found.push_back({.record = &variant, .bytes = *std::move(bytes)});
  }
  return found;
}

/// As long as the first time.
Micros measure_budget(const Manifest& manifest, std::size_t variants) {
  return models::TimePlan::measuring_share(Micros::seconds(manifest.terms.budget_seconds), static_cast<int>(variants));
}

Result<void> measure_again(const Workbench& bench, const Manifest& manifest, const std::vector<FoundVariant>& found,
                           const cli::OptimizeHooks& hooks, Verification& verification) {
  const models::OptimizeTools tools = bench.tools(hooks);
  models::OptimizeTerms terms = manifest.terms;
  terms.metric = manifest.findings.metric;
  const auto original =
      models::measure_original(bench.model.model, bench.model.file_bytes, bench.rows.rows, terms, tools);
  if (!original) return pass_on(original.error());
  for (models::VerifiedFigure& figure :
       models::verify_memory("original", manifest.findings.original, original->figures)) {
    verification.figures.push_back(std::move(figure));
  }
  for (const FoundVariant& variant : found) {
    const auto figures = models::measure_variant(
        {.name = variant.record->name, .bytes = variant.bytes, .nodes = variant.record->figures->model.nodes},
        *original, bench.rows.rows, terms, measure_budget(manifest, found.size()), tools);
    if (!figures) return pass_on(figures.error());
    if (figures->latency.size() != variant.record->figures->latency.size()) {
      return invalid("wanted a manifest with figures of each batch, found one without");
    }
    for (models::VerifiedFigure& figure :
         models::verify_figures(variant.record->name, *variant.record->figures, *figures, manifest.findings.metric)) {
      verification.figures.push_back(std::move(figure));
    }
  }
  return {};
}

}  // namespace

Result<Verification> run_verify(const FileTree& tree, const VerifyRequest& request, const cli::OptimizeHooks& hooks) {
  const auto manifest = read_folder_manifest(tree, request.folder);
  if (!manifest) return pass_on(manifest.error());
  std::optional<std::string> evaluation = request.evaluation;
  if (!evaluation && manifest->evaluation) evaluation = manifest->evaluation->path;
  const auto bench = open_workbench(
      tree,
      {.model = request.original.value_or(manifest->model.path),
       .rows = {.calibration = request.calibration.value_or(manifest->calibration.path), .evaluation = evaluation},
       .engine = request.engine,
       .cuda_index = manifest->terms.cuda_index,
       .seed = manifest->terms.seed},
      hooks);
  if (!bench) return hooks.should_stop() ? models::stopped() : pass_on(bench.error());
  Verification verification;
  verification.figures.push_back(
      models::verify_sum("", "SHA-256 of the original", manifest->model.sha256, bench->model.sha256));
  verification.figures.push_back(models::verify_sum("", "SHA-256 of the calibration", manifest->calibration.sha256,
                                                    bench->rows.calibration.sha256));
  const std::string wanted = manifest->evaluation ? manifest->evaluation->sha256 : "none";
  const std::string found_sum = bench->rows.evaluation ? bench->rows.evaluation->sha256 : "none";
  if (wanted != found_sum || wanted != "none") {
    verification.figures.push_back(models::verify_sum("", "SHA-256 of the evaluation", wanted, found_sum));
  }
  const bool is_comparable = verification.holds();
  const auto found = find_variants(tree, request, *manifest, verification);
  if (!is_comparable) return verification;
  if (auto measured = measure_again(*bench, *manifest, found, hooks, verification); !measured) {
    return hooks.should_stop() ? models::stopped() : pass_on(measured.error());
  }
  return verification;
}

}  // namespace berth::optimizer
