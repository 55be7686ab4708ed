#include "surface/cli/case/case_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

#include "domain/scenario/load.h"
#include "edges/run_journal/run_journal_file.h"
#include "surface/cli/case/case_json.h"
#include "surface/cli/case/case_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/report_folder.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/cli/shared/unwritable.h"
#include "surface/pages/case_report.h"
#include "tier/enforce/forest_speeds.h"

namespace berth::cli {
namespace {

/// More GPUs than any step has, because the journal's writer looks up their model.
constexpr std::int64_t kGpusInJournal = 1'000'000;

Result<Scenario> read_scenario(const CaseRequest& request, const VerbContext& context) {
  auto loaded = scenario::load_scenario_with_warnings(request.scenario_path, *context.files);
  if (!loaded) return pass_on(loaded.error());
  if (const auto model = tier::read_tier_model(loaded->value.tiers); !model) return pass_on(model.error());
  print_warnings(loaded->warnings, context.err);
  Result<Scenario> scenario = std::move(loaded->value);
  if (request.provision_seconds) scenario->provision_seconds = request.provision_seconds;
  if (auto checked = study::check_case(*scenario); !checked) return pass_on(checked.error());
  return scenario;
}

/// Without a price for commitments, the step of commitments is left out.
int step_count(const CaseRequest& request) {
  const auto all = static_cast<int>(study::case_step_names().size());
  return request.options.committed_micro_usd_per_gpu_hour ? all : all - 1;
}

/// The folder of --journal: DIR/STEP.jsonl, a file for each step; they appear when all are complete.
class CaseJournals {
 public:
  explicit CaseJournals(const Scenario& scenario) : scenario_(scenario) {
    scenario_.fleet.front().count = kGpusInJournal;
  }

  /// Files for the first `steps`.
  Result<void> open(const std::optional<std::string>& folder, int steps) {
    if (!folder) return {};
    if (auto made = folder_.make(*folder, "--journal"); !made) return made;
    for (const std::string& step : study::case_step_names() | std::views::take(steps)) {
      const auto path = std::filesystem::path(*folder) / (step + ".jsonl");
      auto file = edges::open_run_journal(path.string(), scenario_);
      if (!file) return unwritable(file.error());
      files_.emplace(step, std::move(*file));
    }
    return {};
  }
  [[nodiscard]] bool is_open() const { return !files_.empty(); }
  void write(std::string_view step, const sim::JournalRecord& record) {
    files_.at(std::string(step)).writer->write(step, record);
  }
  Result<void> commit() {
    for (auto& [step, journal] : files_) {
      if (auto finished = journal.writer->finish(); !finished) return finished;
      if (auto done = journal.file->commit(); !done) return unwritable(done.error());
    }
    folder_.keep();
    return {};
  }

 private:
  Scenario scenario_;
  ReportFolder folder_;
  std::map<std::string, edges::RunJournalFile> files_;
};

/// Shows progress; an interrupt stops it.
Result<study::CaseResult> run_steps(const Scenario& scenario, const CaseRequest& request, const VerbContext& context,
                                    CaseJournals& journals, const RunOutputs& outputs) {
  const auto& names = study::case_step_names();
  ProgressBar bar(context.progress(), step_count(request), steady_now);
  study::CaseHooks hooks;
  hooks.progress = [&](std::string_view step, double done) {
    const auto index = static_cast<int>(std::ranges::find(names, step) - names.begin());
    bar.show(fmt::format("{:<16}", step), index, done);
    return outputs.may_continue();
  };
  if (journals.is_open()) {
    hooks.journal = [&](std::string_view step, const sim::JournalRecord& record) { journals.write(step, record); };
  }
  auto result = study::run_case(scenario, request.options, hooks);
  bar.clear();
  if (!result && result.error().code == ErrorCode::kInterrupted) return pass_on(interrupted_error());
  return result;
}

}  // namespace

Result<std::string> run_case_verb(const CaseRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto scenario = read_scenario(request, context);
  if (!scenario) return pass_on(scenario.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  CaseJournals journals(*scenario);
  if (auto opened = journals.open(request.journal_dir, step_count(request)); !opened) return pass_on(opened.error());
  outputs.add_file([&journals] { return journals.commit(); });
  const auto result = run_steps(*scenario, request, context, journals, outputs);
  if (!result) return pass_on(result.error());
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson ? case_json(*result)
                                                                            : case_table(*result, context.has_colour());
                             },
                         .page = [&] { return report::render_case_report(*scenario, *result); }});
}

}  // namespace berth::cli
