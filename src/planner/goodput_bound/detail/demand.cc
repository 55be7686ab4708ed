#include "planner/goodput_bound/detail/demand.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "base/core/ensure.h"

namespace berth::bound::detail {
namespace {

constexpr double kMicro = 1e-6;
/// A retraining that is kept when the next is due may be completed this many periods later; one that takes longer gets
/// the rest for free, which limits the search.
constexpr std::size_t kPeriodsAhead = 8;

struct BlockAccuracies {
  double before = 0;
  double after = 0;
};

BlockAccuracies accuracies_of(const ServiceSpec& service, int variant) {
  const Accuracy& accuracy =
      variant == 0 ? service.accuracy : service.variants[static_cast<std::size_t>(variant) - 1].accuracy;
  return {.before = static_cast<double>(accuracy.before_micro) * kMicro,
          .after = static_cast<double>(accuracy.after_micro) * kMicro};
}

}  // namespace

/// Progress bought in the cheapest blocks seen so far, at most the amount needed.
class Demand::Basket {
 public:
  struct Portion {
    double price = 0;
    double amount = 0;
    int block = 0;
    friend bool operator<(const Portion& a, const Portion& b) { return a.price < b.price; }
  };

  explicit Basket(double needed) : needed_(needed) {}

  void offer(const Portion& portion) {
    if (portion.amount <= 0) return;
    if (is_full() && !portions_.empty() && !(portion < portions_.top())) return;
    portions_.push(portion);
    amount_ += portion.amount;
    cost_ += portion.price * portion.amount;
    while (!portions_.empty() && amount_ > needed_) {
      Portion most_expensive = portions_.top();
      portions_.pop();
      const double surplus = amount_ - needed_;
      const double out = std::min(surplus, most_expensive.amount);
      amount_ -= out;
      cost_ -= most_expensive.price * out;
      most_expensive.amount -= out;
      if (most_expensive.amount <= 0) continue;
      portions_.push(most_expensive);
      break;
    }
  }

  [[nodiscard]] bool is_full() const { return amount_ >= needed_ * (1 - 1e-12); }
  [[nodiscard]] double cost() const { return cost_; }
  [[nodiscard]] std::priority_queue<Portion> portions() const { return portions_; }

