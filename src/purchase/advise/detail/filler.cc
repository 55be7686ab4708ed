#include "purchase/advise/detail/filler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "base/core/whole_division.h"
#include "base/solver/linear.h"

namespace berth::purchase::advise {
namespace {

/// Fractional bits of resource prices and bounds.
constexpr int kFractionBits = 18;
constexpr std::int64_t kOne = std::int64_t{1} << kFractionBits;
/// How many of its predecessors a label is compared with.
constexpr std::size_t kNeighbours = 24;
/// The most cells of a completion table, and tables of a search.
constexpr std::int64_t kCellsMax = 2048;
constexpr std::size_t kTablesMax = 2;
constexpr int kNoTake = -1;

/// A class that may be in the box.
struct Item {
  std::size_t pods = 0;
  Need need;
  Weights weights = {};
  std::int64_t value = 0;
  int limit = 0;
  std::int64_t profit = 0;  ///< value less the price of its resources, in 1 / kOne
};

/// A box with something in it.
struct Room {
  Weights free = {};
  int whole_gpus = 0;  ///< taken
  int shares = 0;      ///< number of a set
  std::int64_t value = 0;

  [[nodiscard]] int most_of(const Item& item) const {
    std::int64_t most = item.limit;
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      if (item.weights[resource] > 0) most = std::min(most, free[resource] / item.weights[resource]);
    }
    return static_cast<int>(most);
  }

  void take(const Item& item, int count) {
    for (std::size_t resource = 0; resource < kResources; ++resource) free[resource] -= count * item.weights[resource];
    value += count * item.value;
    whole_gpus += count * item.need.whole_gpus;
  }

  /// Adds the shares of `count` pods. Returns whether the box's GPUs hold its content then.
  bool share(const Item& item, int count, const Box& box, ShareSets& sets) {
    if (item.need.share_milli > 0) shares = sets.with(shares, item.need.share_milli, count);
    return whole_gpus + sets.gpus_min(shares) <= box.gpu_count;
  }
};

/// A partial content. `potential`: its value plus the price of its free resources; like `bound` in 1 / kOne.
struct Label {
  Room room;
  std::int64_t potential = 0;
  std::int64_t bound = 0;
  int take = kNoTake;  ///< index of its last `Take`
};

/// One step of a content, and the step before it.
struct Take {
  int before = kNoTake;
  Part part;
};

bool is_better(const Label& a, const Label& b) { return a.bound != b.bound ? a.bound > b.bound : a.take < b.take; }

bool dominates(const Room& a, const Room& b, const ShareSets& sets) {
  if (a.value < b.value) return false;
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    if (a.free[resource] < b.free[resource]) return false;
  }
  return sets.is_no_harder(a.shares, b.shares);
}

/// The most that the items from one on can add when one resource is limited and all others are bought at their prices:
/// a knapsack, by item and by free amount of the resource. Amounts are rounded in favour of the items, to whole cells.
class CompletionTable {
 public:
  CompletionTable(const std::vector<Item>& items, std::size_t resource, std::int64_t capacity, std::int64_t price)
      : resource_(resource),
        cell_(std::max<std::int64_t>(1, (capacity + kCellsMax - 1) / kCellsMax)),
        width_(static_cast<std::size_t>(capacity / cell_ + 2)),
        price_(price),
        gains_((items.size() + 1) * width_) {
    for (std::size_t i = items.size(); i-- > 0;) {
      const auto row = gains_.begin() + static_cast<std::ptrdiff_t>(i * width_);
      const auto below = row + static_cast<std::ptrdiff_t>(width_);
      std::copy(below, below + static_cast<std::ptrdiff_t>(width_), row);
      add_item(items[i], &gains_[i * width_]);
    }
  }

