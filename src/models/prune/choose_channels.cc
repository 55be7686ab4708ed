#include "models/prune/choose_channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "models/prune/detail/prune_curve.h"

namespace berth::models {
namespace {

// Trials of the bisection that are run although the time is over: what was learnt before would be lost without them.
constexpr int kLateTrialsMax = 3;
// A group takes about so many steps from all channels to none.
constexpr std::int64_t kStepsPerGroup = 8;

/// A group that may be pruned.
struct Prunable {
  std::size_t group = 0;  ///< index
  std::vector<ChannelStep> order = {};
  std::optional<PruneCurve> curve = std::nullopt;
  std::int64_t step = 0;
};

/// How many channels each group keeps; for groups in the order of the graph.
using KeptCounts = std::vector<std::int64_t>;

struct PruneStep {
  std::size_t group = 0;
  std::int64_t kept = 0;
};

/// Errors that are not the candidate's.
bool ends_search(const Error& error) {
  return error.code == ErrorCode::kInterrupted || error.code == ErrorCode::kUnavailable;
}

class ChannelSearch {
 public:
  ChannelSearch(const Model& model, std::span<const ChannelGroup> groups, const ChannelStatistics& statistics,
                const Trials& trials, const PruneOptions& options)
      : model_(model), groups_(groups), statistics_(statistics), trials_(trials), options_(options) {}

  [[nodiscard]] Result<PruneOutcome> run();

 private:
  void begin();
  [[nodiscard]] Result<void> try_groups(std::span<const int> percents);
  [[nodiscard]] Result<void> try_group(Prunable& prunable, std::int64_t kept);
  [[nodiscard]] Result<void> bisect();
  [[nodiscard]] Result<void> extend();
  /// All beginnings of the path of steps, the empty one first.
  [[nodiscard]] std::vector<KeptCounts> path() const;
  /// The step that saves the most time for its damage, to fewer channels than `kept` and `below`.
  [[nodiscard]] std::optional<PruneStep> next_step(const KeptCounts& kept, const KeptCounts& below) const;
  /// The loss if it is within the bound.
  [[nodiscard]] Result<std::optional<double>> loss_within(const KeptCounts& kept) const;
  void take(const KeptCounts& kept, double loss);
  [[nodiscard]] KeptCounts all_channels() const;
  [[nodiscard]] std::vector<ChannelChoice> choices(const KeptCounts& kept) const;
  [[nodiscard]] Model pruned(const KeptCounts& kept) const;
  [[nodiscard]] double time_saved(const KeptCounts& kept) const;
  [[nodiscard]] std::int64_t rounded(std::int64_t count) const { return count / options_.multiple * options_.multiple; }

  const Model& model_;
  std::span<const ChannelGroup> groups_;
  const ChannelStatistics& statistics_;
  const Trials& trials_;
  const PruneOptions& options_;

