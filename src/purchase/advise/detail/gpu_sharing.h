/// Shares of GPUs on the GPUs of one instance: bin packing.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace berth::purchase::advise {

/// `gpus`: the GPU, from 0, of each share; nothing if no way was found. `is_proven`: there is none, or it was found.
struct Sharing {
  std::optional<std::vector<int>> gpus;
  bool is_proven = true;
};

/// Puts shares on at most `gpu_count` GPUs, so that no GPU has more than 1000 thousandths: first fit decreasing; where
/// that takes too many, a search of at most `nodes_max` nodes. Requires: sizes from 1 to 1000.
[[nodiscard]] Sharing share_gpus(std::span<const int> sizes, int gpu_count, int nodes_max);

/// Usually enough to find a way where there is one.
inline constexpr int kSharingNodes = 2'000;
/// Nearly always enough for a proof.
inline constexpr int kSharingNodesThorough = 200'000;

/// Multisets of shares, each with a number, and how many GPUs they take. Filled as it is asked; 0 is the empty
/// one.
class ShareSets {
 public:
  ShareSets();

  /// The set with so many shares of a size more.
  [[nodiscard]] int with(int set, int size, int count);
  [[nodiscard]] std::size_t size() const { return sets_.size(); }
  /// They do not fit fewer GPUs. It is the least number, but where the search for it was ended by its limit.
  [[nodiscard]] int gpus_min(int set) const { return sets_[static_cast<std::size_t>(set)].gpus_min; }
  /// Whether whatever fits beside the shares of `b` fits beside those of `a` too: each of `a` can stand for a larger
  /// one of `b`. May be false where it is so.
  [[nodiscard]] bool is_no_harder(int a, int b) const;

 private:
  struct Set {
    std::vector<int> sizes;  ///< descending
    int gpus_min = 0;
    std::vector<int> next;  ///< by number of a size: the set with one more; kUnknown, or shorter, where not asked for
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
