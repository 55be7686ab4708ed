#include "surface/cli/size/size_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/study/size_comparison.h"
#include "sim/study/size_ideas.h"
#include "sim/study/size_remarks.h"
#include "surface/cli/shared/text_table.h"

namespace berth::cli {
namespace {

using study::PolicySize;
using SizeRow = std::vector<std::string>;

std::string starred_name(const PolicySize& policy) { return policy.name + (policy.is_hindsight ? "*" : ""); }

std::string opening_line(const study::SizeResult& result) {
  return fmt::format("{}: how many {} answer {} of each service's requests in time; {} s simulated, {} {}, at most {}",
                     result.scenario, result.gpu_model, (result.options.attainment * Decimal(100)).to_string() + "%",
                     with_separators(result.simulated_seconds), result.options.seeds.size() == 1 ? "seed" : "seeds",
                     fmt::join(result.options.seeds, ", "), study::counted_gpus(result.options.gpus_max));
}

std::vector<SizeRow> size_head_rows(Objective objective) {
  const std::string over = objective == Objective::kServices ? "(mean)" : "(requests)";
  return {{"", "", "", "", "cost vs", "cost vs", "SM-time, %", "effective", "effective", "worst share", "goodput"},
          {"policy", "GPUs", "stable", "cost", "shared", "whole", "alloc>busy>eff", "vs shared", "vs whole", "in time",
           over}};
}

std::string cost_change_text(const std::optional<study::SizeComparison>& compared) {
  return shown(compared, [](const study::SizeComparison& c) {
    const double percent = std::round(c.cost_change * 100);
    return percent == 0 ? std::string("0%") : fmt::format("{:+.0f}%", percent);
  });
}

std::string ratio_text(const std::optional<study::SizeComparison>& compared) {
  if (!compared) return std::string(kAbsentText);
  return shown(compared->effective_ratio, [](double ratio) { return fmt::format("{:.2f}x", ratio); });
}

/// The share of the worst service at the answer, with the first seed.
std::string worst_share_text(const PolicySize& policy) {
  const auto answer = std::ranges::find(policy.tried, *policy.gpus, &study::CountTrial::gpus);
  return shown(answer->seeds.front().worst, study::floored_percent);
}

SizeRow policy_size_row(const study::SizeResult& result, const PolicySize& policy) {
  SizeRow row(size_head_rows({}).front().size(), std::string(kAbsentText));
  row.front() = starred_name(policy);
  if (!policy.gpus) return row;
  const measure::Figures& f = policy.at_answer->figures;
  const auto against_shared = study::compare_sizes(result, policy, "shared");
  const auto against_whole = study::compare_sizes(result, policy, "whole");
  const auto goodput = result.objective == Objective::kServices ? f.goodput_mean_of_services : f.goodput;
  return {row.front(),
          (policy.is_smallest_proven ? "" : "<=") + with_separators(*policy.gpus),
          shown(policy.is_stable, [](bool is_stable) { return std::string(is_stable ? "yes" : "no"); }),
          shown(policy.cost_micro_usd, dollars),
          cost_change_text(against_shared),
          cost_change_text(against_whole),
          fmt::format("{:.0f} > {:.0f} > {:.0f}", f.utilisation.allocated * 100, f.utilisation.busy * 100,
                      f.utilisation.effective * 100),
          ratio_text(against_shared),
          ratio_text(against_whole),
          worst_share_text(policy),
          shown(goodput, [](double value) { return fmt::format("{:.4f}", value); })};
}

/// "4: 97.31%", the smallest share over the seeds that were replayed; a count that holds is marked. Requires: the
/// policy can run with that count.
std::string trial_text(const study::CountTrial& trial) {
  const study::ServiceAttainment* smallest = study::smallest_share(trial);
  const std::string share = smallest != nullptr ? study::floored_percent(*smallest) : "no requests";
  return fmt::format("{}: {}{}", trial.gpus, share, trial.holds ? " ok" : "");
}

std::string cannot_run_text(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}: cannot run", first) : fmt::format("{} to {}: cannot run", first, last);
}

/// One text per count, but a single one for adjacent counts that cannot run.
std::vector<std::string> trial_texts(const std::vector<study::CountTrial>& tried) {
  std::vector<std::string> texts;
  texts.reserve(tried.size());
  for (auto trial = tried.begin(); trial != tried.end(); ++trial) {
    if (study::why_cannot_run(*trial) == nullptr) {
      texts.push_back(trial_text(*trial));
      continue;
    }
    const std::int64_t first = trial->gpus;
    while (std::next(trial) != tried.end() && std::next(trial)->gpus == trial->gpus + 1 &&
           study::why_cannot_run(*std::next(trial)) != nullptr) {
      ++trial;
    }
    texts.push_back(cannot_run_text(first, trial->gpus));
  }
  return texts;
}

/// The counts tried; if there are many, only the first and the last ones, which surround the answer.
std::string tried_line(const PolicySize& policy) {
  constexpr std::size_t kFirst = 4;
  constexpr std::size_t kLast = 16;
  std::vector<std::string> texts = trial_texts(policy.tried);
  if (texts.size() > kFirst + kLast + 1) {
    const std::size_t left_out = texts.size() - kFirst - kLast;
    texts.erase(texts.begin() + kFirst + 1, texts.end() - kLast);
    texts[kFirst] = fmt::format("... {} more ...", left_out);
  }
  return fmt::format("  {}  {}", policy.name, fmt::join(texts, ", "));
}

template <class TextOf>
std::vector<std::string> answer_remarks(const study::SizeResult& result, std::string_view pattern, TextOf text_of) {
  std::vector<Remark> remarks;
  remarks.reserve(result.policies.size());
  for (const PolicySize& policy : result.policies) {
    remarks.push_back({.name = policy.name, .text = policy.at_answer ? text_of(*policy.at_answer) : ""});
  }
  return grouped(pattern, remarks);
}

std::vector<std::string> size_remarks(const study::SizeResult& result) {
  std::vector<std::string> lines;
  const auto add = [&lines](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  if (std::ranges::any_of(result.policies, &PolicySize::is_hindsight)) {
    lines.emplace_back("* works in hindsight: it knows the whole trace beforehand");
  }
  for (const PolicySize& policy : result.policies) {
    for (const std::string& remark : study::size_remarks_on(result.options, policy)) {
      lines.push_back(fmt::format("{}: {}", policy.name, remark));
    }
  }
  add(answer_remarks(result, "{}: {}", [](const measure::PolicyResult& replayed) { return replayed.how; }));
  add(answer_remarks(result, "not obeyed by {}: {}", [](const measure::PolicyResult& replayed) {
    return fmt::format("{}", fmt::join(constraint_names(replayed.ignores), ", "));
  }));
  add(answer_remarks(result, "{}: {}", [](const measure::PolicyResult& replayed) {
    return fmt::format("{}", fmt::join(replayed.notes, "; "));
  }));
  return lines;
}

/// "-2 (-25%)": the change from the previous step, in GPUs and as a share of the first step's.
std::string idea_change_text(const study::SizeResult& result, std::size_t step) {
  const auto& first = result.ideas.front().size.gpus;
  return shown(study::gpus_saved(result.ideas, step), [&](std::int64_t saved) {
    if (!first) return fmt::format("{:+}", -saved);
    const double percent = std::round(-100.0 * static_cast<double>(saved) / static_cast<double>(*first));
    return saved == 0 ? std::string("0") : fmt::format("{:+} ({:+.0f}%)", -saved, percent);
  });
}

std::vector<SizeRow> idea_rows(const study::SizeResult& result) {
  std::vector<SizeRow> rows = {{"", "", "", "change", "worst share"},
                               {"ideas, added one by one", "GPUs", "cost an hour", "of GPUs", "in time"}};
  for (std::size_t step = 0; step < result.ideas.size(); ++step) {
    const auto& [adds, without, size] = result.ideas[step];
    SizeRow& row = rows.emplace_back(rows.front().size(), std::string(kAbsentText));
    row[0] = (step == 0 ? "" : "+ ") + adds + (size.is_hindsight ? "*" : "");
    if (!size.gpus) continue;
    row[1] = (size.is_smallest_proven ? "" : "<=") + with_separators(*size.gpus);
    row[2] = shown(study::micro_usd_per_hour(result, *size.gpus), dollars);
    row[3] = idea_change_text(result, step);
    row[4] = worst_share_text(size);
  }
  return rows;
}

std::string ideas_text(const study::SizeResult& result) {
  if (result.ideas.empty()) return "";
  std::string text;
  for (const std::string& line : aligned(idea_rows(result))) text += line + "\n";
  for (const study::IdeaSize& idea : result.ideas) {
    if (!idea.size.gpus) text += wrapped(fmt::format("{}: {}", idea.adds, idea.size.infeasible.value_or(""))) + "\n";
  }
  return text + "\n";
}

}  // namespace

std::string size_table(const study::SizeResult& result, bool has_colour) {
  std::vector<SizeRow> rows = size_head_rows(result.objective);
  const std::size_t head_count = rows.size();
  for (const PolicySize& policy : result.policies) rows.push_back(policy_size_row(result, policy));

  std::string text = wrapped(opening_line(result)) + "\n\n";
  const std::vector<std::string> lines = aligned(rows);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += i < head_count ? styled_line(has_colour, "2", lines[i]) : lines[i] + "\n";
  }
  text += "\n" + wrapped(study::size_headline(result)) + "\n\n";
  text += ideas_text(result);
  for (const std::string& line : size_remarks(result)) text += wrapped(line) + "\n";
  text += "counts tried, with the share in time of the worst service (ok: the target is reached with every seed):\n";
  for (const PolicySize& policy : result.policies) text += wrapped(tried_line(policy)) + "\n";
  const bool has_one_seed = result.options.seeds.size() == 1;
  text += styled_line(has_colour, "2",
                      fmt::format("{} More: --format json, --report DIR (a page)",
                                  has_one_seed ? "One seed: --seeds 3 shows whether an answer is due to chance."
                                               : "Figures are of the first seed."));
  return text;
}

}  // namespace berth::cli
