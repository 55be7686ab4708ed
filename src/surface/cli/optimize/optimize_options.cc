#include "surface/cli/optimize/optimize_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {
namespace {

using models::Goal;
using models::KeepChoice;
using models::Method;
using models::Metric;
using models::OptimizeRequest;
using models::OptimizeTerms;
using models::RangeRule;

constexpr std::int64_t kOptimizeCudaMax = 63;
constexpr std::int64_t kOptimizeSeedMax = INT64_MAX;

template <class Choice>
Result<Choice> parse_word(std::string_view option, std::string_view wanted, std::string_view text,
                          std::optional<Choice> (*named)(std::string_view)) {
  if (const auto choice = named(text)) return *choice;
  return invalid(fmt::format("{}: wanted {}, found {}", option, wanted, in_quotes(text)));
}

Result<std::vector<Method>> parse_methods(std::string_view text) {
  const auto words = split_words("--methods", text, "methods");
  if (!words) return pass_on(words.error());
  std::vector<Method> methods;
  for (const std::string& word : *words) {
    const auto method = parse_word<Method>("--methods", "some of fuse,prune,int8,fp16", word, models::method_named);
    if (!method) return pass_on(method.error());
    methods.push_back(*method);
  }
  std::ranges::sort(methods);
  return methods;
}

Result<std::vector<std::int64_t>> parse_batches(std::string_view text) {
  const auto words = split_words("--batches", text, "numbers of rows");
  if (!words) return pass_on(words.error());
  std::vector<std::int64_t> batches;
  for (const std::string& word : *words) {
    const auto rows = whole_option("--batches", word, 1, models::kBatchRowsMax);
    if (!rows) return pass_on(rows.error());
    batches.push_back(*rows);
  }
  std::ranges::sort(batches);
  if (std::ranges::adjacent_find(batches) == batches.end()) return batches;
  return invalid("--batches: wanted each once, found one twice: " + in_quotes(text));
}

/// Nothing: not a finite number, or text after it.
std::optional<double> finite_number(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// A percentage; for an error also the figure itself.
Result<double> parse_max_loss(std::string_view text, const std::optional<Metric>& metric) {
  constexpr double kPercent = 100;
  const bool is_percentage = text.ends_with('%');
  const auto number = finite_number(is_percentage ? text.substr(0, text.size() - 1) : text);
  if (!number || (!is_percentage && metric != Metric::kError)) {
    return invalid(fmt::format("--max-loss: wanted a percentage such as 0.5%{}, found {}",
                               metric == Metric::kError ? ", or a number such as 0.01" : "", in_quotes(text)));
  }
  const double loss = is_percentage ? *number / kPercent : *number;
  if (loss >= 0 && loss <= 1) return loss;
  return invalid(
      fmt::format("--max-loss: wanted {}, found {}", is_percentage ? "0% to 100%" : "0 to 1", in_quotes(text)));
}

Result<std::optional<int>> parse_optimize_device(std::string_view text) {
  constexpr std::string_view kCuda = "cuda:";
  if (text == "cpu") return std::nullopt;
  if (text.starts_with(kCuda)) {
    const auto index = parse_count(text.substr(kCuda.size()), kOptimizeCudaMax);
    if (index) return static_cast<int>(*index);
  }
  return invalid(
      fmt::format("--device: wanted cpu, or cuda:N with N from 0 to {}, found {}", kOptimizeCudaMax, in_quotes(text)));
}

Result<std::optional<Metric>> parse_metric(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto metric = parse_word<Metric>("--metric", "accuracy, agreement or error", *text, models::metric_named);
  if (!metric) return pass_on(metric.error());
  return *metric;
}

Result<OptimizeTerms> parse_terms(const OptimizeWords& words) {
  FirstError first;
  OptimizeTerms terms;
  terms.metric = first.take(parse_metric(words.metric));
  terms.max_loss = first.take(parse_max_loss(words.max_loss, terms.metric));
  terms.methods = first.take(parse_methods(words.methods));
  terms.ranges = first.take(parse_word<RangeRule>("--ranges", "best, min-max, percentile or entropy", words.ranges,
                                                  models::range_rule_named));
  terms.batches = first.take(parse_batches(words.batches));
  terms.goal = first.take(parse_word<Goal>("--goal", "latency, memory or file", words.goal, models::goal_named));
  terms.cuda_index = first.take(parse_optimize_device(words.device));
  terms.budget_seconds =
      first.take(seconds_option("--budget-seconds", words.budget_seconds, 1, models::kBudgetSecondsMax));
  terms.seed = static_cast<std::uint64_t>(first.take(whole_option("--seed", words.seed, 0, kOptimizeSeedMax)));
  if (!first.is_clear()) return first.passed_on();
  return terms;
}

Result<void> check_optimize_paths(const OptimizeWords& words) {
  using Path = std::pair<std::string_view, const std::string*>;
  const std::array<Path, 6> paths = {{{"MODEL", &words.model},
                                      {"--calibration", &words.calibration},
                                      {"--evaluation", words.evaluation ? &*words.evaluation : nullptr},
                                      {"--engine", words.engine ? &*words.engine : nullptr},
                                      {"--out", &words.out},
                                      {"--report", words.report ? &*words.report : nullptr}}};
  for (const auto& [option, path] : paths) {
    if (path != nullptr && path->empty()) return invalid(fmt::format("{}: wanted a path, found none", option));
  }
  return {};
}

}  // namespace

OptionTable optimize_option_rows(OptimizeWords& words) {
  return {
      {"MODEL", "FILE", "The model (ONNX)", &words.model, kRequired},
      {"--calibration", "DATA", "Rows: .npz with an array per input (and `label`), or a folder in ONNX's test layout",
       &words.calibration, kRequired},
      {"--evaluation", "DATA", "Rows that choose and judge, a half each [half of the calibration judges]",
       &words.evaluation},
      {"--max-loss", "PERCENT", "The most that a variant may lose, in points; for `error` also a number",
       &words.max_loss},
      {"--methods", "LIST", "Some of fuse,prune,int8,fp16", &words.methods},
      {"--ranges", "WORD", "For int8: best, min-max, percentile or entropy", &words.ranges},
      {"--keep", "WORD", "Which variants are written: better, or all", &words.keep},
      {"--batches", "LIST", "Rows of a run, measured each", &words.batches},
      {"--metric", "WORD", "accuracy, agreement or error [accuracy with labels, else agreement]", &words.metric},
      {"--goal", "WORD", "What must become better: latency, memory or file", &words.goal},
      {"--device", "DEVICE", "cpu or cuda:N", &words.device},
      {"--engine", "FILE", "The library of ONNX Runtime [where scripts/setup puts it]", &words.engine},
      {"--budget-seconds", "N", "For searching and measuring", &words.budget_seconds},
      {"--seed", "N", "Of the halves of the rows", &words.seed},
      {"--out", "DIR", "A folder for each variant that is kept, and manifest.json; new, or empty", &words.out,
       kRequired},
      {"--report", "DIR", "Write a page with charts, DIR/index.html", &words.report},
      {"--format", "WORD", "table or json", &words.format},
  };
}

Result<CheckedOptimize> check_optimize_options(const OptimizeWords& words) {
  if (auto paths = check_optimize_paths(words); !paths) return pass_on(paths.error());
  auto terms = parse_terms(words);
  if (!terms) return pass_on(terms.error());
  const auto keep = parse_word<KeepChoice>("--keep", "better or all", words.keep, models::keep_choice_named);
  if (!keep) return pass_on(keep.error());
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  return CheckedOptimize{.request = {.model = words.model,
                                     .calibration = words.calibration,
                                     .evaluation = words.evaluation,
                                     .terms = *std::move(terms),
                                     .keep = *keep,
                                     .engine = words.engine,
                                     .out = words.out},
                         .report_dir = words.report,
                         .format = *format};
}

}  // namespace berth::cli
