#include "models/count/content_sized.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace berth::models {
namespace {

/// Choose elements by what they hold, or make texts of other lengths.
constexpr std::array<std::string_view, 7> kChoosing = {
    "Compress", "NonMaxSuppression", "NonZero", "StringNormalizer", "StringSplit", "Unique", "ImageDecoder"};
/// Are told sizes by their inputs but the first.
constexpr std::array<std::string_view, 17> kTold = {
    "AffineGrid", "CenterCropPad", "Col2Im", "DFT",   "Expand", "MaxUnpool", "OneHot",   "Pad",      "Reshape",
    "Resize",     "STFT",          "Slice",  "Split", "Tile",   "TopK",      "Upsample", "Unsqueeze"};
/// Are told sizes by their first input.
constexpr std::array<std::string_view, 6> kToldByFirst = {"BlackmanWindow", "ConstantOfShape", "HammingWindow",
                                                          "HannWindow",     "MelWeightMatrix", "Range"};

template <class Ops>
bool is_one_of(std::string_view op, const Ops& ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool is_known_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx.ml"; }

class Walk {
 public:
  explicit Walk(const Graph& graph) {
    for (const ValueInfo& input : graph.inputs) {
      if (!graph.initializers.contains(input.name)) content_.insert(input.name);
    }
    for (const Node& node : graph.nodes) visit(node);
  }

  std::set<std::string> take() { return std::move(sized_); }

 private:
  void visit(const Node& node) {
    const bool reads_content = reads(node, content_, 0);
    const bool is_sized = reads(node, sized_, 0) || (reads_content && chooses(node));
    const bool tells_sizes = node.op == "Shape" || node.op == "Size";
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      if (is_sized && !tells_sizes) sized_.insert(output);
      if (tells_sizes ? is_sized : reads_content) content_.insert(output);
    }
  }

  [[nodiscard]] bool chooses(const Node& node) const {
    if (!is_known_domain(node.domain)) return true;
    if (is_one_of(node.op, kChoosing) || is_one_of(node.op, kToldByFirst)) return true;
    return is_one_of(node.op, kTold) && reads(node, content_, 1);
  }

  /// Whether one of its inputs from that place on is among the names.
  static bool reads(const Node& node, const std::set<std::string>& names, std::size_t from) {
    for (std::size_t i = from; i < node.inputs.size(); ++i) {
      if (names.contains(node.inputs[i])) return true;
    }
    return false;
  }

  std::set<std::string> content_;  ///< values that are computed from what the inputs hold
  std::set<std::string> sized_;
};

}  // namespace

std::set<std::string> sized_by_content(const Graph& graph) { return Walk(graph).take(); }

}  // namespace berth::models
