/// What one service may hold of one GPU for serving.
#pragma once

#include <cstdint>
#include <vector>

#include "one_gpu/detail/rooms.h"
#include "one_gpu/detail/served.h"
#include "window/problem.h"

namespace berth::planner {

inline constexpr int kNoBundle = -1;
inline constexpr int kNoLabel = -1;

/// The multisets ("bundles") of labels, a label being a kind of slice with a variant, that a service can hold of a GPU.
/// Retraining pieces are not included. Bundle 0 is empty, and a part of a bundle has a smaller number.
struct Bundles {
  struct Label {
    int kind = 0;
    int variant = 0;
    double rate = 0;
  };
  std::vector<Label> labels;
  std::vector<int> label_of;         ///< [kind x variants + variant], kNoLabel where the rate is 0
  std::vector<int> room;             ///< [bundle]
  std::vector<int> level;            ///< [bundle], of the capacity, see Served
  std::vector<double> rate;          ///< [bundle], requests per second of all pieces
  std::vector<int> add;              ///< [bundle x labels + label], kNoBundle where there is no room
  std::vector<int> remove;           ///< [bundle x labels + label], kNoBundle where it has none
  std::vector<std::uint8_t> counts;  ///< [bundle x labels + label]

  [[nodiscard]] int count() const { return static_cast<int>(room.size()); }
  [[nodiscard]] int plus(int bundle, int label) const { return add[ix(bundle) * labels.size() + ix(label)]; }
  [[nodiscard]] int minus(int bundle, int label) const { return remove[ix(bundle) * labels.size() + ix(label)]; }
  /// The common part of two bundles.
  [[nodiscard]] int common_part(int a, int b) const;
  [[nodiscard]] int count_of(int bundle, int label) const { return counts[ix(bundle) * labels.size() + ix(label)]; }
};

/// All of a service's bundles on GPUs of a model; the levels of their capacities are made in `served`.
[[nodiscard]] Bundles make_bundles(const ModelTerms& model, const Rooms& rooms, const ServiceTerms& terms, int service,
                                   Served& served);

}  // namespace berth::planner
