#include "surface/cli/place/place_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "domain/lists/node_list.h"
#include "domain/lists/pod_list.h"
#include "scheduling/placement/study.h"
#include "scheduling/placement/study_record.h"
#include "surface/cli/place/decision_lines.h"
#include "surface/cli/place/place_json.h"
#include "surface/cli/place/place_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/pages/place_report.h"

namespace berth::cli {
namespace {

using placement::Problem;

constexpr int kGpuCountMax = 1'000'000'000;

Result<Problem> read_problem(const PlaceRequest& request, const Files& files) {
  const auto nodes_text = files.read(request.nodes_path);
  if (!nodes_text) return pass_on(nodes_text.error());
  const auto nodes = read_nodes(*nodes_text, request.nodes_path);
  if (!nodes) return pass_on(nodes.error());
  const auto pods_text = files.read(request.pods_path);
  if (!pods_text) return pass_on(pods_text.error());
  const auto pods = read_pods(*pods_text, request.pods_path,
                              {.gpu_count_max = kGpuCountMax,
                               .is_profile = placement::is_profile_name,
                               .fits_one_gpu = placement::fits_one_gpu});
  if (!pods) return pass_on(pods.error());
  const bool draws = request.study.order != placement::ArrivalOrder::kGiven;
  if (draws && std::ranges::all_of(*pods, [](const Pod& pod) { return pod.gpu_count == 0; })) {
    return tl::unexpected(
        error_at(request.pods_path, {.line = 1, .column = 1},
                 "wanted a pod that asks for a GPU, found none: no number of them reaches the demand"));
  }
  return placement::make_problem(*nodes, *pods, request.problem);
}

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Observes the runs of a study: progress, interrupts, the file of decisions, the page, times.
class RunWatch {
 public:
  RunWatch(const PlaceRequest& request, const Problem& problem, std::size_t policy_count, const VerbContext& context,
           const RunOutputs& outputs, OutputLines& decisions)
      : request_(request),
        problem_(problem),
        outputs_(outputs),
        decisions_(decisions),
        bar_(context.progress(), static_cast<int>(policy_count), steady_now),
        runs_per_policy_(request.study.order == placement::ArrivalOrder::kGiven ? 1 : request.study.seeds.size()) {
    if (outputs.has_report()) recorder_.emplace(problem, request.study);
  }

  placement::RunListener begin(placement::Policy policy, std::optional<std::uint64_t> seed,
                               const placement::Arrivals& arrivals) {
    const std::size_t run = run_count_++;
    placement::RunListener listener;
    listener.progressed = [this, policy, run](double share) {
      const double done = (static_cast<double>(run % runs_per_policy_) + share) / static_cast<double>(runs_per_policy_);
      bar_.show(fmt::format("{:<11}", placement::name_of(policy)), static_cast<int>(run / runs_per_policy_), done);
      return outputs_.may_continue();
    };
    if (request_.has_timings) listener.clock = steady_ns;
    if (recorder_) recorder_->listen(policy, arrivals, listener);
    if (!decisions_.is_open()) return listener;
    decisions_.add(run_line(problem_, policy, seed, arrivals));
    listener.decided = [this](const auto& cluster, const auto& decision) {
      decisions_.add(decision_line(cluster, decision));
    };
    listener.left = [this](std::int64_t decision) { decisions_.add(departure_line(decision)); };
    listener.moved = [this](const auto& cluster, const auto& move) { decisions_.add(move_line(cluster, move)); };
    return listener;
  }

  void clear_bar() { bar_.clear(); }
  /// Requires: a report is wanted.
  [[nodiscard]] std::string page(const std::vector<placement::PolicyResult>& results) const {
    return report::render_place_report({.nodes_name = request_.nodes_path,
                                        .pods_name = request_.pods_path,
                                        .problem = problem_,
                                        .options = request_.study,
                                        .results = results,
                                        .record = recorder_->record()});
  }

 private:
  const PlaceRequest& request_;
  const Problem& problem_;
  const RunOutputs& outputs_;
  OutputLines& decisions_;
  ProgressBar bar_;
  std::size_t runs_per_policy_;
  std::size_t run_count_ = 0;
  std::optional<placement::StudyRecorder> recorder_;
};

}  // namespace

Result<std::string> run_place(const PlaceRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto problem = read_problem(request, *context.files);
  if (!problem) return pass_on(problem.error());
  const auto policies = place_policies(request, problem->has_cuts());
  if (!policies) return pass_on(policies.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto decisions = outputs.open_lines(request.decisions_path);
  if (!decisions) return pass_on(decisions.error());
  RunWatch watch(request, *problem, policies->size(), context, outputs, **decisions);
  const auto results =
      placement::run_study(*problem, request.study, *policies,
                           [&](placement::Policy policy, std::optional<std::uint64_t> seed,
                               const placement::Arrivals& arrivals) { return watch.begin(policy, seed, arrivals); });
  if (!results) return pass_on(results.error());
  if (!*results) return pass_on(outputs.reason_of_stop());
  watch.clear_bar();
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? place_json(*problem, request.study, **results)
                                          : place_table(*problem, request.study, **results, context.has_colour());
                             },
                         .page = [&] { return watch.page(**results); }});
}

}  // namespace berth::cli
