/// An upper bound on the worth of a label that changes so that the services get certain shares, for any places.
#pragma once

#include <bitset>
#include <vector>

#include "planner/one_gpu/detail/arrangements.h"
#include "planner/one_gpu/detail/labels.h"

namespace berth::planner {

class Incumbent;
class LabelBound;

class ChangeBound {
 public:
  /// Keeps references.
  ChangeBound(const GpuCase& gpu_case, const Arrangements& arrangements, const Labels& labels, LabelBound& bound,
              const Incumbent& incumbent);

  /// The bound of a change in slot t if only the standing pieces in `kept` continue.
  ///
  /// A piece that does not continue can be given to another service, which then need not create one. So the bound is
  /// the best over all ways to discard one kept piece each of some kinds of which no other piece would become free.
  /// Below the cutoff it need not be exact.
  [[nodiscard]] double of(LabelIndex label, SlotIndex t, const std::vector<Share>& shares,
                          const std::vector<Share>& kept);
  /// The same if all pieces continue that can.
  [[nodiscard]] double of(LabelIndex label, SlotIndex t, const std::vector<Share>& shares);

 private:
  static constexpr std::size_t kKindsMax = 64;  ///< as many as sites
  using KindSet = std::bitset<kKindsMax>;
  /// A bound, and whether a retraining is completed before all pieces are ready.
  struct WithKept {
    double value = 0;
    bool gets_done = false;
  };
  /// A change under consideration.
  struct Wish {
    LabelIndex label;
    SlotIndex slot;
    const std::vector<Share>& shares;
    const std::vector<Share>& kept;
  };
  /// The slots from which the new pieces of a service serve and retrain.
  struct Times {
    SlotIndex serves_from = SlotIndex(0);
    SlotIndex trains_from = SlotIndex(0);
  };

  [[nodiscard]] KindSet kinds_to_create(const Wish& wish) const;
  [[nodiscard]] KindSet kinds_to_begin(const Wish& wish) const;
  [[nodiscard]] double of_fewer(const Wish& wish, const KindSet& useful, double bound);
  [[nodiscard]] WithKept with_kept(const Wish& wish, const KindSet& creates);
  [[nodiscard]] bool may_lose_by_done(const Wish& wish, ServiceIndex service, bool was_open, SlotIndex end,
                                      const ModelState& state) const;
  [[nodiscard]] SlotIndex set_times(const Wish& wish, const KindSet& creates);
  void run_until(const Wish& wish, ServiceIndex service, SlotIndex end, ModelState& state, double& served) const;
  [[nodiscard]] double joint_from(const Wish& wish, SlotIndex end);

  const GpuCase& case_;
  const Arrangements& arrangements_;
  const Labels& labels_;
  LabelBound& bound_;
  const Incumbent& incumbent_;
  bool create_matters_ = false;  ///< some piece is ready later if it has to be created
  // Scratch of with_kept, which is called so often that it should not allocate.
  std::vector<Times> times_;          ///< [service]
  std::vector<ModelState> models_;    ///< [service], when all pieces are ready
  std::vector<BundleIndex> bundles_;  ///< [service]
};

}  // namespace berth::planner