 private:
  double needed_;
  double amount_ = 0;
  double cost_ = 0;
  std::priority_queue<Portion> portions_;  ///< the most expensive on top
};

Demand::Demand(const DemandInput& input)
    : blocks_(input.blocks),
      is_patient_(input.is_patient),
      target_us_(input.service.target.count()),
      goods_(input.serving_goods),
      retraining_good_(input.retraining_good),
      progress_per_second_max_(input.progress_per_second_max) {
  const Retraining* retraining = input.service.retraining ? &*input.service.retraining : nullptr;
  if (retraining != nullptr) {
    keeps_unfinished_ = retraining->keeps_unfinished;
    swap_us_ = retraining->swap.count();
    if (progress_per_second_max_ > 0 && progress_per_second_max_ < kUnlimitedPerSecond) {
      retraining_us_min_ = static_cast<std::int64_t>(std::floor(1e6 / progress_per_second_max_ + 1e-3));
    }
    // The simulator rounds the end of a retraining to microseconds.
    progress_needed_ = retraining_us_min_ > 0 ? 1 - 1 / static_cast<double>(retraining_us_min_) : 0;
  }
  add_periods(retraining);
  set_accuracies(input);
  add_groups(input);
  const auto block_count = static_cast<std::size_t>(blocks_.count());
  stale_answers_.resize(block_count);
  fresh_answers_.resize(block_count);
  if (is_patient_) {
    stale_ahead_.resize(block_count);
    fresh_ahead_.resize(block_count);
  }
  fresh_extra_.resize(block_count + 1);
  stale_choice_.resize(groups_.size());
  fresh_choice_.resize(groups_.size());
  best_from_.resize(periods_.size() + 1);
  best_completion_.resize(periods_.size());
}

// ---- independent of prices

void Demand::add_periods(const Retraining* retraining) {
  const std::int64_t end_us = blocks_.end_us;
  // Answers at the run's last instant count, and a swap that ends at that instant ends before them.
  const std::int64_t after_us = end_us + 1;
  periods_.push_back({.due_us = std::numeric_limits<std::int64_t>::min(), .until_us = after_us});
  if (retraining != nullptr) {
    const std::int64_t every_us = std::max<std::int64_t>(1, retraining->every.count());
    for (std::int64_t due = retraining->offset.count(); due <= end_us; due += every_us) {
      periods_.back().until_us = due;
      periods_.push_back({.due_us = due, .until_us = after_us});
    }
  }
  period_of_.resize(static_cast<std::size_t>(blocks_.count()));
  std::size_t period = 0;
  for (int block = 0; block < blocks_.count(); ++block) {
    while (period + 1 < periods_.size() && periods_[period + 1].due_us <= blocks_.begin_us(block)) {
      periods_[++period].first = block;
    }
    period_of_[static_cast<std::size_t>(block)] = static_cast<int>(period);
  }
  while (++period < periods_.size()) periods_[period].first = blocks_.count();
}

std::int64_t Demand::earliest_fresh_us(const DuePeriod& period) const {
  // Kept progress may be almost complete when the period begins.
  const std::int64_t least_us = keeps_unfinished_ ? 0 : std::max<std::int64_t>(0, retraining_us_min_ - 1);
  return period.due_us + least_us + swap_us_;
}

void Demand::set_accuracies(const DemandInput& input) {
  const auto block_count = static_cast<std::size_t>(blocks_.count());
  stale_.assign(goods_.size(), std::vector<double>(block_count));
  fresh_ = stale_;
  can_be_fresh_.assign(block_count, 0);
  bool has_gain = false;
  for (std::size_t block = 0; block < block_count; ++block) {
    const auto index = static_cast<std::size_t>(period_of_[block]);
    const std::int64_t seen_until_us = blocks_.end_of_us(static_cast<int>(block)) + target_us_;
    // A later period that may be fresh before the last answer of the block's work.
    bool reaches_fresh = false;
    for (std::size_t next = index + 1; next < periods_.size() && periods_[next].due_us <= seen_until_us; ++next) {
      reaches_fresh = reaches_fresh || (retraining_good_ && earliest_fresh_us(periods_[next]) <= seen_until_us);
    }
    const bool is_before_all = index == 0;
    const bool sees_due = index + 1 < periods_.size() && periods_[index + 1].due_us <= seen_until_us;
    const bool is_fresh_in_it =
        !is_before_all && retraining_good_ && earliest_fresh_us(periods_[index]) <= seen_until_us;
    can_be_fresh_[block] = reaches_fresh || is_fresh_in_it ? 1 : 0;
    for (std::size_t i = 0; i < goods_.size(); ++i) {
      const auto [before, after] = accuracies_of(input.service, input.serving_variants[i]);
      const double greater = std::max(before, after);
      const double first = sees_due ? greater : after;
      stale_[i][block] = is_before_all ? first : reaches_fresh ? greater : before;
      fresh_[i][block] = is_before_all ? first : greater;
      has_gain = has_gain || fresh_[i][block] > stale_[i][block];
    }
  }
  if (!has_gain) retraining_good_.reset();
}

void Demand::add_groups(const DemandInput& input) {
  const std::int64_t seconds = std::min(blocks_.end_us / kMicrosPerSecond, input.service.arrivals.seconds);
  std::vector<std::uint32_t> offsets;
  for (std::int64_t second = 0; second < seconds; ++second) {
    const std::int64_t begin_us = second * kMicrosPerSecond;
    if (!input.offsets || is_patient_) {
      add_requests(begin_us, begin_us + kMicrosPerSecond - 1, static_cast<double>(input.count(second)));
      continue;
    }
    offsets.clear();
    input.offsets(second, offsets);
    for (const std::uint32_t offset : offsets) add_requests(begin_us + offset, begin_us + offset, 1);
  }
  share_groups();
}

/// Requests that arrived at some time from `first_us` to `last_us`. Work for an answer in time ends `target` later.
void Demand::add_requests(std::int64_t first_us, std::int64_t last_us, double count) {
  if (count == 0) return;
  requests_ += count;
  const int from = blocks_.of(first_us);
  const int until = is_patient_ ? blocks_.count() - 1
                                : std::max(from, blocks_.of(std::max<std::int64_t>(0, last_us + target_us_ - 1)));
  if (groups_.empty() || groups_.back().from != from || groups_.back().until != until) {
    groups_.push_back({.from = from, .until = until, .count = 0});
  }
  groups_.back().count += count;
}

/// Assigns to each period the groups of its blocks.
void Demand::share_groups() {
  std::size_t group = 0;
  for (std::size_t index = 0; index < periods_.size(); ++index) {
    const int next = index + 1 < periods_.size() ? periods_[index + 1].first : blocks_.count();
    periods_[index].group_begin = group;
    while (group < groups_.size() && groups_[group].from < next) ++group;
    periods_[index].group_end = group;
  }
}

int Demand::first_fresh_block(const DuePeriod& period, int done_block) const {
  const std::int64_t least_us = keeps_unfinished_ ? 0 : std::max<std::int64_t>(0, retraining_us_min_ - 1);
  const std::int64_t done_us = std::max(blocks_.begin_us(done_block), period.due_us + least_us);
  const std::int64_t fresh_us = done_us + swap_us_;
  if (fresh_us >= period.until_us) return -1;
  return std::max(period.first, blocks_.of(std::max<std::int64_t>(0, fresh_us - target_us_)));
}

// ---- at given prices

double Demand::gain(const Rows& prices, double weight, Rows& use) {
  if (goods_.empty()) return 0;
  price_blocks(prices);
  if (is_patient_) price_patiently();
  price_groups();
  plan_retrainings(prices);
  use_everything(prices, weight, use);
  return best_from_.front();
}

void Demand::price_blocks(const Rows& prices) {
  for (int block = 0; block < blocks_.count(); ++block) {
    const auto at = static_cast<std::size_t>(block);
    PricedAnswer stale{.value = -1, .block = block};
    PricedAnswer fresh{.value = -1, .block = block};
    for (std::size_t i = 0; i < goods_.size(); ++i) {
      const double price = prices[goods_[i]][at];
      const int variant = static_cast<int>(i);
      if (stale_[i][at] - price > stale.value) stale = {stale_[i][at] - price, block, variant};
      if (fresh_[i][at] - price > fresh.value) fresh = {fresh_[i][at] - price, block, variant};
    }
    stale_answers_[at] = stale;
    fresh_answers_[at] = fresh;
  }
}

void Demand::price_patiently() {
  PricedAnswer beyond{.value = -1};  // the best in later periods
  for (std::size_t index = periods_.size(); index-- > 0;) {
    const int first = periods_[index].first;
    const int next = index + 1 < periods_.size() ? periods_[index + 1].first : blocks_.count();
    PricedAnswer stale = beyond;
    PricedAnswer fresh = beyond;
    for (int block = next; block-- > first;) {
      const auto at = static_cast<std::size_t>(block);
      stale = std::max(stale, stale_answers_[at]);
      fresh = std::max(fresh, fresh_answers_[at]);
      beyond = std::max(beyond, can_be_fresh_[at] != 0 ? fresh_answers_[at] : stale_answers_[at]);
      stale_ahead_[at] = stale;
      fresh_ahead_[at] = fresh;
    }
  }
}

Demand::PricedAnswer Demand::best_in(const RequestGroup& group, bool is_fresh) const {
  const auto from = static_cast<std::size_t>(group.from);
  if (is_patient_) return is_fresh ? fresh_ahead_[from] : stale_ahead_[from];
  PricedAnswer best = is_fresh ? fresh_answers_[from] : stale_answers_[from];
  for (std::size_t block = from + 1; block <= static_cast<std::size_t>(group.until); ++block) {
    const bool is_own = period_of_[block] == period_of_[from];
    const bool sees_fresh = is_own ? is_fresh : can_be_fresh_[block] != 0;
    best = std::max(best, sees_fresh ? fresh_answers_[block] : stale_answers_[block]);
  }
  return best;
}

void Demand::price_groups() {
  std::ranges::fill(fresh_extra_, 0.0);
  for (std::size_t index = 0; index < periods_.size(); ++index) {
    DuePeriod& period = periods_[index];
    const int next = index + 1 < periods_.size() ? periods_[index + 1].first : blocks_.count();
    period.stale_gain = 0;
    for (std::size_t i = period.group_begin; i < period.group_end; ++i) {
      const RequestGroup& group = groups_[i];
      stale_choice_[i] = best_in(group, false);
      fresh_choice_[i] = index > 0 && retraining_good_ ? best_in(group, true) : stale_choice_[i];
      const double stale = std::max(0.0, stale_choice_[i].value);
      const double fresh = std::max(0.0, fresh_choice_[i].value);
      period.stale_gain += group.count * stale;
      fresh_extra_[static_cast<std::size_t>(std::min(group.until, next - 1))] += group.count * (fresh - stale);
    }
    // From "work that may last until here" to "fresh from here on".
    double sum = 0;
    for (int block = next; block-- > period.first;) sum = (fresh_extra_[static_cast<std::size_t>(block)] += sum);
  }
}

void Demand::plan_retrainings(const Rows& prices) {
  best_from_.back() = 0;
  for (std::size_t from = periods_.size(); from-- > 0;) {
    best_from_[from] = periods_[from].stale_gain + best_from_[from + 1];
    best_completion_[from] = {.period = from, .done = -1};
    if (from > 0 && retraining_good_) try_completions(prices, from);
  }
}

void Demand::try_completions(const Rows& prices, std::size_t from) {
  const std::vector<double>& price = prices[*retraining_good_];
  const std::size_t ahead = keeps_unfinished_ ? kPeriodsAhead : 1;
  Basket basket(progress_needed_);
  int offered_until = blocks_.of(periods_[from].due_us);  // blocks before it are in the basket
  for (std::size_t index = from; index < std::min(from + ahead, periods_.size()); ++index) {
    const DuePeriod& period = periods_[index];
    if (period.until_us <= period.due_us) continue;
    for (int block = blocks_.of(period.due_us); block <= blocks_.of(period.until_us - 1); ++block) {
      for (; offered_until <= block; ++offered_until) {
        const std::int64_t begin_us = std::max(blocks_.begin_us(offered_until), periods_[from].due_us);
        const double seconds = static_cast<double>(blocks_.end_of_us(offered_until) - begin_us) * kMicro;
        basket.offer({.price = price[static_cast<std::size_t>(offered_until)],
                      .amount = seconds * progress_per_second_max_,
                      .block = offered_until});
      }
      if (basket.is_full()) try_completion(from, {.period = index, .done = block}, basket.cost());
    }
  }
  if (!keeps_unfinished_ || from + ahead >= periods_.size()) return;
  const DuePeriod& far = periods_[from + ahead];
  try_completion(from, {.period = from + ahead, .done = blocks_.of(far.due_us), .is_free = true}, 0);
}

void Demand::try_completion(std::size_t from, Completion completion, double cost) {
  const DuePeriod& period = periods_[completion.period];
  const int fresh_from = first_fresh_block(period, completion.done);
  if (fresh_from < 0) return;
  double gain = best_from_[completion.period + 1] - cost;
  for (std::size_t index = from; index <= completion.period; ++index) gain += periods_[index].stale_gain;
  const int next = completion.period + 1 < periods_.size() ? periods_[completion.period + 1].first : blocks_.count();
  if (fresh_from < next) gain += fresh_extra_[static_cast<std::size_t>(fresh_from)];
  if (gain <= best_from_[from]) return;
  best_from_[from] = gain;
  best_completion_[from] = completion;
}

void Demand::use_everything(const Rows& prices, double weight, Rows& use) const {
  constexpr int kNeverFresh = std::numeric_limits<int>::max();
  std::size_t from = 0;
  while (from < periods_.size()) {
    const Completion& completion = best_completion_[from];
    for (; from < completion.period; ++from) use_period(from, kNeverFresh, weight, use);
    if (completion.done < 0) {
      use_period(from, kNeverFresh, weight, use);
    } else {
      use_period(from, first_fresh_block(periods_[from], completion.done), weight, use);
    }
    ++from;
  }
  if (!retraining_good_) return;
  const std::vector<double>& price = prices[*retraining_good_];
  for (std::size_t start = 0; start < periods_.size(); start = best_completion_[start].period + 1) {
    const Completion& completion = best_completion_[start];
    if (completion.done < 0 || completion.is_free) continue;
    Basket basket(progress_needed_);
    for (int block = blocks_.of(periods_[start].due_us); block <= completion.done; ++block) {
      const std::int64_t begin_us = std::max(blocks_.begin_us(block), periods_[start].due_us);
      const double seconds = static_cast<double>(blocks_.end_of_us(block) - begin_us) * kMicro;
      basket.offer({.price = price[static_cast<std::size_t>(block)],
                    .amount = seconds * progress_per_second_max_,
                    .block = block});
    }
    for (auto portions = basket.portions(); !portions.empty(); portions.pop()) {
      use[*retraining_good_][static_cast<std::size_t>(portions.top().block)] += weight * portions.top().amount;
    }
  }
}

void Demand::use_period(std::size_t index, int fresh_from, double weight, Rows& use) const {
  const DuePeriod& period = periods_[index];
  const int next = index + 1 < periods_.size() ? periods_[index + 1].first : blocks_.count();
  for (std::size_t i = period.group_begin; i < period.group_end; ++i) {
    const RequestGroup& group = groups_[i];
    const PricedAnswer& chosen = std::min(group.until, next - 1) >= fresh_from ? fresh_choice_[i] : stale_choice_[i];
    if (chosen.value <= 0) continue;
    use[goods_[static_cast<std::size_t>(chosen.variant)]][static_cast<std::size_t>(chosen.block)] +=
        weight * group.count;
  }
}

}  // namespace berth::bound::detail
