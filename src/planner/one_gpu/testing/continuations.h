/// Partial schedules of a tiny problem of one GPU, and the best completion of each, by trying every continuation.
///
/// It goes from label to label with the steps of `Labels`, whose values the schedule checker confirms (labels_test.cc),
/// and leaves out only illegal continuations.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "planner/one_gpu/detail/labels.h"
#include "planner/one_gpu/detail/service_bound.h"
#include "planner/one_gpu/testing/configurations.h"

namespace berth::planner::testing {

/// The limit for tiny problems, to save time.
inline constexpr std::size_t kArrangementsMax = 60;

/// Smaller differences are rounding.
[[nodiscard]] inline double rounding_of(double value) { return 1e-9 * (1 + std::abs(value)); }

/// Whether changes may begin a retraining whose progress can no longer count: no other one is due, and the model is not
/// stale. The slice may still have a worth, because it need not be created when it begins to serve.
enum class RetrainsInVain { kNo, kYes };

class Continuations {
 public:
  /// Keeps references.
  Continuations(const GpuCase& gpu_case, Arrangements& arrangements, Labels& labels, RetrainsInVain in_vain)
      : case_(gpu_case), arrangements_(arrangements), labels_(labels), in_vain_(in_vain) {
    const Configuration standing = standing_of(gpu_case);
    const Configurations configurations(gpu_case, standing);
    for (const Configuration& pieces : configurations.all()) all_.push_back(arrangements.number_of(pieces));
  }

  /// Every arrangement, whether a change to it may begin or not.
  [[nodiscard]] const std::vector<ArrangementIndex>& all() const { return all_; }

  /// The worth of the best schedule that continues a label from slot t on, in which it may change; kNever if none is
  /// legal. Requires: the label has its parent.
  [[nodiscard]] double best(const Label& label, SlotIndex t) {
    return label.value + rest(label, t, true, used_by(label));
  }
  /// The same if it does not change in slot t.
  [[nodiscard]] double best_held(const Label& label, SlotIndex t) {
    return label.value + rest(label, t, false, used_by(label));
  }
  /// The same if it changes to an arrangement in slot t.
  [[nodiscard]] double best_changed(const Label& label, SlotIndex t, ArrangementIndex to) {
    return label.value + rest_changed(label, t, to, used_by(label));
  }
  /// Whether the new pieces do something, pins and neighbours allow them, and anything changes at all.
  [[nodiscard]] bool may_follow(const Label& label, SlotIndex t, ArrangementIndex to) const {
    const ArrangementIndex from = label.arrangement;
    if (from == to || !arrangements_[to].may_begin) return false;
    if (in_vain_ == RetrainsInVain::kNo && retrains_in_vain(label, t, to)) return false;
    return std::ranges::all_of(arrangements_[to].pieces, [&](const Piece& piece) {
      return does_something(case_, piece) || std::ranges::count(arrangements_[from].pieces, piece) > 0;
    });
  }

 private:
  [[nodiscard]] bool retrains_in_vain(const Label& label, SlotIndex t, ArrangementIndex to) const {
    for (const ServiceIndex service : indices_of<ServiceIndex>(case_.problem.services)) {
      const KindIndex kind = arrangements_[to].shares[service].retraining_kind;
      if (kind < 0 || kind == labels_.share_of(label, service).retraining_kind) continue;
      const std::vector<SlotIndex>& due = case_.problem.services[service].retraining->due_slots;
      const bool is_due_later = !due.empty() && due.back() > t;
      if (!is_due_later && !labels_.state_of(label, service).is_open()) return true;
    }
    return false;
  }

  /// Of each service with a budget, the slices changed so far.
  using Used = std::vector<int>;
  /// Everything that determines how a label can continue.
  struct Situation {
    SlotIndex slot;
    bool may_change = false;
    ArrangementIndex arrangement;
    std::vector<std::tuple<bool, bool, int, double>> models;
    Used used;
    friend auto operator<=>(const Situation&, const Situation&) = default;
  };

  [[nodiscard]] Situation situation_of(const Label& label, SlotIndex t, bool may_change, const Used& used) const {
    Situation now{.slot = t, .may_change = may_change, .arrangement = label.arrangement, .models = {}, .used = used};
    for (const ServiceIndex service : indices_of<ServiceIndex>(case_.problem.services)) {
      const ModelState state = labels_.state_of(label, service);
      now.models.emplace_back(state.is_stale, state.is_done, state.is_done ? state.fresh_from : SlotIndex(0),
                              state.progress);
    }
    return now;
  }

