#include "partition/detail/realise.h"

#include <algorithm>
#include <tuple>

#include "partition/detail/fleet_search.h"

namespace berth::partition::detail {
namespace {

/// Pieces of a GPU that would stay, those with an owner counted double.
int kept_count(const Cut& standing_cut, const GpuPlan& standing, const Cut& cut) {
  int kept = 0;
  for (std::size_t i = 0; i < standing_cut.pieces.size(); ++i) {
    const bool stays = std::ranges::find(cut.pieces, standing_cut.pieces[i]) != cut.pieces.end();
    if (stays) kept += standing.owners[i] == kNobody ? 1 : 2;
  }
  return kept;
}

/// The cut of a shape that keeps most.
struct KeptCut {
  int cut = 0;
  int kept = 0;
};
KeptCut best_cut(const ModelView& view, int shape, const GpuPlan& standing) {
  KeptCut best{.cut = view.shapes[shape], .kept = -1};
  for (int cut = 0; cut < static_cast<int>(view.cuts.size()); ++cut) {
    if (view.cuts[cut].counts != view.cuts[view.shapes[shape]].counts) continue;
    const int kept = kept_count(view.cuts[standing.cut], standing, view.cuts[cut]);
    if (kept > best.kept) best = {.cut = cut, .kept = kept};
  }
  return best;
}

/// Cuts for the GPUs of one model, GPUs with most to keep first.
void choose_cuts(const FleetView& fleet, int model, std::vector<int> shapes_left, const FleetPlan& standing,
                 FleetPlan& plan) {
  const ModelView& view = fleet.models[model];
  std::vector<std::tuple<int, int, int, int>> options;  // less kept, GPU, shape, cut
  for (const int gpu : view.gpus) {
    for (int shape = 0; shape < static_cast<int>(shapes_left.size()); ++shape) {
      if (shapes_left[shape] == 0) continue;
      const KeptCut best = best_cut(view, shape, standing[gpu]);
      options.emplace_back(-best.kept, gpu, shape, best.cut);
    }
  }
  std::ranges::sort(options);
  std::vector<char> is_cut(fleet.gpu_count(), 0);
  for (const auto& [less_kept, gpu, shape, cut] : options) {
    if (is_cut[gpu] != 0 || shapes_left[shape] == 0) continue;
    is_cut[gpu] = 1;
    --shapes_left[shape];
    plan[gpu] = {cut, std::vector<int>(view.cuts[cut].pieces.size(), kNobody)};
  }
}

/// Who holds a piece of that start and kind now.
int owner_now(const FleetView& fleet, const FleetPlan& standing, int gpu, const Piece& piece) {
  const std::vector<Piece>& pieces = fleet.of_gpu(gpu).cuts[standing[gpu].cut].pieces;
  const auto found = std::ranges::find(pieces, piece);
  return found == pieces.end() ? kNobody : standing[gpu].owners[found - pieces.begin()];
}

/// How many pieces of a kind an owner is still to get.
class OwnersLeft {
 public:
  OwnersLeft(const FleetView& fleet, const ModelCounts& counts) : service_count_(fleet.service_count) {
    for (std::size_t kind = 0; kind < counts.serving.size(); ++kind) {
      left_.push_back(counts.serving[kind]);
      left_.back().insert(left_.back().end(), counts.retraining[kind].begin(), counts.retraining[kind].end());
    }
  }

  bool take(int kind, int owner) {
    if (owner == kNobody || left_[kind][owner] == 0) return false;
    --left_[kind][owner];
    return true;
  }

  /// The first owner that still wants one, or nobody.
  int take_any(int kind) {
    for (int owner = 0; owner < std::ssize(left_[kind]); ++owner) {
      if (take(kind, owner)) return owner;
    }
    return kNobody;
  }

  [[nodiscard]] bool is_retraining(int owner) const { return owner >= service_count_; }

 private:
  int service_count_;
  std::vector<std::vector<int>> left_;  ///< [kind][owner]
};

}  // namespace

FleetPlan realise(const FleetView& fleet, const BlockCounts& counts, const FleetPlan& standing) {
  FleetPlan plan = standing;
  for (int model = 0; model < static_cast<int>(fleet.models.size()); ++model) {
    choose_cuts(fleet, model, counts[model].shapes, standing, plan);
    OwnersLeft left(fleet, counts[model]);
    const auto for_each_free = [&](const auto& give) {
      for (const int gpu : fleet.models[model].gpus) {
        const std::vector<Piece>& pieces = fleet.models[model].cuts[plan[gpu].cut].pieces;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
          int& owner = plan[gpu].owners[i];
          if (owner == kNobody) owner = give(pieces[i], owner_now(fleet, standing, gpu, pieces[i]));
        }
      }
    };
    const FleetPlan cut = plan;
    for (const int gpu : fleet.models[model].gpus) std::ranges::fill(plan[gpu].owners, kNobody);
    for_each_free([&](const Piece& piece, int now) { return left.take(piece.kind, now) ? now : kNobody; });
    for_each_free([&](const Piece& piece, int) { return left.take_any(piece.kind); });
    for_each_free([&](const Piece&, int now) { return left.is_retraining(now) ? kNobody : now; });
  }
  return plan;
}

}  // namespace berth::partition::detail
