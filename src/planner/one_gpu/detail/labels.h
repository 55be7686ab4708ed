/// The partial schedules of the one-GPU search, and how they continue.
///
/// A label is a schedule up to a slot: the configuration, the states of the models, the budgets used, and the value so
/// far. Model states and counts of changed slices are kept on two stacks; a label has its positions there. `change` and
/// `stay` push; a caller that discards the result undoes that with an earlier mark. The data of a label that is added
/// stays until the next `restart`.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/gpu_case.h"
#include "planner/one_gpu/detail/model_state.h"

namespace berth::planner {

/// The number of a label since the last `restart`.
using LabelIndex = Index<struct LabelTag>;
inline constexpr LabelIndex kNoLabel(-1);

struct Label {
  ArrangementIndex arrangement = ArrangementIndex(0);
  LabelIndex parent = kNoLabel;
  SlotIndex begin = SlotIndex(0);  ///< slot of its last change
  SlotIndex ready = SlotIndex(0);  ///< slot in which that change is complete
  double value = 0;                ///< of the slots before now
  double bound = 0;                ///< of the whole schedule
  std::size_t models = 0;          ///< position of its model states, one for each service that retrains
  std::size_t changed = 0;         ///< position of its counts of changed slices, one for each service with a budget
};

class Labels {
 public:
  /// Keeps references.
  Labels(const GpuCase& gpu_case, Arrangements& arrangements);

  /// The label of the standing pieces, at the first slot in which a change may begin. Its value is kNever if they may
  /// not stay until then.
  [[nodiscard]] const Label& root() const { return root_; }
  /// Forgets all labels but the root, which becomes number 0.
  void restart();

  [[nodiscard]] int count() const { return static_cast<int>(labels_.size()); }
  [[nodiscard]] Label& operator[](LabelIndex label) { return labels_[label]; }
  [[nodiscard]] const Label& operator[](LabelIndex label) const { return labels_[label]; }
  [[nodiscard]] const Arrangement& arrangement_of(const Label& label) const { return arrangements_[label.arrangement]; }
  [[nodiscard]] Share share_of(const Label& label, ServiceIndex service) const {
    return arrangement_of(label).shares[service];
  }
  /// The model state of a service in a label; a fresh model if the service never retrains.
  [[nodiscard]] ModelState state_of(const Label& label, ServiceIndex service) const {
    const int place = model_place_[service];
    return place < 0 ? ModelState{} : models_[label.models + ix(place)];
  }
  [[nodiscard]] bool retrains(ServiceIndex service) const { return model_place_[service] >= 0; }
  /// Whether `a` has changed more slices than `b` of some service with a budget.
  [[nodiscard]] bool has_changed_more(const Label& a, const Label& b) const;
  /// Whether some slices do not serve at t, except standing ones in the first slot, which the bounds take into account.
  [[nodiscard]] bool has_spare(const Label& label, SlotIndex t) const {
    return arrangement_of(label).has_spare && (label.parent >= 0 || t > case_.first_slot);
  }

  /// Whether the configuration is allowed in the slots [t, end).
  [[nodiscard]] bool may_stay(const Label& label, SlotIndex t, SlotIndex end) const;
  /// Advances the label by one slot without a change, in place. Requires: it may stay.
  void hold(LabelIndex label, SlotIndex t);
  /// The label at the slot `end` without a change since t; pushes model states.
  [[nodiscard]] Label stay(const Label& label, SlotIndex t, SlotIndex end);
  /// The label after a change in slot t, at the slot in which all pieces are ready; pushes model states and counts.
  /// Nothing, without pushing, if floors or budgets forbid it. Requires: another arrangement.
  [[nodiscard]] std::optional<Label> change(const Label& parent, ArrangementIndex to, SlotIndex t);
  /// Keeps a label returned by `change`. Requires: the parent was added.
  LabelIndex add(const Label& label);

  /// The height of the stacks, and a return to it. Requires: no label was added since.
  struct Mark {
    std::size_t models = 0;
    std::size_t changed = 0;
  };
  [[nodiscard]] Mark mark() const { return {.models = models_.size(), .changed = changed_.size()}; }
  void undo(const Mark& mark);

  /// The worth of the tail for a label at the end of the window.
  [[nodiscard]] double tail_of(const Label& label) const;
  /// The approximate worth of a label if its configuration and its models do not change from t on.
  [[nodiscard]] double value_if_staying(const Label& label, SlotIndex t) const;
  /// The changes that lead to a label.
  [[nodiscard]] std::vector<Change> changes_of(const Label& label) const;

 private:
  struct Ready {
    BundleIndex bundle = kEmptyBundle;
    double progress_rate = 0;
    SlotIndex until = SlotIndex(0);
  };
  void make_root();
  [[nodiscard]] double run(const Label& parent, const Arrangement& to, SlotIndex t, SlotIndex end,
                           const std::vector<SlotIndex>& ready);
  [[nodiscard]] Ready ready_at(const Arrangement& to, ServiceIndex service, SlotIndex t,
                               const std::vector<SlotIndex>& ready) const;
  [[nodiscard]] bool count_changed(const Label& parent, const Configuration& to);

  const GpuCase& case_;
  Arrangements& arrangements_;
  std::vector<int> model_place_;   ///< [service], among the states of a label; -1 if it never retrains
  std::vector<int> budget_place_;  ///< [service], among the counts of a label; -1 if it has no limit
  int models_count_ = 0;
  int budgets_count_ = 0;
  Label root_;  ///< its states and counts are at the bottom of the stacks
  std::vector<Label> labels_;
  std::vector<ModelState> models_;
  std::vector<int> changed_;
};

}  // namespace berth::planner
