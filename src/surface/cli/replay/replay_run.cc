#include "surface/cli/replay/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/core/figure_text.h"
#include "base/core/text.h"
#include "domain/scenario/load.h"
#include "edges/run_journal/run_journal_file.h"
#include "engine/policy/registry.h"
#include "sim/study/recorded_replay.h"
#include "sim/study/replay.h"
#include "sim/study/replay_bound.h"
#include "surface/cli/journal/recorded_window.h"
#include "surface/cli/replay/replay_json.h"
#include "surface/cli/replay/replay_table.h"
#include "surface/cli/shared/expected_duration.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/shared/text_table.h"
#include "surface/cli/shared/unwritable.h"
#include "surface/pages/report.h"
#include "tier/enforce/forest_speeds.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

bool is_same_path(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  if (fs::equivalent(a, b, ignored)) return true;
  const fs::path whole_a = fs::weakly_canonical(a, ignored);
  return !whole_a.empty() && whole_a == fs::weakly_canonical(b, ignored);
}

/// Refuses an output that would overwrite the input or another output.
Result<void> check_paths(const ReplayRequest& request) {
  if (!request.journal_path) return {};
  const std::string& journal = *request.journal_path;
  if (!request.recorded && is_same_path(journal, request.scenario_path)) {
    return invalid(fmt::format("--journal: wanted another file than the scenario, found {}", in_quotes(journal)));
  }
  if (request.report_dir && is_same_path(journal, report_page_path(*request.report_dir))) {
    return invalid(
        fmt::format("--journal: wanted another file than the page of --report, found {}", in_quotes(journal)));
  }
  return {};
}

/// The replayed scenario, and, if it comes from a journal, what really happened.
struct Source {
  Scenario scenario;
  std::optional<RecordedWindow> recorded;
};

/// Added GPUs get the price of the existing GPUs of their model.
Result<void> add_gpus(const std::vector<FleetEntry>& added, Scenario& scenario) {
  const std::vector<FleetEntry> before = scenario.fleet;
  const auto compares_prices = [](const ServiceSpec& service) { return service.tier.is_auto; };
  const auto& services = std::as_const(scenario.services);
  const auto comparing = std::ranges::find_if(services, compares_prices);
  for (FleetEntry entry : added) {
    const auto same =
        std::ranges::find(before, entry.model.name, [](const FleetEntry& each) { return each.model.name; });
    if (same != before.end()) entry.usd_per_gpu_hour = same->usd_per_gpu_hour;
    if (comparing != services.end() && !entry.usd_per_gpu_hour) {
      return invalid(
          fmt::format("--add-gpus: wanted a model whose price the fleet states, because {} has tier: auto, found {}",
                      comparing->name, entry.model.name));
    }
    scenario.fleet.push_back(std::move(entry));
  }
  const std::int64_t count =
      std::accumulate(scenario.fleet.begin(), scenario.fleet.end(), std::int64_t{0},
                      [](std::int64_t sum, const FleetEntry& entry) { return sum + entry.count; });
  if (count <= kFleetGpusMax) return {};
  return invalid(fmt::format("--add-gpus: wanted at most {} GPUs in all, found {}", kFleetGpusMax, count));
}

Result<Source> read_source(const ReplayRequest& request, const VerbContext& context) {
  if (!request.recorded) {
    auto loaded = scenario::load_scenario_with_warnings(request.scenario_path, *context.files);
    if (!loaded) return pass_on(loaded.error());
    if (const auto model = tier::read_tier_model(loaded->value.tiers); !model) return pass_on(model.error());
    print_warnings(loaded->warnings, context.err);
    return Source{.scenario = std::move(loaded->value), .recorded = std::nullopt};
  }
  auto window = read_window(*request.recorded);
  if (!window) return pass_on(window.error());
  print_remarks(window->remarks, context.err);
  print_warnings(window->warnings, context.err);
  Source source{.scenario = window->scenario, .recorded = *std::move(window)};
  if (auto added = add_gpus(request.added_gpus, source.scenario); !added) return pass_on(added.error());
  return source;
}

