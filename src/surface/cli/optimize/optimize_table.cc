#include "surface/cli/optimize/optimize_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/core/figure_text.h"
#include "base/json/writer.h"
#include "models/optimize/keep_rules.h"
#include "surface/cli/shared/text_table.h"
#include "surface/figures/optimize_words.h"

namespace berth::cli {
namespace {

using models::BatchLatency;
using models::Findings;
using models::IntervalFigure;
using models::LossFigure;
using models::Manifest;
using models::Metric;
using models::ModelFigures;
using models::VariantFigures;
using models::VariantRecord;
using VariantRow = std::vector<std::string>;

std::string interval_text(const IntervalFigure& figure, Metric metric) {
  if (metric == Metric::kError) return fmt::format("{:.4f}", figure.value);
  return fmt::format("{:.2f}", figure.value * 100);
}

std::string ratio_cell(const BatchLatency& latency) {
  return fmt::format("{:.2f}x{}", latency.ratio.value, latency.is_settled ? "" : "*");
}

VariantRow head_row(const Findings& findings) {
  VariantRow row = {"variant", ""};
  for (const std::int64_t batch : findings.batches) row.push_back(fmt::format("batch {}", batch));
  for (const char* head : {"time", "memory", "file", "nodes", "loss", "judged", "SQNR"}) {
    row.emplace_back(head);
  }
  return row;
}

void add_model_cells(VariantRow& row, const ModelFigures& model) {
  row.push_back(figures::bytes_text(model.run_bytes));
  row.push_back(figures::bytes_text(model.file_bytes));
  row.push_back(with_separators(model.nodes));
}

VariantRow original_row(const Findings& findings) {
  VariantRow row = {"original", ""};
  const auto measured =
      std::ranges::find_if(findings.variants, [](const VariantRecord& each) { return each.figures.has_value(); });
  for (std::size_t i = 0; i < findings.batches.size(); ++i) {
    const bool is_known = measured != findings.variants.end() && i < measured->figures->latency.size();
    row.push_back(is_known ? figures::duration_text(measured->figures->latency[i].original_us)
                           : std::string(kAbsentText));
  }
  row.emplace_back(kAbsentText);
  add_model_cells(row, findings.original);
  row.insert(row.end(), 3, std::string(kAbsentText));
  return row;
}

VariantRow variant_row(const Findings& findings, const VariantRecord& variant) {
  VariantRow row = {variant.name, variant.is_kept ? "kept" : "refused"};
  if (!variant.figures) {
    row.resize(head_row(findings).size(), std::string(kAbsentText));
    return row;
  }
  const VariantFigures& figures = *variant.figures;
  for (const BatchLatency& latency : figures.latency) row.push_back(ratio_cell(latency));
  row.push_back(fmt::format("{:.2f}x ({:.2f}-{:.2f})", figures.time_ratio.value, figures.time_ratio.low,
                            figures.time_ratio.high));
  add_model_cells(row, figures.model);
  row.push_back(interval_text(figures.choosing.loss, findings.metric));
  row.push_back(interval_text(figures.judging.loss, findings.metric));
  row.push_back(std::isfinite(figures.sqnr_db) ? fmt::format("{:.1f} dB", figures.sqnr_db) : "exact");
  return row;
}

std::string opening_lines(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  std::string lines =
      wrapped(fmt::format("{} on {}, one thread ({})", manifest.model.path, manifest.engine, manifest.device));
  lines += '\n';
  const std::string data =
      findings.rows.is_one_data_set
          ? fmt::format("{} of the calibration rows calibrate and choose, the other {} judge", findings.rows.choosing,
                        findings.rows.judging)
          : fmt::format("{} rows calibrate, {} choose, {} judge{}", findings.rows.calibration, findings.rows.choosing,
                        findings.rows.judging,
                        findings.rows.left_out == 0
                            ? ""
                            : fmt::format("; {} left out that also calibrate", findings.rows.left_out));
  lines += wrapped(fmt::format(
      "loss in {}: {}; {}", name_of(findings.metric),
      findings.metric == Metric::kError ? "RMS of the difference / RMS of the original" : "points of percent", data));
  return lines + "\n\n";
}

bool has_unsettled(const Findings& findings) {
  return std::ranges::any_of(findings.variants, [](const VariantRecord& variant) {
    return variant.figures && std::ranges::any_of(variant.figures->latency,
                                                  [](const BatchLatency& latency) { return !latency.is_settled; });
  });
}

/// How many rows a narrower interval takes: the most of all variants.
std::optional<std::int64_t> rows_wanted(const Findings& findings) {
  std::optional<std::int64_t> most;
  for (const VariantRecord& variant : findings.variants) {
    if (!variant.figures) continue;
    for (const LossFigure* half : {&variant.figures->choosing, &variant.figures->judging}) {
      if (half->rows_wanted) most = std::max(most.value_or(0), *half->rows_wanted);
    }
  }
  return most;
}

std::vector<std::string> variant_remarks(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  std::vector<std::string> lines;
  for (const VariantRecord& variant : findings.variants) {
    if (!variant.is_kept) lines.push_back(fmt::format("{}: refused: {}", variant.name, variant.reason));
    for (const models::PassRecord& pass : variant.passes) {
      if (pass.is_undone) lines.push_back(fmt::format("{}: undone: {}: {}", variant.name, pass.name, pass.reason));
    }
  }
  lines.insert(lines.end(), findings.left_out.begin(), findings.left_out.end());
  if (findings.has_fixed_batch) {
    lines.push_back(fmt::format("measured at batch {} alone: a run of this model takes no other number of rows",
                                fmt::join(findings.batches, ", ")));
  }
  if (has_unsettled(findings)) {
    lines.emplace_back("*: the time ran out before the interval of the ratio was within 2 %; --budget-seconds");
  }
  if (const auto rows = rows_wanted(findings)) {
    lines.push_back(
        fmt::format("the interval of a loss is wider than 2 x max-loss: about {} rows in each half would narrow it",
                    with_separators(*rows)));
  }
  return lines;
}

}  // namespace

std::string advice_line(const Manifest& manifest, const std::string& folder) {
  const VariantRecord* const best = find_variant(manifest.findings, manifest.findings.recommended);
  if (best == nullptr) return figures::optimize_advice(manifest, "");
  return figures::optimize_advice(manifest,
                                  folder.empty() ? best->name : fmt::format("{}/{}", folder, variant_path(*best)));
}

std::string optimize_table(const Manifest& manifest, const std::string& folder, bool has_colour) {
  const Findings& findings = manifest.findings;
  std::vector<VariantRow> rows = {head_row(findings), original_row(findings)};
  for (const VariantRecord& variant : findings.variants) rows.push_back(variant_row(findings, variant));
  std::string text = opening_lines(manifest) + styled_table(rows, has_colour) + "\n";
  for (const std::string& line : variant_remarks(manifest)) text += wrapped(line) + "\n";
  return text + wrapped(advice_line(manifest, folder), std::string::npos) + "\n";
}

std::string verify_table(const models::Verification& verification, bool has_colour) {
  std::vector<VariantRow> rows = {{"of", "figure", "wanted", "found", ""}};
  std::int64_t held = 0;
  for (const models::VerifiedFigure& figure : verification.figures) {
    held += figure.holds ? 1 : 0;
    rows.push_back({figure.variant.empty() ? "inputs" : figure.variant, figure.figure, figure.wanted, figure.found,
                    figure.holds ? "holds" : "does not hold"});
  }
  return styled_table(rows, has_colour) + fmt::format("\n{} of {} figures hold.\n", held, verification.figures.size());
}

std::string verify_json(const models::Verification& verification) {
  json::Writer out;
  out.open_object().member("berth", 1).member("holds", verification.holds()).open_list("figures");
  for (const models::VerifiedFigure& figure : verification.figures) {
    out.open_object()
        .member("variant", figure.variant)
        .member("figure", figure.figure)
        .member("wanted", figure.wanted)
        .member("found", figure.found)
        .member("holds", figure.holds)
        .close_object();
  }
  out.close_list().close_object();
  return out.take_line();
}

}  // namespace berth::cli
