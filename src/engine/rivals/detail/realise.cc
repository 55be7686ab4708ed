#include "engine/rivals/detail/realise.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "engine/rivals/detail/fleet_search.h"

namespace berth::partition::detail {
namespace {

/// A piece of a GPU's plan, and its owner.
struct OwnedPiece {
  int kind = 0;
  int owner = kNoOwner;
};

int worth_of_slice(int owner) { return owner == kNoOwner ? 1 : kStayingSlice; }

/// How many pieces of each kind each owner still needs.
class OwnersLeft {
 public:
  OwnersLeft(const FleetView& fleet, const ModelCounts& counts) : service_count_(fleet.service_count) {
    left_.reserve(counts.serving.size());
    for (std::size_t kind = 0; kind < counts.serving.size(); ++kind) {
      left_.push_back(counts.serving[kind]);
      left_.back().insert(left_.back().end(), counts.retraining[kind].begin(), counts.retraining[kind].end());
    }
  }

  bool take(const OwnedPiece& piece) {
    if (piece.owner == kNoOwner || left_[piece.kind][piece.owner] == 0) return false;
    --left_[piece.kind][piece.owner];
    return true;
  }

  void give_back(const OwnedPiece& piece) { ++left_[piece.kind][piece.owner]; }

  /// The first owner that still needs one, or kNoOwner.
  int take_any(int kind) {
    for (int owner = 0; owner < std::ssize(left_[kind]); ++owner) {
      if (take({kind, owner})) return owner;
    }
    return kNoOwner;
  }

  [[nodiscard]] bool is_retraining(int owner) const { return owner >= service_count_; }

 private:
  int service_count_;
  std::vector<std::vector<int>> left_;  ///< [kind][owner]
};

/// The part of one GPU's plan that is preserved when it is repartitioned.
struct Kept {
  int worth = 0;
  std::vector<OwnedPiece> owned;  ///< that stay with their owners
};

/// Chooses shapes and partitions for the GPUs of one model.
class PartitionChoice {
 public:
  /// Requires: the arguments outlive it; as many shapes as GPUs.
  PartitionChoice(const FleetView& fleet, int model, const ModelCounts& counts, const FleetPlan& standing)
      : view_(fleet.models[model]), standing_(standing), left_(fleet, counts), shapes_left_(counts.shapes) {
    partitions_of_shape_.resize(view_.shapes.size());
    for (std::size_t shape = 0; shape < view_.shapes.size(); ++shape) {
      for (int partition = 0; partition < std::ssize(view_.partitions); ++partition) {
        if (view_.partitions[partition].counts == view_.partitions[view_.shapes[shape]].counts)
          partitions_of_shape_[shape].push_back(partition);
      }
    }
  }

  /// The partition of each GPU, in the order of view.gpus.
  std::vector<int> partitions() {
    deal();
    if (std::ssize(chosen_) <= kGpusExchanged) exchange();
    std::vector<int> partitions;
    partitions.reserve(chosen_.size());
    for (const Chosen& chosen : chosen_) partitions.push_back(chosen.partition);
    return partitions;
  }

 private:
  struct Chosen {
    int shape = 0;
    int partition = 0;
    Kept kept;
  };

  /// The part of a GPU's plan that a partition preserves; owners that still need a piece that they hold take it from
  /// `left_`.
  Kept keep(std::size_t gpu, int partition) {
    const GpuPlan& standing = standing_[view_.gpus[gpu]];
    const std::vector<mig::Site>& now = view_.partitions[standing.partition].pieces;
    const std::vector<mig::Site>& then = view_.partitions[partition].pieces;
    Kept kept;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (std::ranges::find(then, now[i]) == then.end()) continue;
      const OwnedPiece piece{.kind = now[i].kind, .owner = standing.owners[i]};
      kept.worth += worth_of_slice(piece.owner);
      if (!left_.take(piece)) continue;
      kept.worth += view_.map.kinds[piece.kind].sms;
      kept.owned.push_back(piece);
    }
    return kept;
  }

  void let_go(const Kept& kept) {
    for (const OwnedPiece& piece : kept.owned) left_.give_back(piece);
  }

  Chosen best_of_shape(std::size_t gpu, int shape) {
    Chosen best{.shape = shape, .partition = view_.shapes[shape], .kept = {.worth = -1, .owned = {}}};
    for (const int partition : partitions_of_shape_[shape]) {
      Kept kept = keep(gpu, partition);
      let_go(kept);
      if (kept.worth > best.kept.worth) best = {shape, partition, std::move(kept)};
    }
    return best;
  }

  /// Greedy: the GPU and shape that preserve most come first. Assigning others only lowers what a GPU preserves, so a
  /// worth that is unchanged at its turn is the largest.
  void deal() {
    using Turn = std::tuple<int, std::size_t, int>;  // less kept, GPU, shape
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
    chosen_.resize(view_.gpus.size());
    std::vector<char> is_dealt(chosen_.size(), 0);
    for (std::size_t gpu = 0; gpu < chosen_.size(); ++gpu) {
      for (int shape = 0; shape < std::ssize(shapes_left_); ++shape) {
        if (shapes_left_[shape] > 0) turns.emplace(-best_of_shape(gpu, shape).kept.worth, gpu, shape);
      }
    }
    while (!turns.empty()) {
      const auto [less_kept, gpu, shape] = turns.top();
      turns.pop();
      if (is_dealt[gpu] != 0 || shapes_left_[shape] == 0) continue;
      const Chosen best = best_of_shape(gpu, shape);
      if (best.kept.worth < -less_kept) {
        turns.emplace(-best.kept.worth, gpu, shape);
        continue;
      }
      choose(gpu, best.shape, best.partition);
      is_dealt[gpu] = 1;
      --shapes_left_[shape];
    }
  }

