#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/core/figure_text.h"
#include "base/json/writer.h"
#include "surface/cli/shared/option_words.h"
#include "surface/cli/shared/text_table.h"
#include "surface/cli/tier/tier_subcommands.h"
#include "tier/estimate/estimator.h"

namespace berth::cli {
namespace {

using tier::Estimator;
using tier::TrainingFigures;

constexpr const char* kExplainHelp =
    "Shows what a forest was trained on, its features by gain, and how well it is calibrated.";

constexpr const char* kExplainExamples = R"(Examples:
  berth tier explain forest
  berth tier explain forest --format json

Exit status: 0 done, 2 bad input.)";

constexpr std::size_t kGroupsShownMax = 12;

/// As typed.
struct TierExplainWords {
  std::string forest = {};
  std::string format = "table";
};

OptionTable tier_explain_option_rows(TierExplainWords& words) {
  return {
      {"FOREST", "FILE", "A file of berth tier train", &words.forest, kRequired},
      {"--format", "WORD", "table or json", &words.format},
  };
}

bool is_of_jobs(const Estimator& forest) { return forest.kind() == tier::TierKind::kJobs; }

std::string explain_json(const Estimator& forest) {
  const TrainingFigures& figures = forest.trained_on();
  json::Writer out;
  out.open_object().member("berth", 1).member("kind", is_of_jobs(forest) ? "jobs" : "services");
  out.list("tiers", forest.tiers(), [](json::Writer& list, const tier::Tier& tier) { list.value(tier.name); });
  out.list("groups", figures.groups)
      .member("workloads", figures.workload_count)
      .member("rows", figures.row_count)
      .member("error_median", figures.error_median);
  out.list("features", forest.gains(), [](json::Writer& list, const tier::FeatureShare& gain) {
    list.open_object().member("feature", gain.feature).member("gain", gain.share).close_object();
  });
  out.list("calibration", figures.coverage, [](json::Writer& list, const tier::Coverage& each) {
    list.open_object().member("stated", each.stated).member("found", each.found).close_object();
  });
  out.close_object();
  return out.take_line();
}

std::string groups_text(const std::vector<std::string>& groups) {
  std::string text;
  for (std::size_t i = 0; i < groups.size() && i < kGroupsShownMax; ++i) text += (i == 0 ? "" : ", ") + groups[i];
  return text + (groups.size() > kGroupsShownMax ? ", ..." : "");
}

std::string explain_table(const Estimator& forest, bool has_colour) {
  const TrainingFigures& figures = forest.trained_on();
  std::string tiers;
  for (const tier::Tier& each : forest.tiers()) tiers += (tiers.empty() ? "" : ", ") + each.name;
  std::vector<std::vector<std::string>> gains = {{"feature", "share of the gain"}};
  for (const tier::FeatureShare& gain : forest.gains()) gains.push_back({gain.feature, percent(gain.share)});
  std::vector<std::vector<std::string>> calibration = {{"central interval", "found in it"}};
  for (const tier::Coverage& each : figures.coverage) {
    calibration.push_back({percent(each.stated), percent(each.found)});
  }
  return wrapped(fmt::format("For {}; tiers: {}", is_of_jobs(forest) ? "jobs" : "services", tiers)) + "\n" +
         wrapped(fmt::format("Trained on {} workloads of {} models: {}",
                             with_separators(static_cast<std::int64_t>(figures.workload_count)), figures.groups.size(),
                             groups_text(figures.groups))) +
         "\n\n" + styled_table(gains, has_colour) + "\n" +
         wrapped("Calibration by leaving groups out, with the anchor alone known:") + "\n" +
         styled_table(calibration, has_colour) + "\n" +
         wrapped(fmt::format("By leaving groups out, half of the predictions are within a factor of {:.3f}.",
                             std::exp(figures.error_median))) +
         "\n";
}

Result<std::string> explain(const TierExplainWords& words, const VerbContext& context) {
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  const auto text = context.files->read(words.forest);
  if (!text) return pass_on(text.error());
  const auto forest = Estimator::read(*text, words.forest);
  if (!forest) return pass_on(forest.error());
  return *format == OutputFormat::kJson ? explain_json(*forest) : explain_table(*forest, context.has_colour());
}

}  // namespace

Verb tier_explain_subcommand() {
  return with_words(
      {.name = "explain", .help = kExplainHelp, .examples = kExplainExamples}, tier_explain_option_rows,
      [](const TierExplainWords& words, VerbContext& context) { finish(context, explain(words, context)); });
}

}  // namespace berth::cli
