#include "surface/cli/schedule/why_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <vector>

#include "base/core/count_words.h"
#include "base/core/figure_text.h"
#include "base/json/writer.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using json::Writer;
using sched::Change;
using sched::ChangeKind;
using sched::Explanation;
using sched::JobIndex;
using sched::Workload;

/// The version of the rules by which `berth` decides and of the explanations; incremented when either changes.
constexpr std::string_view kPolicyVersion = "1";

const std::string& job_name(const Workload& workload, JobIndex job) {
  return workload.job_names[static_cast<std::size_t>(job)];
}

void write_job_names(Writer& json, const Workload& workload, const std::vector<JobIndex>& jobs) {
  json.open_list("jobs");
  for (const JobIndex job : jobs) json.value(job_name(workload, job));
  json.close_list();
}

void write_blocker(Writer& json, const sched::Blocker& blocker) {
  json.open_object();
  json.member("code", name_of(blocker.code));
  json.member("needed", blocker.needed);
  json.member("available", blocker.available);
  json.member("where", blocker.where);
  json.close_object();
}

void write_change(Writer& json, const Workload& workload, const Change& change) {
  json.open_object();
  json.member("change", name_of(change.kind));
  json.member("where", change.where);
  json.member("by", change.by);
  write_job_names(json, workload, change.jobs);
  json.close_object();
}

void write_eta(Writer& json, const std::optional<sched::Eta>& eta) {
  json.open_object("eta");
  if (eta) {
    json.member("p50", eta->p50).member("p90", eta->p90).member("method", eta->method);
  } else {
    json.member("p50", nullptr).member("p90", nullptr).member("method", nullptr);
  }
  json.close_object();
}

/// One decimal; below 1, three significant digits with at most six decimals.
std::string work_text(double gpu_hours) {
  constexpr int kDigitsMax = 6;
  if (gpu_hours >= 1 || gpu_hours == 0) return separated(fmt::format("{:.1f}", gpu_hours));
  int digits = 3;
  for (double size = gpu_hours; size < 0.1 && digits < kDigitsMax; size *= 10) ++digits;
  return fmt::format("{:.{}f}", gpu_hours, digits);
}

std::string change_text(const Workload& workload, const Change& change) {
  switch (change.kind) {
    case ChangeKind::kGpus:
      return counted_noun(change.by, "GPU") + " more";
    case ChangeKind::kLimit:
      return fmt::format("a limit of {} that is higher by {}", change.where, with_separators(change.by));
    case ChangeKind::kPriority:
      return fmt::format("a priority that is higher by {}", with_separators(change.by));
    case ChangeKind::kPreempt:
      break;
  }
  constexpr std::size_t kNamesMax = 5;
  std::string names;
  for (std::size_t i = 0; i < change.jobs.size() && i < kNamesMax; ++i) {
    names += (i == 0 ? "" : ", ") + job_name(workload, change.jobs[i]);
  }
  if (change.jobs.size() > kNamesMax) names += fmt::format(" and {} others", change.jobs.size() - kNamesMax);
  return "preempting " + names;
}

}  // namespace

std::string why_json(const Workload& workload, const Explanation& explanation) {
  Writer json;
  json.open_object();
  json.member("job", job_name(workload, explanation.job));
  json.member("policy", name_of(explanation.policy));
  json.member("as_of", explanation.as_of);
  json.member("verdict", name_of(explanation.verdict));
  json.key("dominant_reason");
  if (explanation.blockers.empty()) {
    json.value(nullptr);
  } else {
    json.value(name_of(explanation.blockers.front().code));
  }
  json.member("message", explanation.message);
  json.open_list("blockers");
  for (const sched::Blocker& blocker : explanation.blockers) write_blocker(json, blocker);
  json.close_list();
  json.open_object("ahead");
  write_job_names(json, workload, explanation.ahead.jobs);
  json.key("gpu_hours").written(fmt::format("{:.6f}", explanation.ahead.gpu_hours));
  json.close_object();
  write_eta(json, explanation.eta);
  json.open_list("counterfactuals");
  for (const Change& change : explanation.changes) write_change(json, workload, change);
  json.close_list();
  json.member("policy_version", fmt::format("{}-{}", name_of(explanation.policy), kPolicyVersion));
  json.close_object();
  return json.take_line();
}

std::string why_text(const Workload& workload, const Explanation& explanation) {
  std::string text = wrapped(explanation.message + ".") + "\n";
  if (!explanation.ahead.jobs.empty()) {
    text += wrapped(fmt::format("Ahead of it: {}, expected to take {} GPU-hours.",
                                counted_noun(std::ssize(explanation.ahead.jobs), "job"),
                                work_text(explanation.ahead.gpu_hours))) +
            "\n";
  }
  if (explanation.verdict == sched::Verdict::kWaiting) {
    text += explanation.changes.empty() ? "No single change would start it at this second.\n"
                                        : "Each of these alone would start it at this second:\n";
  }
  for (const Change& change : explanation.changes) text += "  " + change_text(workload, change) + "\n";
  if (explanation.eta && explanation.verdict == sched::Verdict::kWaiting) {
    text += fmt::format("Probable start: by {} s (50 %), by {} s (90 %), {}.\n", with_separators(explanation.eta->p50),
                        with_separators(explanation.eta->p90), explanation.eta->method);
  }
  return text;
}

std::string slot_json(const std::optional<sched::Slot>& slot) {
  Writer json;
  json.open_object();
  if (slot) {
    json.member("start_s", slot->start);
    json.key("confidence").written(fmt::format("{:.6f}", slot->confidence));
  } else {
    json.member("start_s", nullptr).member("confidence", nullptr);
  }
  json.close_object();
  return json.take_line();
}

std::string slot_text(const sched::SlotWish& wish, const std::optional<sched::Slot>& slot) {
  const std::string what = fmt::format("{} for {} s", counted_noun(wish.gpus, "GPU"), with_separators(wish.length));
  if (!slot) return "No slot of " + what + ".\n";
  return fmt::format("{}: from {} s, with a chance of {:.1f} %.\n", what, with_separators(slot->start),
                     slot->confidence * 100);
}

}  // namespace berth::cli