/// A row of the results: a policy, and on which fleet.
struct ReplayRow {
  std::string policy;
  bool is_on_recorded_fleet = false;
};

/// With added GPUs each policy is followed by itself on the recorded fleet: what the GPUs change is the difference.
std::vector<ReplayRow> rows_to_run(const ReplayRequest& request, const Scenario& scenario) {
  std::vector<ReplayRow> rows;
  for (const std::string& name : policies_to_run(request, scenario)) {
    const bool is_recorded = name == study::kRecorded;
    rows.push_back({.policy = name, .is_on_recorded_fleet = is_recorded});
    if (!is_recorded && !request.added_gpus.empty()) rows.push_back({.policy = name, .is_on_recorded_fleet = true});
  }
  return rows;
}

/// Unique among the rows.
std::string row_name(const ReplayRow& row) {
  const bool is_second = row.is_on_recorded_fleet && row.policy != study::kRecorded;
  return row.policy + (is_second ? " (recorded fleet)" : "");
}

std::string gpu_count_text(std::int64_t count) { return fmt::format("{} GPU{}", count, count == 1 ? "" : "s"); }

/// "its fleet of 6 GPUs, 2 of them added, costs $6.00".
std::string fleet_note(const measure::RowFleet& fleet, std::int64_t recorded_gpus) {
  const std::int64_t added = fleet.gpus - recorded_gpus;
  return fmt::format("its fleet of {}{} {}", gpu_count_text(fleet.gpus),
                     added > 0 ? fmt::format(", {} of them added,", added) : "",
                     fleet.cost_micro_usd ? "costs " + dollars(*fleet.cost_micro_usd) : "has GPUs without a price");
}

measure::RowFleet row_fleet(const Scenario& scenario, std::string policy) {
  return {.policy = std::move(policy),
          .gpus = scenario.gpu_count(),
          .cost_micro_usd = study::fleet_cost_micro_usd(scenario)};
}

Result<measure::PolicyResult> run_row(const ReplayRequest& request, const Source& source, const ReplayRow& row,
                                      const study::ReplayHooks& hooks) {
  if (row.policy == study::kRecorded) {
    const RecordedWindow& recorded = *source.recorded;
    return study::replay_recorded(recorded.scenario, {.run = recorded.run, .policy = recorded.policy}, request.seed,
                                  hooks);
  }
  const Scenario& scenario = row.is_on_recorded_fleet ? source.recorded->scenario : source.scenario;
  auto result = study::replay_policy(scenario, row.policy, request.seed, hooks, request.settings);
  if (!result || request.added_gpus.empty()) return result;
  result->name = row_name(row);
  result->fleet = row_fleet(scenario, row.policy);
  result->notes.push_back(fleet_note(*result->fleet, source.recorded->scenario.gpu_count()));
  return result;
}

/// Of the rows and of the bound, in their order.
std::vector<double> replay_durations(const std::vector<ReplayRow>& rows, const policy::Settings& settings) {
  constexpr double kOfBound = 2;
  std::vector<double> durations;
  durations.reserve(rows.size() + 1);
  for (const ReplayRow& row : rows) {
    const policy::Policy* policy = policy::find_policy(row.policy);  // none is what was recorded
    durations.push_back(policy == nullptr ? 1 : expected_replay_duration(*policy, settings));
  }
  durations.push_back(kOfBound);
  return durations;
}

/// The main figures of a policy, before the table with all.
std::string found_row(const measure::PolicyResult& policy) {
  if (policy.infeasible) return fmt::format("berth: {} cannot run: {}", policy.name, *policy.infeasible);
  const measure::Figures& figures = policy.figures;
  return fmt::format("berth: {}: {} in time, goodput {}, cost {}", policy.name,
                     shown(figures.slo_attainment, [](double share) { return fmt::format("{:.2f}%", 100 * share); }),
                     shown(figures.goodput_mean_of_services, [](double value) { return fmt::format("{:.4f}", value); }),
                     shown(figures.cost_micro_usd, dollars));
}

