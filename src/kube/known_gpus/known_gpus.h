/// Devices for pods that want one slice, or one whole GPU, of GPUs of known models: where `berth place` would put them.
///
/// The potential of scheduling/placement/potential.h knows the requests of a list of pods; here these are the requests
/// for which a choice was made so far, with their numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kube/devices/choose.h"

namespace berth::kube {

class KnownGpus {
 public:
  KnownGpus();
  KnownGpus(KnownGpus&&) noexcept;
  KnownGpus& operator=(KnownGpus&&) noexcept;
  ~KnownGpus();

  /// Different requests that are remembered; others are not handled.
  static constexpr std::size_t kShapesMax = 64;

  /// Devices for the claim of a pod; nothing if it is not handled here, or does not fit on these GPUs. Costs as much as
  /// a placement of `berth place`; after `forget`, or with a request that is new, O(devices) more. Requires: the claim
  /// is understood, has no allocation, and is the only one of the pod to place.
  [[nodiscard]] std::optional<Chosen> choose(const PodFacts& pod, const Claim& claim, const Surroundings& around,
                                             Chooser& chooser);

  /// Nodes, classes or rules have changed. Pools are noticed.
  void forget();

 private:
  /// A request: what it wants of nodes, and one slice of these profiles, in order of preference.
  struct Wish {
    std::int64_t cpu_milli = 0;
    std::int64_t memory_mib = 0;
    std::string nodes;  ///< which nodes it allows, as a text
    std::vector<std::string> options;
    friend auto operator<=>(const Wish&, const Wish&) = default;
  };
  struct Known {
    PodFacts pod;  ///< one of them, for the nodes that it allows
    Claim claim;
    std::int64_t count = 0;
  };
  struct Board;

  [[nodiscard]] static Wish wish_of(const PodFacts& pod, const Claim& claim);
  void build(const Surroundings& around, Chooser& chooser);
  void add_nodes(const Surroundings& around, Board& board) const;
  void add_shapes(const Surroundings& around, Chooser& chooser, Board& board) const;

  std::map<Wish, Known> known_;
  std::unique_ptr<Board> board_;
  std::int64_t arrivals_ = 0;
};

}  // namespace berth::kube