  /// The bound of a label before item number `item` is decided.
  [[nodiscard]] std::int64_t bound_of(const Label& label, std::size_t item) const {
    const std::int64_t free = label.room.free[resource_];
    const auto cells = static_cast<std::size_t>((free + cell_ - 1) / cell_);
    return label.potential - price_ * free + gains_[item * width_ + cells];
  }

 private:
  /// Up to `limit` of them, as bundles of 1, 2, 4 ... and the rest.
  void add_item(const Item& item, std::int64_t* gains) const {
    const std::int64_t gain = item.profit + price_ * item.weights[resource_];
    if (gain <= 0) return;
    std::int64_t left = item.limit;
    for (std::int64_t bundle = 1; left > 0; bundle *= 2) {
      const std::int64_t count = std::min(bundle, left);
      left -= count;
      // Rounded down once for the bundle, so less is lost.
      const auto cells = static_cast<std::size_t>(count * item.weights[resource_] / cell_);
      for (std::size_t free = width_; free-- > cells;) {
        gains[free] = std::max(gains[free], gains[free - cells] + count * gain);
      }
    }
  }

  std::size_t resource_;
  std::int64_t cell_;
  std::size_t width_;
  std::int64_t price_;
  std::vector<std::int64_t> gains_;
};

/// The linear relaxation of filling a room: the dual prices of the resources, in 1 / kOne, and its optimum.
struct RoomPrices {
  Weights prices = {};
  Mixture mixture;
};

RoomPrices price_room(const std::vector<Item>& items, const Weights& free) {
  RoomPrices priced;
  solver::LinearModel model;
  model.rows.resize(kResources);
  model.columns.reserve(items.size());
  for (const Item& item : items) {
    model.columns.push_back(
        {.cost = -static_cast<double>(item.value), .lower = 0, .upper = static_cast<double>(item.limit)});
  }
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    solver::Row& row = model.rows[resource];
    const double unit = std::max(1.0, static_cast<double>(free[resource]));
    row.upper = static_cast<double>(free[resource]) / unit;
    row.entries.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto weight = static_cast<double>(items[i].weights[resource]);
      if (weight > 0) row.entries.push_back({.column = static_cast<int>(i), .factor = weight / unit});
    }
  }
  const solver::LpAnswer answer = solver::solve_lp(model);
  if (answer.status != solver::Status::kOptimal) return priced;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (answer.values[i] > 0) priced.mixture.emplace_back(items[i].pods, answer.values[i]);
  }
  for (std::size_t resource = 0; resource < kResources; ++resource) {
    const double worth = -answer.row_prices[resource];  // of the whole free amount
    // With this limit sums stay within 64 bits.
    if (!(worth > 0) || worth > static_cast<double>(kFillValueMax)) continue;
    const double unit = std::max(1.0, static_cast<double>(free[resource]));
    priced.prices[resource] = static_cast<std::int64_t>(std::ceil(worth / unit * static_cast<double>(kOne)));
  }
  return priced;
}

/// State shared by all searches for one box.
struct Hunt {
  const Box& box;
  ShareSets& sets;
  std::size_t labels_max = 0;
  std::int64_t best_value = 0;  ///< found, or the target
  Content best;
  std::int64_t nodes = 0;
};

