/// Pods and offers as integers: equal pods form a class, an offer is a box.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "domain/lists/pod_list.h"
#include "purchase/pricing/offer.h"

namespace berth::purchase::advise {

inline constexpr int kGpuMilli = 1000;

/// Resources whose sums are within a box's capacity whenever its content fits. CPU and memory are exact. GPUs are
/// counted in five ways, each of them necessary and none sufficient: thousandths of GPUs, with shares first rounded up
/// as far as this changes no packing; and the dual feasible functions u(1) to u(4) (Fekete and Schepers 2001), in whole
/// numbers. Together they are nearly as strong as packing the shares.
enum Resource : std::size_t {
  kCpu,
  kMemory,
  kGpuThousandths,
  kGpuHalves,
  kGpuSixths,
  kGpuTwelfths,
  kGpuTwentieths,
  kResources
};
using Weights = std::array<std::int64_t, kResources>;

/// What a pod takes.
struct Need {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int whole_gpus = 0;
  int share_milli = 0;  ///< of one GPU; 0: not a shared pod

  friend auto operator<=>(const Need&, const Need&) = default;
};

/// Pods with equal needs.
struct PodClass {
  Need need;
  std::size_t kind = 0;           ///< the GPUs it accepts; index into `Box::accepts`
  std::vector<std::size_t> rows;  ///< ascending
  Weights weights = {};
};

/// An offer.
struct Box {
  std::size_t offer = 0;
  std::int64_t micro_usd = 0;
  int gpu_count = 0;
  Weights capacity = {};
  std::vector<char> accepts;  ///< by kind
};

struct Problem {
  std::vector<PodClass> classes;
  std::vector<std::size_t> class_of;  ///< by row
  std::vector<Box> boxes;             ///< the buyable offers, in their order
  /// Indices of boxes, the cheapest first (ties: the order of offers), without dominated ones: another box costs no
  /// more, holds no less and accepts no fewer kinds.
  std::vector<std::size_t> choices;

  [[nodiscard]] const PodClass& class_of_row(std::size_t row) const { return classes[class_of[row]]; }
};

[[nodiscard]] Problem make_problem(std::span<const Pod> pods, std::span<const pricing::Offer> offers);

/// The resources that pods on one instance use together. Shares go to GPUs one by one, by first fit.
struct Load {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  int whole_gpus = 0;
  std::vector<int> used_milli;  ///< of the GPUs that are shared

  void add(const Need& need);
  [[nodiscard]] int gpus_used() const { return whole_gpus + static_cast<int>(used_milli.size()); }
};

/// Whether the box is large enough; GPU models are not checked.
[[nodiscard]] bool is_within(const Load& load, const Box& box);

/// Whether a box holds a pod of that class alone.
[[nodiscard]] bool holds_alone(const Box& box, const PodClass& pods);

}  // namespace berth::purchase::advise
