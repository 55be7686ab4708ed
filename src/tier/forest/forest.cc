#include "tier/forest/forest.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

/// So that no sum over trees is infinite.
constexpr double kValueMax = 1e12;

bool is_figure(double value) { return std::fabs(value) <= kValueMax; }

bool is_leaf(const TreeNode& node) { return node.left == 0; }

std::uint32_t child_of(const TreeNode& node, std::span<const double> features) {
  const auto value = static_cast<float>(features[static_cast<std::size_t>(node.feature)]);
  const bool goes_left = std::isnan(value) ? node.unknown_goes_left : value < node.threshold;
  return goes_left ? node.left : node.right;
}

const TreeNode& leaf_of(const Tree& tree, std::span<const double> features) {
  const TreeNode* node = &tree.front();
  while (!is_leaf(*node)) node = &tree[child_of(*node, features)];
  return *node;
}

}  // namespace

Forest::Forest(std::size_t feature_count, std::vector<Tree> trees)
    : feature_count_(feature_count), trees_(std::move(trees)) {
  for (const Tree& tree : trees_) ENSURE(is_well_formed(tree, feature_count_));
}

bool Forest::is_well_formed(const Tree& tree, std::size_t feature_count) {
  if (tree.empty()) return false;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const TreeNode& node = tree[i];
    if (!is_figure(node.value) || !std::isfinite(node.gain) || std::isnan(node.threshold)) return false;
    if (node.left == 0 && node.right == 0) continue;
    const auto is_below = [&](std::uint32_t child) { return child > i && child < tree.size(); };
    if (!is_below(node.left) || !is_below(node.right)) return false;
    if (node.feature < 0 || static_cast<std::size_t>(node.feature) >= feature_count) return false;
  }
  return true;
}

double Forest::predict(std::span<const double> features) const {
  ENSURE(features.size() == feature_count_);
  if (trees_.empty()) return 0;
  double sum = 0;
  for (const Tree& tree : trees_) sum += leaf_of(tree, features).value;
  return sum / static_cast<double>(trees_.size());
}

ForestReasons Forest::reasons(std::span<const double> features) const {
  ENSURE(features.size() == feature_count_);
  ForestReasons reasons{.base = 0, .shares = std::vector<double>(feature_count_)};
  const double part = trees_.empty() ? 0 : 1 / static_cast<double>(trees_.size());
  for (const Tree& tree : trees_) {
    const TreeNode* node = &tree.front();
    reasons.base += part * node->value;
    while (!is_leaf(*node)) {
      const TreeNode* next = &tree[child_of(*node, features)];
      reasons.shares[static_cast<std::size_t>(node->feature)] += part * (next->value - node->value);
      node = next;
    }
  }
  return reasons;
}

std::vector<double> Forest::gains() const {
  std::vector<double> gains(feature_count_);
  double sum = 0;
  for (const Tree& tree : trees_) {
    for (const TreeNode& node : tree) {
      if (is_leaf(node)) continue;
      gains[static_cast<std::size_t>(node.feature)] += node.gain;
      sum += node.gain;
    }
  }
  if (sum > 0) {
    for (double& gain : gains) gain /= sum;
  }
  return gains;
}

}  // namespace berth::tier