/// The dynamic program: the best additions to a room.
class Search {
 public:
  /// Requires: each item fits the room.
  Search(Hunt& hunt, const Room& room, std::vector<Item> items) : hunt_(hunt), items_(std::move(items)) {
    if (!items_.empty()) set_prices(room.free);
    Label first{.room = room, .potential = room.value * kOne, .bound = 0, .take = kNoTake};
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      first.potential += prices_[resource] * room.free[resource];
    }
    first.bound = bound_of(first, 0);
    if (!is_hopeful(first)) return;
    make_tables(room.free);
    first.bound = bound_of(first, 0);
    if (is_hopeful(first)) labels_ = {first};
  }

  /// Improves the best content of the hunt, and returns a bound for all contents of the room.
  std::int64_t run(const Content& fixed) {
    for (std::size_t item = 0; item < items_.size() && !labels_.empty(); ++item) {
      extend(item);
      keep_best();
      drop_dominated();
    }
    if (best_take_) take_content(fixed);
    return std::max(hunt_.best_value, lost_bound_);
  }

  /// The optimum of the linear relaxation of the room.
  [[nodiscard]] const Mixture& mixture() const { return mixture_; }

 private:
  void set_prices(const Weights& free) {
    RoomPrices priced = price_room(items_, free);
    prices_ = priced.prices;
    mixture_ = std::move(priced.mixture);
    for (Item& item : items_) {
      item.profit = item.value * kOne;
      for (std::size_t resource = 0; resource < kResources; ++resource) {
        item.profit -= prices_[resource] * item.weights[resource];
      }
    }
    gain_behind_.assign(items_.size() + 1, 0);
    for (std::size_t i = items_.size(); i-- > 0;) {
      gain_behind_[i] = gain_behind_[i + 1] + items_[i].limit * std::max<std::int64_t>(items_[i].profit, 0);
    }
  }

  void make_tables(const Weights& free) {
    std::vector<std::pair<std::int64_t, std::size_t>> worths;  // negated, to sort
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      if (prices_[resource] > 0) worths.emplace_back(-prices_[resource] * free[resource], resource);
    }
    std::ranges::sort(worths);
    for (std::size_t i = 0; i < std::min(kTablesMax, worths.size()); ++i) {
      const std::size_t resource = worths[i].second;
      tables_.emplace_back(items_, resource, free[resource], prices_[resource]);
    }
  }

  /// An upper bound for a label before item number `item` is decided.
  [[nodiscard]] std::int64_t bound_of(const Label& label, std::size_t item) const {
    std::int64_t bound = label.potential + gain_behind_[item];
    for (const CompletionTable& table : tables_) bound = std::min(bound, table.bound_of(label, item));
    return bound;
  }

  [[nodiscard]] bool is_hopeful(const Label& label) const { return label.bound >= (hunt_.best_value + 1) * kOne; }

  /// All labels, with any number of pods of this item added.
  void extend(std::size_t number) {
    const Item& item = items_[number];
    next_.clear();
    for (const Label& label : labels_) {
      const int most = label.room.most_of(item);
      for (int count = most; count >= 0; --count) {
        Label longer = label;
        longer.room.take(item, count);
        longer.potential += count * item.profit;
        longer.bound = bound_of(longer, number + 1);
        if (!is_hopeful(longer) || !longer.room.share(item, count, hunt_.box, hunt_.sets)) continue;
        if (count > 0) {
          longer.take = static_cast<int>(takes_.size());
          takes_.push_back({.before = label.take, .part = {.pods = item.pods, .count = count}});
        }
        note_value(longer);
        next_.push_back(longer);
      }
      hunt_.nodes += most + 1;
    }
    labels_.swap(next_);
  }

  void note_value(const Label& label) {
    if (label.room.value <= hunt_.best_value) return;
    hunt_.best_value = label.room.value;
    best_take_ = label.take;
  }

  /// Sorts by bounds; discards the labels beyond the limit and those whose bound no longer exceeds the best value.
  void keep_best() {
    if (labels_.size() > hunt_.labels_max) {
      const auto end = labels_.begin() + static_cast<std::ptrdiff_t>(hunt_.labels_max);
      std::ranges::nth_element(labels_, end, is_better);
      lost_bound_ = std::max(lost_bound_, floor_divide(end->bound, kOne));
      labels_.erase(end, labels_.end());
    }
    std::erase_if(labels_, [&](const Label& label) { return !is_hopeful(label); });
    std::ranges::sort(labels_, is_better);
  }

  void drop_dominated() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const std::size_t from = kept > kNeighbours ? kept - kNeighbours : 0;
      const auto begin = labels_.begin() + static_cast<std::ptrdiff_t>(from);
      const auto end = labels_.begin() + static_cast<std::ptrdiff_t>(kept);
      const auto is_above = [&](const Label& label) { return dominates(label.room, labels_[i].room, hunt_.sets); };
      if (std::any_of(begin, end, is_above)) continue;
      labels_[kept++] = labels_[i];
    }
    labels_.resize(kept);
  }

  void take_content(const Content& fixed) {
    hunt_.best = fixed;
    for (int take = *best_take_; take != kNoTake; take = takes_[static_cast<std::size_t>(take)].before) {
      hunt_.best.push_back(takes_[static_cast<std::size_t>(take)].part);
    }
    std::ranges::sort(hunt_.best);
  }

  Hunt& hunt_;
  std::vector<Item> items_;
  Weights prices_ = {};
  std::vector<std::int64_t> gain_behind_ = {0};  ///< by item: the most that it and those after it add to a potential
  std::vector<CompletionTable> tables_;
  std::vector<Label> labels_;
  std::vector<Label> next_;
  std::vector<Take> takes_;
  Mixture mixture_;
  std::optional<int> best_take_;
  std::int64_t lost_bound_ = 0;  ///< of the labels discarded beyond the limit
};

