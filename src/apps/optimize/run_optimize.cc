#include "apps/optimize/run_optimize.h"

#include <fmt/format.h>

#include <utility>

#include "apps/optimize/workbench.h"
#include "edges/files/folder_sink.h"
#include "live/chain/field_hash.h"
#include "models/optimize/optimize.h"

namespace berth::optimizer {
namespace {

using models::Manifest;
using models::OptimizeOutcome;
using models::OptimizeRequest;
using models::VariantRecord;

Manifest manifest_of(const OptimizeRequest& request, const Workbench& bench, models::Findings findings) {
  return {.version = BERTH_VERSION,
          .engine = bench.engine.probe->name(),
          .device = bench.engine.probe->device(),
          .model = {.path = request.model, .sha256 = bench.model.sha256},
          .calibration = bench.rows.calibration,
          .evaluation = bench.rows.evaluation,
          .terms = request.terms,
          .keep = request.keep,
          .findings = std::move(findings)};
}

/// The sums of the files that are written.
void add_sums(OptimizeOutcome& outcome, models::KeepChoice keep) {
  for (VariantRecord& variant : outcome.findings.variants) {
    const auto file = outcome.files.find(variant.name);
    const bool is_written = variant.is_kept || keep == models::KeepChoice::kAll;
    if (file != outcome.files.end() && is_written) variant.sha256 = chain::hex_of(chain::sha256(file->second));
  }
}

Result<void> write_folder(const OptimizeRequest& request, const Manifest& manifest, const OptimizeOutcome& outcome,
                          const cli::OptimizeHooks& hooks) {
  hooks.report("writing");
  auto sink = edges::FolderSink::open(request.out);
  if (!sink) return pass_on(sink.error());
  for (const VariantRecord& variant : manifest.findings.variants) {
    if (variant.sha256.empty()) continue;
    if (auto added = sink->add(variant_path(variant), outcome.files.at(variant.name)); !added) return added;
    const auto masks = outcome.masks.find(variant.name);
    if (masks == outcome.masks.end()) continue;
    if (auto added = sink->add(variant_path(variant, models::kMasksFile), masks->second); !added) return added;
  }
  if (auto added = sink->add(models::kManifestFile, write_manifest(manifest)); !added) return added;
  if (hooks.should_stop()) return models::stopped();
  return sink->commit();
}

}  // namespace

Result<Manifest> run_optimize(const FileTree& tree, const OptimizeRequest& request, const cli::OptimizeHooks& hooks) {
  if (auto checked = edges::check_new_folder(request.out); !checked) {
    return invalid("--out " + checked.error().message);
  }
  const auto bench = open_workbench(tree,
                                    {.model = request.model,
                                     .rows = {.calibration = request.calibration, .evaluation = request.evaluation},
                                     .engine = request.engine,
                                     .cuda_index = request.terms.cuda_index,
                                     .seed = request.terms.seed},
                                    hooks);
  if (!bench) return hooks.should_stop() ? models::stopped() : pass_on(bench.error());
  const models::OptimizeTools tools = bench->tools(hooks);
  auto outcome = models::optimize({.original = bench->model.model,
                                   .file_bytes = bench->model.file_bytes,
                                   .rows = bench->rows.rows,
                                   .counts = bench->rows.counts,
                                   .model_name = request.model,
                                   .data_name = request.evaluation.value_or(request.calibration)},
                                  request.terms, tools);
  if (hooks.should_stop()) return models::stopped();
  if (!outcome) return pass_on(outcome.error());
  add_sums(*outcome, request.keep);
  const Manifest manifest = manifest_of(request, *bench, std::move(outcome->findings));
  if (auto written = write_folder(request, manifest, *outcome, hooks); !written) return pass_on(written.error());
  return manifest;
}

}  // namespace berth::optimizer
