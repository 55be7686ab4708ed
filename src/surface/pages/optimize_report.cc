#include "surface/pages/optimize_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "models/optimize/keep_rules.h"
#include "surface/figures/optimize_words.h"
#include "surface/pages/figure_html.h"
#include "surface/pages/ledger_cells.h"
#include "surface/pages/optimize_charts.h"
#include "surface/pages/optimize_layers.h"
#include "surface/pages/optimize_names.h"
#include "surface/pages/page_cells.h"
#include "surface/pages/page_parts.h"

// The page's parts, embedded by the assembler (cmake/BerthEmbed.cmake).
extern "C" {
extern const char optimize_html_begin[];
extern const char optimize_html_end[];
}

namespace berth::report {
namespace {

using figures::Cell;
using figures::FigureTable;
using figures::Row;
using models::BatchLatency;
using models::Findings;
using models::Manifest;
using models::ModelFigures;
using models::VariantFigures;
using models::VariantRecord;

// Facts

std::string max_loss_text(const Manifest& manifest) {
  return models::loss_text(manifest.terms.max_loss, manifest.findings.metric);
}

std::string_view goal_words(models::Goal goal) {
  switch (goal) {
    case models::Goal::kLatency:
      return "latency";
    case models::Goal::kMemory:
      return "memory";
    case models::Goal::kFile:
      return "file size";
  }
  return "";
}

std::string shortfall_line(const Manifest& manifest) {
  const std::string words = figures::optimize_shortfall(manifest);
  return words.empty() ? "" : "  <p class=\"shortfall\">" + whole_name(words) + "</p>\n";
}

std::string metric_words(const Findings& findings) {
  if (!findings.original_score) return std::string(name_of(findings.metric));
  return fmt::format("{}; the original's: {:.2f} %", name_of(findings.metric), *findings.original_score * 100);
}

/// What the recommended variant changes: "1.4 MiB, was 4.1 MiB".
std::string saving_facts(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  const VariantRecord* const best = find_variant(findings, findings.recommended);
  if (best == nullptr || !best->figures) return "";
  const VariantFigures& figures = *best->figures;
  const auto bytes = [](std::int64_t now, std::int64_t before) {
    return fmt::format("{}, was {}", figures::bytes_text(now), figures::bytes_text(before));
  };
  return fact("Time / original", figures::ratio_interval_text(figures.time_ratio)) +
         fact("Memory", bytes(figures.model.run_bytes, findings.original.run_bytes)) +
         fact("File", bytes(figures.model.file_bytes, findings.original.file_bytes)) +
         fact("Loss", figures::loss_interval_text(figures.judging.loss, findings.metric));
}

std::string optimize_facts(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  const std::string data = manifest.evaluation ? fmt::format("{}, {}", isolated(manifest.calibration.path),
                                                             isolated(manifest.evaluation->path))
                                               : isolated(manifest.calibration.path);
  const std::string facts =
      saving_facts(manifest) + fact("Model", isolated(manifest.model.path)) + fact("Rows", data) +
      fact("Of them", figures::rows_text(findings.rows)) +
      fact("Goal", fmt::format("{}, loss of at most {}", goal_words(manifest.terms.goal), max_loss_text(manifest))) +
      fact("Loss in", metric_words(findings));
  return facts + fact("Engine", isolated(manifest.engine)) + fact("Device", isolated(manifest.device)) +
         fact("Version of berth", isolated(manifest.version));
}

// The variants

Cell ratio_cell_of(double ratio, const std::string& text, double most) {
  return {.text = text, .share = most > 0 && std::isfinite(ratio) ? std::optional(ratio / most) : std::nullopt};
}

Cell bytes_cell(std::int64_t bytes, std::int64_t most) {
  return {.text = figures::bytes_text(bytes), .share = figures::share_of(std::max<std::int64_t>(0, bytes), most)};
}

/// The widths of the bars.
struct LargestFigures {
  double ratio = 1;
  std::int64_t run_bytes = 0;
  std::int64_t file_bytes = 0;
};

LargestFigures largest_of(const Findings& findings) {
  LargestFigures most{.run_bytes = findings.original.run_bytes, .file_bytes = findings.original.file_bytes};
  for (const VariantRecord& variant : findings.variants) {
    if (!variant.figures) continue;
    if (std::isfinite(variant.figures->time_ratio.value)) {
      most.ratio = std::max(most.ratio, variant.figures->time_ratio.value);
    }
    most.run_bytes = std::max(most.run_bytes, variant.figures->model.run_bytes);
    most.file_bytes = std::max(most.file_bytes, variant.figures->model.file_bytes);
  }
  return most;
}

std::string verdict_markup(const Findings& findings, const VariantRecord& variant) {
  const std::string_view verdict = variant_verdict(findings, variant);
  if (!variant.is_kept) return fmt::format("<b>refused</b>: {}", whole_name(variant.reason));
  return fmt::format("<b>{}</b>", verdict == "kept" ? "kept" : "kept, recommended");
}

Row variant_row_of(const Findings& findings, const VariantRecord& variant, const LargestFigures& most) {
  Row row{.cells = {{.markup = variant_markup(variant.name)}}, .is_ours = variant.name == findings.recommended};
  if (variant.figures) {
    const VariantFigures& figures = *variant.figures;
    row.cells.push_back(
        ratio_cell_of(figures.time_ratio.value, figures::ratio_interval_text(figures.time_ratio), most.ratio));
    row.cells.push_back(bytes_cell(figures.model.run_bytes, most.run_bytes));
    row.cells.push_back(bytes_cell(figures.model.file_bytes, most.file_bytes));
    row.cells.push_back({.text = figures::loss_interval_text(figures.judging.loss, findings.metric)});
  } else {
    row.cells.resize(5);
  }
  row.cells.push_back({.markup = verdict_markup(findings, variant)});
  return row;
}

FigureTable variants_table(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  const LargestFigures most = largest_of(findings);
  FigureTable table{.columns = {{.label = "Variant"},
                                {.label = "Time", .head = "Time / original"},
                                {.label = "Memory"},
                                {.label = "File"},
                                {.label = "Loss"},
                                {.label = "Verdict"}},
                    .rows = {{.cells = {{.text = "original"},
                                        ratio_cell_of(1, "1 x", most.ratio),
                                        bytes_cell(findings.original.run_bytes, most.run_bytes),
                                        bytes_cell(findings.original.file_bytes, most.file_bytes),
                                        {},
                                        {.text = findings.recommended.empty() ? "keep it" : "as given"}}}}};
  for (const VariantRecord& variant : findings.variants) {
    table.rows.push_back(variant_row_of(findings, variant, most));
  }
  return table;
}

// All figures

const BatchLatency* latency_at(const VariantRecord& variant, std::int64_t batch) {
  if (!variant.figures) return nullptr;
  const auto found = std::ranges::find(variant.figures->latency, batch, &BatchLatency::batch);
  return found == variant.figures->latency.end() ? nullptr : &*found;
}

Cell batch_cell(const BatchLatency* latency) {
  if (latency == nullptr) return {};
  return {.markup =
              fmt::format("<span>{}{} <small>{}, was {}</small></span>", figures::ratio_interval_text(latency->ratio),
                          latency->is_settled ? "" : " *", figures::duration_text(latency->variant_us),
                          figures::duration_text(latency->original_us))};
}

void add_model_cells_of(Row& row, const ModelFigures& model) {
  row.cells.push_back({.text = figures::duration_text(static_cast<double>(model.load_us))});
  row.cells.push_back({.text = figures::bytes_text(model.loaded_bytes)});
  row.cells.push_back({.text = with_separators(model.nodes)});
}

std::string output_sqnr(double sqnr_db) {
  if (std::isfinite(sqnr_db)) return fmt::format("{:.1f} dB", sqnr_db);
  return sqnr_db > 0 ? "exact" : "no signal";
}

Row figures_row(const Findings& findings, const VariantRecord& variant, std::size_t batches) {
  Row row{.cells = {{.markup = variant_markup(variant.name)}}, .is_ours = variant.name == findings.recommended};
  for (std::size_t i = 0; i < batches; ++i) row.cells.push_back(batch_cell(latency_at(variant, findings.batches[i])));
  if (!variant.figures) {
    row.cells.resize(row.cells.size() + 5);
    return row;
  }
  add_model_cells_of(row, variant.figures->model);
  row.cells.push_back({.text = output_sqnr(variant.figures->sqnr_db)});
  row.cells.push_back({.text = figures::loss_interval_text(variant.figures->choosing.loss, findings.metric)});
  return row;
}

FigureTable figures_table(const Findings& findings) {
  const std::size_t batches = std::min(findings.batches.size(), kBatchColumnsMax);
  FigureTable table{.columns = {{.label = "Variant"}}, .rows = {}};
  for (std::size_t i = 0; i < batches; ++i) {
    table.columns.push_back({.label = fmt::format("Batch {}", with_separators(findings.batches[i]))});
  }
  for (const char* label : {"Load", "Memory after load", "Nodes", "SQNR", "Loss on the rows that choose"}) {
    table.columns.push_back({.label = label, .head = fmt::format("<span>{}</span>", label)});
  }
  Row original{.cells = {{.text = "original"}}};
  original.cells.resize(1 + batches);
  add_model_cells_of(original, findings.original);
  original.cells.resize(table.columns.size());
  table.rows.push_back(std::move(original));
  for (const VariantRecord& variant : findings.variants) table.rows.push_back(figures_row(findings, variant, batches));
  return table;
}

std::optional<std::int64_t> most_rows_wanted(const Findings& findings) {
  std::optional<std::int64_t> most;
  for (const VariantRecord& variant : findings.variants) {
    if (!variant.figures) continue;
    for (const models::LossFigure* half : {&variant.figures->choosing, &variant.figures->judging}) {
      if (half->rows_wanted) most = std::max(most.value_or(0), *half->rows_wanted);
    }
  }
  return most;
}

bool is_any_unsettled(const Findings& findings) {
  return std::ranges::any_of(findings.variants, [](const VariantRecord& variant) {
    return variant.figures &&
           std::ranges::any_of(variant.figures->latency, [](const BatchLatency& each) { return !each.is_settled; });
  });
}

/// What limits the figures.
std::string figure_notes(const Findings& findings) {
  std::vector<std::string> notes;
  if (is_any_unsettled(findings)) {
    notes.emplace_back("* the time ran out before the interval of the ratio was within 2 % (--budget-seconds).");
  }
  if (const auto rows = most_rows_wanted(findings)) {
    notes.push_back(fmt::format(
        "The interval of a loss is wider than twice the allowed loss: about {} rows in each half would narrow it.",
        with_separators(*rows)));
  }
  if (findings.batches.size() > kBatchColumnsMax) {
    notes.push_back(fmt::format("The first {} of {} batch sizes; the manifest has all.", kBatchColumnsMax,
                                findings.batches.size()));
  }
  std::string markup;
  for (const std::string& note : notes) markup += "<p class=\"note\">" + note + "</p>\n";
  return markup;
}

// Time and loss

std::string comparison_sections(const Manifest& manifest) {
  const std::string time = time_ratio_figure(manifest);
  if (time.empty()) return "";
  return fmt::format(
      "<section aria-labelledby=\"h-time\">\n  <h2 id=\"h-time\">Time by batch</h2>\n"
      "  <p class=\"lead\">The variant and the original ran in turn; the ratio is the median of the rounds. A hollow "
      "mark "
      "is a refused variant, a star a batch for which the time ran out.</p>\n{}\n{}</section>\n\n"
      "<section aria-labelledby=\"h-loss\">\n  <h2 id=\"h-loss\">Loss against memory</h2>\n"
      "  <p class=\"lead\">To the left: less memory. Further down: less loss. A variant is refused if its loss itself "
      "is "
      "above the line, on either half of the rows; the interval does not count.</p>\n{}\n{}</section>\n",
      time_ratio_key(), time, loss_memory_key(), loss_memory_figure(manifest));
}

// What was left out

std::string left_out_section(const Findings& findings) {
  std::string items;
  std::size_t undone = 0;
  for (const VariantRecord& variant : findings.variants) {
    for (const models::PassRecord& pass : variant.passes) {
      if (!pass.is_undone || ++undone > kUndoneMax) continue;
      items += fmt::format("<li>{}: {} was undone: {}</li>\n", variant_markup(variant.name), name_markup(pass.name),
                           whole_name(pass.reason));
    }
  }
  if (undone > kUndoneMax) {
    items += fmt::format("<li>{} more rewrites were undone; the manifest has all.</li>\n",
                         with_separators(static_cast<std::int64_t>(undone - kUndoneMax)));
  }
  for (const std::string& each : findings.left_out) items += "<li>" + whole_name(each) + "</li>\n";
  if (items.empty()) return "";
  return "<section aria-labelledby=\"h-left\">\n  <h2 id=\"h-left\">Not tried, or undone</h2>\n<ul "
         "class=\"reasons\">\n" +
         items + "</ul>\n</section>\n";
}

}  // namespace

std::string render_optimize_report(const Manifest& manifest) {
  const Findings& findings = manifest.findings;
  const FigureTable variants = variants_table(manifest);
  const FigureTable all = figures_table(findings);
  return fill_page(embedded(optimize_html_begin, optimize_html_end),
                   {{"title", whole_name(manifest.model.path)},
                    {"headline", whole_name(figures::optimize_advice(manifest, findings.recommended))},
                    {"shortfall", shortfall_line(manifest)},
                    {"facts", optimize_facts(manifest)},
                    {"assumed", whole_name(figures::optimize_measured(manifest))},
                    {"columns", figure_heads(variants)},
                    {"rows", figure_rows(variants)},
                    {"charts", comparison_sections(manifest)},
                    {"layers", layers_section(findings)},
                    {"channels", channels_section(findings)},
                    {"figure_columns", figure_heads(all)},
                    {"figure_rows", figure_rows(all)},
                    {"notes", figure_notes(findings)},
                    {"left_out", left_out_section(findings)}});
}

}  // namespace berth::report