/// A part of the question, in which the counts of the first items are fixed.
struct Branch {
  Content fixed;
  Room room;
  std::size_t decided = 0;
  std::int64_t bound = 0;
  Mixture mixture = {};  ///< of the possible additions
};

class BoxFiller {
 public:
  BoxFiller(const Problem& problem, const FillQuestion& question, ShareSets& sets)
      : question_(question),
        hunt_{.box = problem.boxes[question.box],
              .sets = sets,
              .labels_max = question.labels_max,
              .best_value = std::max<std::int64_t>(question.target, 0),
              .best = {},
              .nodes = 0} {
    choose_items(problem);
  }

  FillAnswer fill() {
    search({.fixed = {},
            .room = {.free = hunt_.box.capacity, .whole_gpus = 0, .shares = 0, .value = 0},
            .decided = 0,
            .bound = std::numeric_limits<std::int64_t>::max()});
    while (searches_ < question_.searches_max && !open_.empty()) {
      const auto best = std::ranges::max_element(open_, {}, &Branch::bound);
      if (best->bound <= hunt_.best_value) break;
      const Branch branch = std::move(*best);
      open_.erase(best);
      split(branch);
    }
    FillAnswer answer{.content = {}, .mixture = {}, .value = 0, .bound = hunt_.best_value, .nodes = hunt_.nodes};
    const auto worst = std::ranges::max_element(open_, {}, &Branch::bound);
    if (worst != open_.end() && worst->bound > answer.bound) {
      answer.bound = worst->bound;
      answer.mixture = mixture_of(*worst);
    }
    if (!hunt_.best.empty()) answer.value = hunt_.best_value;
    answer.content = std::move(hunt_.best);
    return answer;
  }

