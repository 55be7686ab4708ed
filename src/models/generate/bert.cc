#include "models/generate/bert.h"

#include <cmath>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/core/ensure.h"
#include "models/generate/detail/graph_writer.h"

namespace berth::models {
namespace {

using Int64s = std::vector<std::int64_t>;

constexpr double kDeviation = 0.05;
constexpr float kMasked = -1e4F;
constexpr float kVarianceMin = 1e-12F;
constexpr std::int64_t kFirstOpsetWithAxesOfMeans = 18;

class BertWriter {
 public:
  BertWriter(const BertOptions& options, Rng rng) : options_(options), graph_(rng) {}

  Model write() {
    const std::string ids = graph_.input("input_ids", ElementType::kInt64, {-1, -1});
    const std::string mask = added_mask(graph_.input("attention_mask", ElementType::kInt64, {-1, -1}));
    std::string x = embedded(ids);
    for (std::int64_t layer = 0; layer < options_.layer_count; ++layer) {
      x = normalized(graph_.add("Add", {attended(x, mask), x}));
      x = normalized(graph_.add("Add", {fed_forward(x), x}));
    }
    classify(x);
    graph_.output("logits", {-1, options_.class_count});
    return graph_.finish("bert", options_.opset);
  }

 private:
  std::string number(float value) { return graph_.constant(float_scalar(value)); }
  std::string sizes(const Int64s& values) { return graph_.constant(int64s({std::ssize(values)}, values)); }
  std::string size_of(const std::string& x, std::int64_t axis);
  std::string added_mask(const std::string& mask);
  std::string embedded(const std::string& ids);
  std::string mean(const std::string& x);
  std::string normalized(const std::string& x);
  std::string linear(const std::string& x, std::int64_t inputs, std::int64_t outputs);
  std::string heads(const std::string& x);
  std::string attended(const std::string& x, const std::string& mask);
  std::string fed_forward(const std::string& x);
  void classify(const std::string& x);

