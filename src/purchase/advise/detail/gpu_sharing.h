/// Shares of GPUs on the GPUs of one instance: bin packing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace berth::purchase::advise {

/// `gpus`: the GPU, from 0, of each share; nothing if no packing was found. `is_proven`: one was found, or none exists.
struct Sharing {
  std::optional<std::vector<int>> gpus;
  bool is_proven = true;
};

/// Puts shares on at most `gpu_count` GPUs, at most 1000 thousandths on each: first fit decreasing; if that needs too
/// many GPUs, a search of at most `nodes_max` nodes. Requires: sizes from 1 to 1000.
[[nodiscard]] Sharing share_gpus(std::span<const int> sizes, int gpu_count, int nodes_max);

/// Usually enough to find a packing if one exists.
inline constexpr int kSharingNodes = 2'000;
/// Nearly always enough for a proof.
inline constexpr int kSharingNodesThorough = 200'000;

/// Numbered multisets of shares, and how many GPUs each needs. Filled on demand; set 0 is empty.
class ShareSets {
 public:
  ShareSets();

  /// The set with `count` more shares of a size.
  [[nodiscard]] int with(int set, int size, int count);
  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  /// The set does not fit fewer GPUs. This is the exact minimum unless the search reached its limit.
  [[nodiscard]] int gpus_min(int set) const { return sets_[static_cast<std::size_t>(set)].gpus_min; }
  /// Whether any shares that fit together with `b` also fit together with `a`: each share of `a` is matched by one of
  /// `b` that is no smaller. Conservative: may be false although it holds.
  [[nodiscard]] bool is_no_harder(int a, int b) const;

 private:
  struct Set {
    std::vector<int> sizes;  ///< descending
    int gpus_min = 0;
    std::vector<int> next;  ///< by number of a size: the set with one more; kUnknown, or absent, if not computed yet
  };
  static constexpr int kUnknown = -1;
  [[nodiscard]] int with_one(int set, int size);
  [[nodiscard]] int set_of(std::vector<int> sizes, int gpus_at_least);

  std::vector<Set> sets_;
  std::map<std::vector<int>, int> numbers_;
  std::vector<int> size_numbers_;  ///< by size, in thousandths
  int size_count_ = 0;
};

}  // namespace berth::purchase::advise