 private:
  /// Chooses the items, those that take most of the box first.
  void choose_items(const Problem& problem) {
    std::vector<std::pair<double, Item>> found;
    const Room empty{.free = hunt_.box.capacity};
    for (std::size_t pods = 0; pods < problem.classes.size(); ++pods) {
      const PodClass& of = problem.classes[pods];
      if (question_.values[pods] <= 0 || question_.limits[pods] <= 0 || !holds_alone(hunt_.box, of)) continue;
      Item item{.pods = pods,
                .need = of.need,
                .weights = of.weights,
                .value = question_.values[pods],
                .limit = question_.limits[pods],
                .profit = 0};
      item.limit = empty.most_of(item);
      double size = 0;
      for (std::size_t resource = 0; resource < kResources; ++resource) {
        const auto capacity = static_cast<double>(std::max<std::int64_t>(1, hunt_.box.capacity[resource]));
        size = std::max(size, static_cast<double>(of.weights[resource]) / capacity);
      }
      found.emplace_back(-size, item);
    }
    std::ranges::sort(found, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second.pods < b.second.pods;
    });
    items_.reserve(found.size());
    for (auto& [size, item] : found) items_.push_back(item);
  }

  /// Searches a branch; keeps it for splitting if the search was not complete.
  void search(Branch branch) {
    ++searches_;
    std::vector<Item> left;
    for (std::size_t i = branch.decided; i < items_.size(); ++i) {
      Item item = items_[i];
      item.limit = branch.room.most_of(item);
      if (item.limit > 0) left.push_back(item);
    }
    if (branch.room.value > hunt_.best_value) {
      hunt_.best_value = branch.room.value;
      hunt_.best = branch.fixed;
      std::ranges::sort(hunt_.best);
    }
    Search search(hunt_, branch.room, std::move(left));
    branch.bound = std::min(branch.bound, search.run(branch.fixed));
    branch.mixture = search.mixture();
    if (branch.bound > hunt_.best_value) open_.push_back(std::move(branch));
  }

  /// The optimum of the linear relaxation of a branch, scaled to be worth no more than its bound.
  [[nodiscard]] Mixture mixture_of(const Branch& branch) const {
    Mixture mixture = branch.mixture;
    for (const Part& part : branch.fixed) mixture.emplace_back(part.pods, static_cast<double>(part.count));
    double value = 0;
    for (const auto& [pods, count] : mixture) value += count * static_cast<double>(question_.values[pods]);
    for (auto& [pods, count] : mixture) count *= static_cast<double>(branch.bound) / value;
    return mixture;
  }

  void split(const Branch& branch) {
    std::size_t number = branch.decided;
    while (number < items_.size() && branch.room.most_of(items_[number]) == 0) ++number;
    ENSURE(number < items_.size());  // else the search was complete
    const Item& item = items_[number];
    for (int count = branch.room.most_of(item); count >= 0; --count) {
      Branch part{.fixed = branch.fixed, .room = branch.room, .decided = number + 1, .bound = branch.bound};
      part.room.take(item, count);
      if (!part.room.share(item, count, hunt_.box, hunt_.sets)) continue;
      if (count > 0) part.fixed.push_back({.pods = item.pods, .count = count});
      search(std::move(part));
    }
  }

  const FillQuestion& question_;
  Hunt hunt_;
  std::vector<Item> items_;
  std::vector<Branch> open_;
  int searches_ = 0;
};

}  // namespace

FillAnswer fill_box(const Problem& problem, const FillQuestion& question, ShareSets& sets) {
  ENSURE(question.target <= kFillValueMax && question.labels_max > 0);
  FillAnswer answer = BoxFiller(problem, question, sets).fill();
  if (is_held(problem, question.box, answer.content)) return answer;
  // The shares were assumed to fit because the search for their GPUs reached its limit.
  answer.content.clear();
  answer.value = 0;
  return answer;
}

bool is_held(const Problem& problem, std::size_t box, const Content& content) {
  const Box& of = problem.boxes[box];
  Weights used = {};
  int whole_gpus = 0;
  std::vector<int> shares;
  for (const Part& part : content) {
    const PodClass& pods = problem.classes[part.pods];
    if (of.accepts[pods.kind] == 0) return false;
    for (std::size_t resource = 0; resource < kResources; ++resource) {
      used[resource] += part.count * pods.weights[resource];
      if (used[resource] > of.capacity[resource]) return false;
    }
    whole_gpus += part.count * pods.need.whole_gpus;
    if (pods.need.share_milli > 0)
      shares.insert(shares.end(), static_cast<std::size_t>(part.count), pods.need.share_milli);
  }
  return share_gpus(shares, of.gpu_count - whole_gpus, kSharingNodes).gpus.has_value();
}

}  // namespace berth::purchase::advise