  void choose(std::size_t gpu, int shape, int partition) {
    chosen_[gpu] = {shape, partition, {}};
    chosen_[gpu].kept = keep(gpu, partition);
  }

  /// Improves GPUs in pairs while more is preserved.
  void exchange() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (std::size_t first = 0; first < chosen_.size(); ++first) {
        for (std::size_t second = first + 1; second < chosen_.size(); ++second) {
          has_changed = exchange_two(first, second) || has_changed;
        }
      }
    }
  }

  /// Tries the partitions of two GPUs, with their own shapes and exchanged ones; returns whether more is preserved.
  bool exchange_two(std::size_t first, std::size_t second) {
    const std::pair shapes(chosen_[first].shape, chosen_[second].shape);
    const int before = chosen_[first].kept.worth + chosen_[second].kept.worth;
    let_go(chosen_[first].kept);
    let_go(chosen_[second].kept);
    std::tuple best(before, shapes.first, chosen_[first].partition, shapes.second, chosen_[second].partition);
    for (const auto& [one, other] : {shapes, std::pair(shapes.second, shapes.first)}) {
      for (const int partition : partitions_of_shape_[one]) {
        const Kept kept = keep(first, partition);
        for (const int other_partition : partitions_of_shape_[other]) {
          const Kept other_kept = keep(second, other_partition);
          let_go(other_kept);
          const int worth = kept.worth + other_kept.worth;
          if (worth > std::get<0>(best)) best = {worth, one, partition, other, other_partition};
        }
        let_go(kept);
      }
    }
    choose(first, std::get<1>(best), std::get<2>(best));
    choose(second, std::get<3>(best), std::get<4>(best));
    return std::get<0>(best) > before;
  }

  const ModelView& view_;
  const FleetPlan& standing_;
  OwnersLeft left_;
  std::vector<int> shapes_left_;
  std::vector<std::vector<int>> partitions_of_shape_;
  std::vector<Chosen> chosen_;  ///< as view.gpus
};

/// The current owner of the piece with that start and kind; `is_planned`: whether the plan has such a piece.
struct HolderNow {
  int owner = kNoOwner;
  bool is_planned = false;
};

HolderNow holder_now(const FleetView& fleet, const FleetPlan& standing, int gpu, const mig::Site& piece) {
  const std::vector<mig::Site>& pieces = fleet.of_gpu(gpu).partitions[standing[gpu].partition].pieces;
  const auto found = std::ranges::find(pieces, piece);
  if (found == pieces.end()) return {};
  return {.owner = standing[gpu].owners[found - pieces.begin()], .is_planned = true};
}

/// Assigns the pieces of one model to the owners that need them. Requires: the GPUs are partitioned, all unowned.
void deal_pieces(const FleetView& fleet, int model, const ModelCounts& counts, const FleetPlan& standing,
                 FleetPlan& plan) {
  OwnersLeft left(fleet, counts);
  const auto for_each_free = [&](const auto& give) {
    for (const int gpu : fleet.models[model].gpus) {
      const std::vector<mig::Site>& pieces = fleet.models[model].partitions[plan[gpu].partition].pieces;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        int& owner = plan[gpu].owners[i];
        if (owner == kNoOwner) owner = give(pieces[i].kind, holder_now(fleet, standing, gpu, pieces[i]));
      }
    }
  };
  const auto serves = [&](const HolderNow& now) { return now.owner != kNoOwner && !left.is_retraining(now.owner); };
  for_each_free([&](int kind, const HolderNow& now) { return left.take({kind, now.owner}) ? now.owner : kNoOwner; });
  for_each_free(
      [&](int kind, const HolderNow& now) { return now.is_planned && !serves(now) ? left.take_any(kind) : kNoOwner; });
  for_each_free([&](int kind, const HolderNow& now) { return serves(now) ? kNoOwner : left.take_any(kind); });
  for_each_free([&](int kind, const HolderNow&) { return left.take_any(kind); });
  for_each_free([&](int, const HolderNow& now) { return serves(now) ? now.owner : kNoOwner; });
}

}  // namespace

int staying_worth(const FleetView& fleet, const FleetPlan& standing, const FleetPlan& plan) {
  int worth = 0;
  for (int gpu = 0; gpu < fleet.gpu_count(); ++gpu) {
    const ModelView& view = fleet.of_gpu(gpu);
    const std::vector<mig::Site>& pieces = view.partitions[plan[gpu].partition].pieces;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const HolderNow now = holder_now(fleet, standing, gpu, pieces[i]);
      if (!now.is_planned) continue;
      worth += worth_of_slice(now.owner);
      if (now.owner != kNoOwner && now.owner == plan[gpu].owners[i]) worth += view.map.kinds[pieces[i].kind].sms;
    }
  }
  return worth;
}

FleetPlan realise(const FleetView& fleet, const BlockCounts& counts, const FleetPlan& standing) {
  FleetPlan plan = standing;
  for (int model = 0; model < std::ssize(fleet.models); ++model) {
    const ModelView& view = fleet.models[model];
    const std::vector<int> partitions = PartitionChoice(fleet, model, counts[model], standing).partitions();
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      plan[view.gpus[i]] = {partitions[i], std::vector<int>(view.partitions[partitions[i]].pieces.size(), kNoOwner)};
    }
    deal_pieces(fleet, model, counts[model], standing, plan);
  }
  return plan;
}

}  // namespace berth::partition::detail