  const BertOptions& options_;
  GraphWriter graph_;
};

/// [size]: one dimension.
std::string BertWriter::size_of(const std::string& x, std::int64_t axis) {
  const std::string shape = graph_.add("Shape", {x});
  const std::string size =
      graph_.add("Gather", {shape, graph_.constant(int64s({}, {axis}))}, {{"axis", std::int64_t{0}}});
  return graph_.add("Unsqueeze", {size, sizes({0})});
}

/// 0 where the mask is 1, and far below where it is 0.
std::string BertWriter::added_mask(const std::string& mask) {
  const std::string rows = graph_.add("Unsqueeze", {mask, sizes({1})});
  const std::string wide = graph_.add("Unsqueeze", {rows, sizes({2})});
  const std::string kept = graph_.add("Cast", {wide}, {{"to", static_cast<std::int64_t>(ElementType::kFloat)}});
  return graph_.add("Mul", {graph_.add("Sub", {number(1), kept}), number(kMasked)});
}

std::string BertWriter::embedded(const std::string& ids) {
  Int64s places(static_cast<std::size_t>(options_.length_max));
  std::iota(places.begin(), places.end(), 0);
  const std::string all = graph_.weight(int64s({1, options_.length_max}, places));
  const std::string used = graph_.add("Slice", {all, sizes({0}), size_of(ids, 1), sizes({1})});
  const std::string words = graph_.add("Gather", {graph_.drawn({options_.vocabulary, options_.width}, 1), ids});
  const std::string order = graph_.add("Gather", {graph_.drawn({options_.length_max, options_.width}, 1), used});
  return normalized(graph_.add("Add", {words, order}));
}

std::string BertWriter::mean(const std::string& x) {
  if (options_.opset >= kFirstOpsetWithAxesOfMeans) return graph_.add("ReduceMean", {x, sizes({-1})});
  return graph_.add("ReduceMean", {x}, {{"axes", Int64s{-1}}});
}

std::string BertWriter::normalized(const std::string& x) {
  const std::string centred = graph_.add("Sub", {x, mean(x)});
  const std::string variance = mean(graph_.add("Pow", {centred, number(2)}));
  const std::string deviation = graph_.add("Sqrt", {graph_.add("Add", {variance, number(kVarianceMin)})});
  const std::string scaled =
      graph_.add("Mul", {graph_.add("Div", {centred, deviation}), graph_.drawn_between({options_.width}, 0.5, 1.5)});
  return graph_.add("Add", {scaled, graph_.drawn({options_.width}, kDeviation)});
}

std::string BertWriter::linear(const std::string& x, std::int64_t inputs, std::int64_t outputs) {
  const std::string product = graph_.add("MatMul", {x, graph_.drawn({inputs, outputs}, kDeviation)});
  return graph_.add("Add", {graph_.drawn({outputs}, kDeviation), product});
}

/// [batch, heads, length, width of a head]
std::string BertWriter::heads(const std::string& x) {
  const std::string shape = graph_.add(
      "Concat",
      {size_of(x, 0), size_of(x, 1), sizes({options_.head_count}), sizes({options_.width / options_.head_count})},
      {{"axis", std::int64_t{0}}});
  return graph_.add("Transpose", {graph_.add("Reshape", {x, shape})}, {{"perm", Int64s{0, 2, 1, 3}}});
}

std::string BertWriter::attended(const std::string& x, const std::string& mask) {
  const std::int64_t width = options_.width;
  const std::string queries = heads(linear(x, width, width));
  const std::string keys = heads(linear(x, width, width));
  const std::string values = heads(linear(x, width, width));
  const std::string turned = graph_.add("Transpose", {keys}, {{"perm", Int64s{0, 1, 3, 2}}});
  const float root = std::sqrt(static_cast<float>(width / options_.head_count));
  const std::string scores = graph_.add("Div", {graph_.add("MatMul", {queries, turned}), number(root)});
  const std::string shares = graph_.add("Softmax", {graph_.add("Add", {scores, mask})}, {{"axis", std::int64_t{-1}}});
  const std::string mixed =
      graph_.add("Transpose", {graph_.add("MatMul", {shares, values})}, {{"perm", Int64s{0, 2, 1, 3}}});
  const std::string shape =
      graph_.add("Concat", {size_of(mixed, 0), size_of(mixed, 1), sizes({width})}, {{"axis", std::int64_t{0}}});
  return linear(graph_.add("Reshape", {mixed, shape}), width, width);
}

std::string BertWriter::fed_forward(const std::string& x) {
  const std::int64_t width = options_.width;
  const std::string wide = linear(x, width, 4 * width);
  const std::string error = graph_.add("Erf", {graph_.add("Div", {wide, number(std::numbers::sqrt2_v<float>)})});
  const std::string gate = graph_.add("Mul", {wide, graph_.add("Add", {error, number(1)})});
  return linear(graph_.add("Mul", {gate, number(0.5F)}), 4 * width, width);
}

/// Of the first place.
void BertWriter::classify(const std::string& x) {
  const std::int64_t width = options_.width;
  const std::string first = graph_.add("Gather", {x, graph_.constant(int64s({}, {0}))}, {{"axis", std::int64_t{1}}});
  const std::string pooled =
      graph_.add("Gemm", {first, graph_.drawn({width, width}, kDeviation), graph_.drawn({width}, kDeviation)},
                 {{"transB", std::int64_t{1}}});
  const std::string weights = graph_.drawn({options_.class_count, width}, kDeviation);
  graph_.add("Gemm", {graph_.add("Tanh", {pooled}), weights, graph_.drawn({options_.class_count}, kDeviation)},
             {{"transB", std::int64_t{1}}}, "logits");
}

}  // namespace

Model bert(const BertOptions& options, Rng rng) {
  ENSURE(options.layer_count > 0 && options.width > 0 && options.head_count > 0 && options.vocabulary > 0);
  ENSURE(options.width % options.head_count == 0 && options.length_max > 0 && options.class_count > 0);
  ENSURE(options.opset >= 13 && options.opset <= 21);
  return BertWriter(options, rng).write();
}

}  // namespace berth::models