  std::vector<GroupOutcome> outcomes_ = {};
  std::vector<Prunable> prunables_ = {};
  KeptCounts best_ = {};
  double best_loss_ = 0;
  bool is_complete_ = true;
};

Result<PruneOutcome> ChannelSearch::run() {
  begin();
  static constexpr int kFirst[] = {50};
  static constexpr int kThen[] = {75, 25};
  for (const std::span<const int> percents : {std::span<const int>(kFirst), std::span<const int>(kThen)}) {
    if (Result<void> tried = try_groups(percents); !tried) return pass_on(tried.error());
    if (Result<void> found = bisect(); !found) return pass_on(found.error());
  }
  if (Result<void> extended = extend(); !extended) return pass_on(extended.error());

  for (std::size_t g = 0; g < outcomes_.size(); ++g) outcomes_[g].kept = best_[g];
  const std::vector<ChannelChoice> chosen = choices(best_);
  PruneOutcome outcome{.model = chosen.empty() ? model_ : pruned(best_),
                       .groups = std::move(outcomes_),
                       .masks = channel_masks(model_, chosen),
                       .loss = best_loss_,
                       .is_complete = is_complete_};
  return outcome;
}

void ChannelSearch::begin() {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const ChannelGroup& group = groups_[g];
    best_.push_back(group.channels);
    outcomes_.push_back(
        {.name = group.name, .channels = group.channels, .kept = group.channels, .left_out = group.left_out});
    if (group.left_out) continue;
    if (group.channels < options_.channels_min || group.channels <= options_.multiple) {
      outcomes_[g].left_out = fmt::format("fewer than {} channels", options_.channels_min);
      continue;
    }
    Prunable prunable{.group = g, .order = channel_order(model_.graph, group, statistics_, options_.compensation)};
    prunable.step = std::max(rounded(group.channels / kStepsPerGroup), options_.multiple);
    prunables_.push_back(std::move(prunable));
  }
}

Result<void> ChannelSearch::try_groups(std::span<const int> percents) {
  for (const int percent : percents) {
    for (Prunable& prunable : prunables_) {
      GroupOutcome& outcome = outcomes_[prunable.group];
      const std::int64_t wanted = outcome.channels * percent / 100 + options_.multiple / 2;
      const std::int64_t kept = std::max(rounded(wanted), options_.multiple);
      const bool is_known = std::ranges::find(outcome.trials, kept, &GroupTrial::kept) != outcome.trials.end();
      if (outcome.left_out || is_known || kept >= outcome.channels) continue;
      if (!trials_.has_time()) {
        is_complete_ = false;
        if (outcome.trials.empty()) outcome.left_out = "not tried: the time was over";
        continue;
      }
      if (Result<void> tried = try_group(prunable, kept); !tried) return tried;
    }
  }
  for (Prunable& prunable : prunables_) {
    const GroupOutcome& outcome = outcomes_[prunable.group];
    if (!outcome.left_out) prunable.curve = PruneCurve(outcome.channels, outcome.trials, prunable.order);
  }
  return {};
}

Result<void> ChannelSearch::try_group(Prunable& prunable, std::int64_t kept) {
  GroupOutcome& outcome = outcomes_[prunable.group];
  KeptCounts counts = all_channels();
  counts[prunable.group] = kept;
  const Model candidate = pruned(counts);
  GroupTrial trial{.kept = kept};
  const auto measure = [&](auto&& ask, double& into) -> Result<void> {
    const Result<double> answer = ask();
    if (!answer) return pass_on(answer.error());
    into = *answer;
    return {};
  };
  Result<void> measured = measure([&] { return trials_.sqnr_db(candidate); }, trial.noise);
  if (measured) measured = measure([&] { return trials_.loss(candidate); }, trial.loss);
  if (measured) measured = measure([&] { return trials_.time_ratio(candidate, model_); }, trial.time_ratio);
  if (!measured) {
    if (ends_search(measured.error())) return measured;
    outcome.left_out = measured.error().message;
    outcome.trials.clear();
    return {};
  }
  trial.noise = std::pow(10.0, -trial.noise / 10);
  const auto place = std::ranges::find_if(outcome.trials, [&](const GroupTrial& other) { return other.kept < kept; });
  outcome.trials.insert(place, trial);
  return {};
}

/// The loss grows along the path, apart from chance.
Result<void> ChannelSearch::bisect() {
  const std::vector<KeptCounts> beginnings = path();
  std::size_t good = 0;
  std::size_t bad = beginnings.size();
  int late_trials = 0;
  while (bad - good > 1) {
    if (!trials_.has_time() && ++late_trials > kLateTrialsMax) {
      is_complete_ = false;
      break;
    }
    // All of it may be good: that is tried first.
    const std::size_t middle = bad == beginnings.size() && good == 0 ? bad - 1 : good + (bad - good) / 2;
    if (time_saved(beginnings[middle]) <= time_saved(best_)) {
      good = middle;
      continue;
    }
    const Result<std::optional<double>> loss = loss_within(beginnings[middle]);
    if (!loss) return pass_on(loss.error());
    (*loss ? good : bad) = middle;
    if (*loss) take(beginnings[middle], **loss);
  }
  return {};
}

/// Single steps, each of which has to save time from where the search is. One that saves none is passed over, and after
/// one that loses too much the group stays as it is.
Result<void> ChannelSearch::extend() {
  KeptCounts below = all_channels();
  while (const std::optional<PruneStep> next = next_step(best_, below)) {
    if (!trials_.has_time()) {
      is_complete_ = false;
      return {};
    }
    KeptCounts counts = best_;
    counts[next->group] = next->kept;
    const Result<std::optional<double>> loss = loss_within(counts);
    if (!loss) return pass_on(loss.error());
    below[next->group] = *loss ? next->kept : 0;
    if (!*loss) continue;
    const Result<double> time = trials_.time_ratio(pruned(counts), pruned(best_));
    if (!time) return pass_on(time.error());
    if (*time < 1) take(counts, **loss);
  }
  return {};
}

std::vector<KeptCounts> ChannelSearch::path() const {
  const KeptCounts below = all_channels();
  KeptCounts counts = below;
  std::vector<KeptCounts> beginnings = {counts};
  while (const std::optional<PruneStep> next = next_step(counts, below)) {
    counts[next->group] = next->kept;
    beginnings.push_back(counts);
  }
  return beginnings;
}

/// Any number of channels may be next: engines handle some numbers badly, such as those that do not fill their vectors.
std::optional<PruneStep> ChannelSearch::next_step(const KeptCounts& kept, const KeptCounts& below) const {
  std::optional<PruneStep> best;
  double best_worth = 0;
  for (std::size_t i = 0; i < prunables_.size(); ++i) {
    const Prunable& prunable = prunables_[i];
    if (outcomes_[prunable.group].left_out) continue;
    const PruneCurve& curve = *prunable.curve;
    const std::int64_t now = kept[prunable.group];
    std::int64_t next = rounded(std::min(now, below[prunable.group]) - 1);
    for (; next >= curve.kept_min(); next -= prunable.step) {
      const double saved = curve.time_ratio(now) - curve.time_ratio(next);
      const double damage = std::max(curve.damage(next) - curve.damage(now), std::numeric_limits<double>::min());
      if (!(saved > 0) || !(saved / damage > best_worth)) continue;
      best = {prunable.group, next};
      best_worth = saved / damage;
    }
  }
  return best;
}

/// A model that the engine refuses is not within the bound.
Result<std::optional<double>> ChannelSearch::loss_within(const KeptCounts& kept) const {
  const Result<double> loss = trials_.loss(pruned(kept));
  if (!loss && ends_search(loss.error())) return pass_on(loss.error());
  return loss && *loss <= options_.loss_max ? std::optional(*loss) : std::nullopt;
}

void ChannelSearch::take(const KeptCounts& kept, double loss) {
  best_ = kept;
  best_loss_ = loss;
}

KeptCounts ChannelSearch::all_channels() const {
  KeptCounts counts;
  for (const ChannelGroup& group : groups_) counts.push_back(group.channels);
  return counts;
}

std::vector<ChannelChoice> ChannelSearch::choices(const KeptCounts& kept) const {
  std::vector<ChannelChoice> chosen;
  for (const Prunable& prunable : prunables_) {
    const ChannelGroup& group = groups_[prunable.group];
    if (kept[prunable.group] >= group.channels) continue;
    ChannelChoice choice{.group = &group, .kept = std::vector<bool>(static_cast<std::size_t>(group.channels), true)};
    const auto gone = static_cast<std::size_t>(group.channels - kept[prunable.group]);
    for (std::size_t i = 0; i < gone; ++i) choice.kept[prunable.order[i].channel] = false;
    chosen.push_back(std::move(choice));
  }
  return chosen;
}

Model ChannelSearch::pruned(const KeptCounts& kept) const {
  return remove_channels(model_, choices(kept), statistics_, options_.compensation);
}

double ChannelSearch::time_saved(const KeptCounts& kept) const {
  double saved = 0;
  for (const Prunable& prunable : prunables_) {
    if (prunable.curve) saved += 1 - prunable.curve->time_ratio(kept[prunable.group]);
  }
  return saved;
}

}  // namespace

Result<PruneOutcome> choose_channels(const Model& model, std::span<const ChannelGroup> groups,
                                     const ChannelStatistics& statistics, const Trials& trials,
                                     const PruneOptions& options) {
  return ChannelSearch(model, groups, statistics, trials, options).run();
}

}  // namespace berth::models
