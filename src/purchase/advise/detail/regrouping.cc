#include "purchase/advise/detail/regrouping.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "purchase/advise/detail/gpu_sharing.h"

namespace berth::purchase::advise {
namespace {

constexpr std::int64_t kImpossible = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::size_t kInstancesMax = 5;

/// Pods that stay together.
struct Piece {
  std::vector<std::size_t> rows;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int whole_gpus = 0;
  std::vector<int> shares;
};

Piece piece_of(const Problem& problem, std::vector<std::size_t> rows) {
  Piece piece;
  for (const std::size_t row : rows) {
    const Need& need = problem.class_of_row(row).need;
    piece.cpu_milli += need.cpu_milli;
    piece.memory_mib += need.memory_mib;
    piece.whole_gpus += need.whole_gpus;
    if (need.share_milli > 0) piece.shares.push_back(need.share_milli);
  }
  piece.rows = std::move(rows);
  return piece;
}

/// The cheapest way to divide pieces among boxes. Sets of pieces are bits.
class Division {
 public:
  Division(const Problem& problem, const std::vector<Piece>& pieces, int sharing_nodes)
      : problem_(problem), pieces_(pieces), sharing_nodes_(sharing_nodes) {
    note_accepted();
    const std::size_t sets = std::size_t{1} << pieces.size();
    box_.assign(sets, kNone);
    cost_.assign(sets, kImpossible);
    first_.assign(sets, 0);
    cost_[0] = 0;
    for (std::size_t set = 1; set < sets; ++set) box_[set] = cheapest_box(set);
    for (std::size_t set = 1; set < sets; ++set) divide(set);
  }

  [[nodiscard]] std::int64_t cost() const { return cost_.back(); }
  /// Whether every set of shares that was not packed is proven infeasible.
  [[nodiscard]] bool is_proven() const { return is_proven_; }

  [[nodiscard]] Plan plan() const {
    Plan plan;
    for (std::size_t set = cost_.size() - 1; set != 0; set ^= first_[set]) {
      Filled filled{.box = problem_.choices[box_[first_[set]]], .rows = {}};
      for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
        if ((first_[set] >> piece & 1) == 0) continue;
        filled.rows.insert(filled.rows.end(), pieces_[piece].rows.begin(), pieces_[piece].rows.end());
      }
      plan.push_back(std::move(filled));
    }
    return plan;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  void note_accepted() {
    accepted_.assign(problem_.choices.size(), 0);
    for (std::size_t choice = 0; choice < problem_.choices.size(); ++choice) {
      const Box& box = problem_.boxes[problem_.choices[choice]];
      for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
        const bool is_accepted = std::ranges::all_of(
            pieces_[piece].rows, [&](std::size_t row) { return box.accepts[problem_.class_of_row(row).kind] != 0; });
        if (is_accepted) accepted_[choice] |= std::size_t{1} << piece;
      }
    }
  }

  /// The index of the cheapest choice that holds a set. No choice before that of a subset can hold it.
  [[nodiscard]] std::size_t cheapest_box(std::size_t set) {
    Load load;
    std::vector<int> shares;
    std::size_t choice = 0;
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
      if ((set >> piece & 1) == 0) continue;
      const std::size_t smaller = set ^ (std::size_t{1} << piece);
      if (smaller != 0 && box_[smaller] == kNone) return kNone;
      if (smaller != 0) choice = std::max(choice, box_[smaller]);
      const Piece& of = pieces_[piece];
      load.cpu_milli += of.cpu_milli;
      load.memory_mib += of.memory_mib;
      load.whole_gpus += of.whole_gpus;
      shares.insert(shares.end(), of.shares.begin(), of.shares.end());
    }
    for (; choice < problem_.choices.size(); ++choice) {
      const Box& box = problem_.boxes[problem_.choices[choice]];
      if ((set & ~accepted_[choice]) != 0 || !is_within(load, box)) continue;
      const Sharing sharing = share_gpus(shares, box.gpu_count - load.whole_gpus, sharing_nodes_);
      if (sharing.gpus) return choice;
      is_proven_ = is_proven_ && sharing.is_proven;
    }
    return kNone;
  }

  /// Tries one box for each subset that has the lowest piece, with the best division of the others.
  void divide(std::size_t set) {
    const std::size_t lowest = set & (~set + 1);
    for (std::size_t others = set ^ lowest, part = others;; part = (part - 1) & others) {
      const std::size_t group = part | lowest;
      if (box_[group] != kNone) {
        const std::int64_t cost = problem_.boxes[problem_.choices[box_[group]]].micro_usd + cost_[set ^ group];
        if (cost < cost_[set]) {
          cost_[set] = cost;
          first_[set] = group;
        }
      }
      if (part == 0) break;
    }
  }

