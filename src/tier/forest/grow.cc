#include "tier/forest/grow.h"

#include <xgboost/c_api.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/core/ensure.h"

namespace berth::tier {
namespace {

struct FreeMatrix {
  void operator()(void* handle) const { XGDMatrixFree(handle); }
};
struct FreeBooster {
  void operator()(void* handle) const { XGBoosterFree(handle); }
};
using Matrix = std::unique_ptr<void, FreeMatrix>;
using Booster = std::unique_ptr<void, FreeBooster>;

tl::unexpected<Error> library_error() {
  return fail(ErrorCode::kUnavailable, std::string("XGBoost: ") + XGBGetLastError());
}

Result<void> check(const ForestRows& rows) {
  const std::size_t count = rows.targets.size();
  ENSURE(rows.feature_count > 0 && rows.features.size() == count * rows.feature_count && rows.weights.size() == count);
  if (count == 0) return invalid("wanted rows to learn from, found none");
  const auto is_number = [](double value) { return std::isfinite(static_cast<float>(value)); };
  if (!std::all_of(rows.targets.begin(), rows.targets.end(), [](double t) { return std::fabs(t) <= 1e12; })) {
    return invalid("wanted targets of at most 1e12 to learn from, found another");
  }
  if (!std::all_of(rows.weights.begin(), rows.weights.end(), [&](double w) { return is_number(w) && w > 0; })) {
    return invalid("wanted finite weights above 0, found another");
  }
  const auto is_usable_feature = [&](double value) { return std::isnan(value) || is_number(value); };
  if (!std::all_of(rows.features.begin(), rows.features.end(), is_usable_feature)) {
    return invalid("wanted finite or unknown features to learn from, found another");
  }
  return {};
}

Result<Matrix> matrix_of(const ForestRows& rows) {
  const std::vector<float> features(rows.features.begin(), rows.features.end());
  const std::vector<float> targets(rows.targets.begin(), rows.targets.end());
  const std::vector<float> weights(rows.weights.begin(), rows.weights.end());
  DMatrixHandle handle = nullptr;
  const int failed = XGDMatrixCreateFromMat(features.data(), targets.size(), rows.feature_count,
                                            std::numeric_limits<float>::quiet_NaN(), &handle);
  if (failed != 0) return library_error();
  Matrix matrix(handle);
  if (XGDMatrixSetFloatInfo(handle, "label", targets.data(), targets.size()) != 0 ||
      XGDMatrixSetFloatInfo(handle, "weight", weights.data(), weights.size()) != 0) {
    return library_error();
  }
  return matrix;
}

Result<Booster> booster_of(const Matrix& matrix, const ForestSettings& settings) {
  const DMatrixHandle matrices[] = {matrix.get()};
  BoosterHandle handle = nullptr;
  if (XGBoosterCreate(matrices, 1, &handle) != 0) return library_error();
  Booster booster(handle);
  const std::array<std::pair<const char*, std::string>, 13> parameters = {{
      {"verbosity", "0"},
      {"nthread", "1"},
      {"seed", std::to_string(settings.seed % 2'147'483'648U)},
      {"objective", "reg:squarederror"},
      {"base_score", "0"},
      {"tree_method", "hist"},
      {"num_parallel_tree", std::to_string(settings.trees)},
      {"max_depth", std::to_string(settings.depth_max)},
      {"min_child_weight", std::to_string(settings.leaf_weight_min)},
      {"subsample", std::to_string(settings.rows_share)},
      {"colsample_bynode", std::to_string(settings.features_share)},
      {"eta", "1"},
      {"lambda", "0"},
  }};
  for (const auto& [name, value] : parameters) {
    if (XGBoosterSetParam(handle, name, value.c_str()) != 0) return library_error();
  }
  if (XGBoosterUpdateOneIter(handle, 0, matrix.get()) != 0) return library_error();
  return booster;
}

/// Reads the library's text of one tree, a node per line: `0:[f3<1.5] yes=1,no=2,missing=1,gain=10.5,cover=100` or
/// `1:leaf=0.5,cover=50`, indented by depth.
class TreeText {
 public:
  explicit TreeText(std::string_view text) : rest_(text) {}
  /// Values are those of the leaves, times `scale`. Nothing if the text is another one.
  std::optional<Tree> read(double scale);

 private:
  struct Line {
    std::uint32_t id = 0;
    TreeNode node = {};
    double cover = 0;
  };
  bool read_line(Line& line);
  bool skip(std::string_view word);
  template <class T>
  bool number(std::string_view before, T& value);

  std::string_view rest_;
};

bool TreeText::skip(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

template <class T>
bool TreeText::number(std::string_view before, T& value) {
  if (!skip(before)) return false;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc()) return false;
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return true;
}

bool TreeText::read_line(Line& line) {
  while (skip("\t")) continue;
  if (!number("", line.id)) return false;
  if (number(":leaf=", line.node.value)) return number(",cover=", line.cover) && skip("\n");
  std::uint32_t unknown = 0;
  if (!number(":[f", line.node.feature) || !number("<", line.node.threshold)) return false;
  if (!number("] yes=", line.node.left) || !number(",no=", line.node.right)) return false;
  if (!number(",missing=", unknown) || !number(",gain=", line.node.gain)) return false;
  line.node.unknown_goes_left = unknown == line.node.left;
  return number(",cover=", line.cover) && skip("\n");
}

std::optional<Tree> TreeText::read(double scale) {
  std::vector<Line> lines;
  while (!rest_.empty()) {
    if (!read_line(lines.emplace_back())) return std::nullopt;
  }
  // The library numbers level by level and leaves out what it pruned, so ids are sorted and made consecutive.
  std::sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.id < b.id; });
  const auto index_of = [&](std::uint32_t id) {
    const auto found =
        std::lower_bound(lines.begin(), lines.end(), id, [](const Line& line, std::uint32_t i) { return line.id < i; });
    return static_cast<std::uint32_t>(found - lines.begin());
  };
  Tree tree(lines.size());
  for (std::size_t i = lines.size(); i-- > 0;) {
    TreeNode& node = tree[i] = lines[i].node;
    node.value *= scale;
    if (node.left == 0) continue;
    node.left = index_of(node.left);
    node.right = index_of(node.right);
    if (node.left <= i || node.right <= i || std::max(node.left, node.right) >= tree.size()) return std::nullopt;
    const double left = lines[node.left].cover;
    const double right = lines[node.right].cover;
    node.value = (left * tree[node.left].value + right * tree[node.right].value) / (left + right);
  }
  return tree;
}

}  // namespace

Result<Forest> grow_forest(const ForestRows& rows, const ForestSettings& settings) {
  if (auto checked = check(rows); !checked) return pass_on(checked.error());
  const Result<Matrix> matrix = matrix_of(rows);
  if (!matrix) return pass_on(matrix.error());
  const Result<Booster> booster = booster_of(*matrix, settings);
  if (!booster) return pass_on(booster.error());
  bst_ulong count = 0;
  const char** texts = nullptr;
  if (XGBoosterDumpModelEx(booster->get(), "", 1, "text", &count, &texts) != 0) return library_error();
  std::vector<Tree> trees;
  for (bst_ulong i = 0; i < count; ++i) {
    // The library divides each leaf by the number of trees.
    std::optional<Tree> tree = TreeText(texts[i]).read(static_cast<double>(count));
    if (!tree || !Forest::is_well_formed(*tree, rows.feature_count)) {
      return fail(ErrorCode::kUnavailable, "XGBoost: wanted a tree as version 1.7 writes it, found another text");
    }
    trees.push_back(std::move(*tree));
  }
  return Forest(rows.feature_count, std::move(trees));
}

}  // namespace berth::tier
