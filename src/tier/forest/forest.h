/// A random forest for regression, as a value: the mean of its trees. Unknown features are NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace berth::tier {

/// A leaf has no children; the children of a split have larger indices than it.
struct TreeNode {
  std::int32_t feature = 0;
  float threshold = 0;      ///< a row goes left if its feature, as a float, is below
  std::uint32_t left = 0;   ///< 0: a leaf
  std::uint32_t right = 0;  ///< 0: a leaf
  bool unknown_goes_left = false;
  double value = 0;  ///< mean of the targets that reached it
  double gain = 0;   ///< of the squared error, by its split
  friend bool operator==(const TreeNode&, const TreeNode&) = default;
};

using Tree = std::vector<TreeNode>;

/// Why a forest predicts what it does: base + the sum of `shares` is the prediction.
struct ForestReasons {
  double base = 0;             ///< mean of the roots
  std::vector<double> shares;  ///< by feature
};

class Forest {
 public:
  Forest() = default;
  /// Requires: every tree is well formed (see `is_well_formed`).
  Forest(std::size_t feature_count, std::vector<Tree> trees);

  /// Whether all indices of a tree stay within it and within the features, and no value is above 1e12.
  [[nodiscard]] static bool is_well_formed(const Tree& tree, std::size_t feature_count);

  /// 0 without trees. O(trees x depth). Requires: one value per feature.
  [[nodiscard]] double predict(std::span<const double> features) const;
  /// Each split on the path of a row adds the change of the mean to its feature (A. Saabas, "Interpreting random
  /// forests", 2014). Requires: one value per feature.
  [[nodiscard]] ForestReasons reasons(std::span<const double> features) const;
  /// The gain of all splits by feature, as shares that add up to 1; zeros without a split.
  [[nodiscard]] std::vector<double> gains() const;

  [[nodiscard]] std::size_t feature_count() const { return feature_count_; }
  [[nodiscard]] const std::vector<Tree>& trees() const { return trees_; }
  friend bool operator==(const Forest&, const Forest&) = default;

  template <class Archive, class Self>
  static void archive_fields(Archive& archive, Self& self) {
    archive(self.feature_count_, self.trees_);
    if constexpr (Archive::kReads) {
      for (const Tree& tree : self.trees_) archive.require(is_well_formed(tree, self.feature_count_));
    }
  }

 private:
  std::size_t feature_count_ = 0;
  std::vector<Tree> trees_;
};

}  // namespace berth::tier