  const Problem& problem_;
  const std::vector<Piece>& pieces_;
  int sharing_nodes_;
  bool is_proven_ = true;
  std::vector<std::size_t> accepted_;  ///< by choice: the pieces whose kinds it accepts
  std::vector<std::size_t> box_;       ///< by set: the cheapest choice that holds it
  std::vector<std::int64_t> cost_;     ///< by set
  std::vector<std::size_t> first_;     ///< by set: the group of its lowest piece
};

class Regrouper {
 public:
  Regrouper(const Problem& problem, Plan plan, Rng rng) : problem_(problem), rng_(rng) {
    regrouped_.plan = std::move(plan);
  }

  Regrouped run(const RegroupEffort& effort) {
    for (std::int64_t idle = 0; idle < effort.idle_rounds_max && regrouped_.nodes < effort.nodes_max; ++idle) {
      if (!may_go_on(effort.watch, regrouped_.nodes)) break;
      if (try_once()) idle = 0;
      if (regrouped_.plan.size() == 1 && regrouped_.plan.front().rows.size() == 1) break;
    }
    return std::move(regrouped_);
  }

 private:
  /// Whether the plan has become cheaper.
  bool try_once() {
    Plan& plan = regrouped_.plan;
    const std::vector<std::size_t> taken = some_instances();
    const std::vector<Piece> pieces = pieces_of(taken);
    std::int64_t before = 0;
    for (const std::size_t instance : taken) before += problem_.boxes[plan[instance].box].micro_usd;
    const Division division(problem_, pieces, kSharingNodes);
    regrouped_.nodes += division_nodes(pieces.size());
    if (division.cost() > before) return false;  // its shares were packed by another search
    for (const std::size_t instance : taken) plan[instance].rows.clear();
    std::erase_if(plan, [](const Filled& filled) { return filled.rows.empty(); });
    for (Filled& filled : division.plan()) plan.push_back(std::move(filled));
    return division.cost() < before;
  }

  /// 2 to kInstancesMax instances, or all if there are fewer.
  std::vector<std::size_t> some_instances() {
    const std::size_t count = std::min<std::size_t>(regrouped_.plan.size(), 2 + rng_.below(kInstancesMax - 1));
    std::vector<std::size_t> taken;
    while (taken.size() < count) {
      const std::size_t instance = rng_.below(regrouped_.plan.size());
      if (std::ranges::find(taken, instance) == taken.end()) taken.push_back(instance);
    }
    return taken;
  }

  /// Divides each instance into single pods, as far as the number of pieces allows, and one piece of the rest.
  std::vector<Piece> pieces_of(const std::vector<std::size_t>& taken) {
    std::vector<Piece> pieces;
    std::size_t left = kPiecesMax;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      std::vector<std::size_t> rows = regrouped_.plan[taken[i]].rows;
      const std::size_t share = std::min(rows.size(), std::max<std::size_t>(1, left / (taken.size() - i)));
      for (std::size_t single = 0; single + 1 < share; ++single) {
        const std::size_t at = rng_.below(rows.size());
        pieces.push_back(piece_of(problem_, {rows[at]}));
        rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(at));
      }
      pieces.push_back(piece_of(problem_, std::move(rows)));
      left -= share;
    }
    return pieces;
  }

  const Problem& problem_;
  Rng rng_;
  Regrouped regrouped_;
};

}  // namespace

Regrouped regroup(const Problem& problem, Plan plan, const RegroupEffort& effort, Rng rng) {
  return Regrouper(problem, std::move(plan), rng).run(effort);
}

/// A set costs as much as a node, and each way to divide it an eighth of that.
std::int64_t division_nodes(std::size_t pieces) {
  std::int64_t sets = 1;
  std::int64_t divisions = 1;
  for (std::size_t i = 0; i < pieces; ++i) {
    sets *= 2;
    divisions *= 3;
  }
  return sets + divisions / 8;
}

CheapestPlan cheapest_plan(const Problem& problem) {
  ENSURE(problem.class_of.size() <= kExactPodsMax);
  std::vector<Piece> pieces;
  pieces.reserve(problem.class_of.size());
  for (std::size_t row = 0; row < problem.class_of.size(); ++row) pieces.push_back(piece_of(problem, {row}));
  const Division division(problem, pieces, kSharingNodesThorough);
  return {.plan = division.plan(), .is_proven = division.is_proven(), .nodes = division_nodes(pieces.size())};
}

}  // namespace berth::purchase::advise