  [[nodiscard]] double rest(const Label& label, SlotIndex t, bool may_change, const Used& used) {
    if (t == case_.end()) return labels_.tail_of(label);
    Situation now = situation_of(label, t, may_change, used);
    const auto known = known_.find(now);
    if (known != known_.end()) return known->second;
    double best = kNever;
    if (labels_.may_stay(label, t, t + 1)) {
      const Labels::Mark before = labels_.mark();
      const Label held = labels_.stay(label, t, t + 1);
      best = held.value - label.value + rest(held, t + 1, true, used);
      labels_.undo(before);
    }
    for (std::size_t i = 0; i < all_.size() && may_change; ++i) {
      best = std::max(best, rest_changed(label, t, all_[i], used));
    }
    known_.emplace(std::move(now), best);
    return best;
  }

  [[nodiscard]] double rest_changed(const Label& label, SlotIndex t, ArrangementIndex to, const Used& used) {
    if (!case_.can_change(t) || !may_follow(label, t, to)) return kNever;
    const Labels::Mark before = labels_.mark();
    const std::optional<Label> child = labels_.change(label, to, t);
    if (!child) return kNever;
    Used now = used;
    add_changed(label.arrangement, to, now);
    const double value = child->value - label.value + rest(*child, child->ready, child->ready > t, now);
    labels_.undo(before);
    return value;
  }

  [[nodiscard]] Used used_by(const Label& label) {
    Used used(case_.problem.services.size());
    ArrangementIndex now = labels_.root().arrangement;
    for (const Change& change : labels_.changes_of(label)) {
      const ArrangementIndex to = arrangements_.number_of(change.to);
      add_changed(now, to, used);
      now = to;
    }
    return used;
  }

  void add_changed(ArrangementIndex from, ArrangementIndex to, Used& used) const {
    const auto add = [&](const Configuration& those, const Configuration& others) {
      for (const Piece& piece : those) {
        const bool is_counted = piece.service != kNoService && case_.problem.services[piece.service].changes_max >= 0;
        if (is_counted && std::ranges::find(others, piece.site, &Piece::site) == others.end()) ++used[piece.service];
      }
    };
    add(arrangements_[from].pieces, arrangements_[to].pieces);
    add(arrangements_[to].pieces, arrangements_[from].pieces);
  }

  const GpuCase& case_;
  Arrangements& arrangements_;
  Labels& labels_;
  RetrainsInVain in_vain_;
  std::vector<ArrangementIndex> all_;
  std::map<Situation, double> known_;
};

/// Walks through the window with some labels, the root first: calls `visit` in each slot from first_slot on with the
/// current labels that may change, then changes some of them at random, and lets all wait. Begins with `restart`.
inline void visit_labels(const GpuCase& gpu_case, Labels& labels, const Continuations& continuations, Rng& rng,
                         const std::function<void(const std::vector<LabelIndex>& there, SlotIndex t)>& visit) {
  constexpr std::size_t kLabelsMax = 16;  // in a slot
  constexpr int kChangesOfLabel = 3;
  labels.restart();
  std::vector<std::vector<LabelIndex>> arrivals(ix(gpu_case.problem.slots) + 1);
  std::vector<LabelIndex> there = {LabelIndex(0)};
  for (SlotIndex t = gpu_case.first_slot; t < gpu_case.end(); ++t) {
    there.insert(there.end(), arrivals[t].begin(), arrivals[t].end());
    while (there.size() > kLabelsMax) there.erase(there.begin() + static_cast<std::ptrdiff_t>(rng.below(there.size())));
    visit(there, t);
    std::vector<LabelIndex> at_once;
    for (const LabelIndex number : there) {
      for (int i = 0; i < kChangesOfLabel && gpu_case.can_change(t); ++i) {
        const ArrangementIndex to = continuations.all()[rng.below(continuations.all().size())];
        if (!continuations.may_follow(labels[number], t, to)) continue;
        std::optional<Label> child = labels.change(labels[number], to, t);
        if (!child) continue;
        child->parent = number;
        const SlotIndex ready = child->ready;
        (ready == t ? at_once : arrivals[ready]).push_back(labels.add(*child));
      }
    }
    there.insert(there.end(), at_once.begin(), at_once.end());
    std::erase_if(there, [&](LabelIndex number) { return !labels.may_stay(labels[number], t, t + 1); });
    for (const LabelIndex number : there) labels.hold(number, t);
  }
}

}  // namespace berth::planner::testing