Result<study::ReplayResult> run_policies(const ReplayRequest& request, const Source& source, ProgressOutput progress,
                                         edges::RunJournalWriter* journal, const RunOutputs& outputs) {
  const Scenario& scenario = source.scenario;
  const std::vector<ReplayRow> rows = rows_to_run(request, scenario);
  ProgressBar bar(progress, replay_durations(rows, request.settings), steady_now);
  study::ReplayResult result{.scenario = scenario.name,
                             .seed = request.seed,
                             .simulated_seconds = scenario.simulated_seconds(),
                             .cost_micro_usd_fleet = study::fleet_cost_micro_usd(scenario),
                             .objective = scenario.objective,
                             .bound = {},
                             .policies = {}};
  if (!request.added_gpus.empty()) {
    result.recorded_fleet = row_fleet(source.recorded->scenario, std::string(study::kRecorded));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string name = row_name(rows[i]);
    study::ReplayHooks hooks;
    hooks.keeps_insight = request.report_dir.has_value();
    hooks.progress = [&](std::string_view /*policy*/, double done) {
      bar.show(name, static_cast<int>(i), done);
      return outputs.may_continue() && (journal == nullptr || !journal->has_failed());
    };
    if (journal != nullptr) {
      hooks.journal = [journal, &name](std::string_view /*policy*/, const sim::JournalRecord& record) {
        journal->write(name, record);
      };
    }
    const auto began = std::chrono::steady_clock::now();
    Result<measure::PolicyResult> policy = run_row(request, source, rows[i], hooks);
    if (!policy) return pass_on(policy.error());
    policy->wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    bar.note(found_row(*policy));
    result.policies.push_back(std::move(*policy));
  }
  const auto bound = study::replay_bound(scenario, request.seed, [&](double done) {
    bar.show("bound", static_cast<int>(rows.size()), done);
    return outputs.may_continue();
  });
  if (!bound) return pass_on(bound.error());
  result.bound = *bound;
  return result;
}

std::string printed(const ReplayRequest& request, const study::ReplayResult& result, bool has_colour) {
  switch (request.format) {
    case OutputFormat::kJson:
      return replay_json(result, request.has_timings);
    case OutputFormat::kTable:
      return replay_table(result, {.has_colour = has_colour, .has_timings = request.has_timings});
  }
  return {};
}

}  // namespace

Result<std::string> run_replay(const ReplayRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  if (Result<void> paths = check_paths(request); !paths) return pass_on(paths.error());
  const Result<Source> source = read_source(request, context);
  if (!source) return pass_on(source.error());
  const Scenario* scenario = &source->scenario;
  outputs.begin();
  if (Result<void> opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  Result<edges::RunJournalFile> journal = edges::open_run_journal(request.journal_path, *scenario);
  if (!journal) return unwritable(journal.error());
  edges::RunJournalWriter* const writer = journal->writer.get();
  const Result<study::ReplayResult> result = run_policies(request, *source, context.progress(), writer, outputs);
  if (writer != nullptr) {
    // A full disk also stops the replay: the writer's error explains more than the interrupt.
    const bool is_stopped_by_writer = writer->has_failed();
    const Result<void> written = writer->finish();
    if (!written && (result || is_stopped_by_writer)) return pass_on(written.error());
  }
  if (outputs.is_interrupted()) return pass_on(interrupted_error());
  if (!result) return pass_on(result.error());
  if (writer != nullptr) {
    outputs.add_file([&journal]() -> Result<void> {
      auto done = journal->file->commit();
      return done ? done : unwritable(done.error());
    });
  }
  return outputs.finish({.text = [&] { return printed(request, *result, context.has_colour()); },
                         .page = [&] { return report::render_report(*scenario, *result); }});
}

}  // namespace berth::cli
