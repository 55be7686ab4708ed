#include "models/optimize/checked_rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/core/ensure.h"
#include "models/fuse/fuse_passes.h"
#include "models/onnx/check_model.h"
#include "models/onnx/write_model.h"
#include "models/probing/observe.h"
#include "models/probing/run_rows.h"

namespace berth::models {
namespace {

/// More rounds would mean passes that undo each other.
constexpr int kRoundsMax = 20;

/// An IEEE half (or, if `is_brain`, the upper half of a float) as a float.
float widened(std::uint16_t bits, bool is_brain) {
  std::uint32_t wide = 0;
  if (is_brain) {
    wide = static_cast<std::uint32_t>(bits) << 16U;
  } else {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
    const std::uint32_t fraction = bits & 0x3ffU;
    if (exponent == 0) {
      const float small = std::ldexp(static_cast<float>(fraction), -24);
      return sign == 0 ? small : -small;
    }
    wide = sign | (exponent == 0x1fU ? 0x7f800000U : (exponent + 112U) << 23U) | (fraction << 13U);
  }
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

template <class Element>
Element element_at(const std::string& bytes, std::size_t index) {
  Element element{};
  std::memcpy(&element, bytes.data() + index * sizeof element, sizeof element);
  return element;
}

bool is_half(TensorType type) { return type == TensorType::kFp16 || type == TensorType::kBf16; }
bool is_float(TensorType type) { return is_half(type) || type == TensorType::kFp32 || type == TensorType::kFp64; }

double float_at(const Tensor& tensor, std::size_t index) {
  switch (tensor.type) {
    case TensorType::kFp64:
      return element_at<double>(tensor.bytes, index);
    case TensorType::kFp32:
      return element_at<float>(tensor.bytes, index);
    default:
      return widened(element_at<std::uint16_t>(tensor.bytes, index), tensor.type == TensorType::kBf16);
  }
}

/// Of float tensors of one type and shape.
double float_difference(const Tensor& original, const Tensor& variant) {
  const std::size_t count = original.bytes.size() / element_bytes(original.type);
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = float_at(original, i);
    const double found = float_at(variant, i);
    if (wanted == found || (std::isnan(wanted) && std::isnan(found))) continue;
    if (!std::isfinite(wanted) || !std::isfinite(found)) return 1;
    difference = std::max(difference, std::abs(wanted - found));
  }
  if (difference == 0) return 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = std::abs(float_at(original, i));
    if (std::isfinite(wanted)) largest = std::max(largest, wanted);
  }
  return largest > 0 ? difference / largest : 1;
}

bool has_same_form(const Tensor& a, const Tensor& b) {
  return a.name == b.name && a.type == b.type && a.shape == b.shape && a.bytes.size() == b.bytes.size();
}

double tensor_difference(const Tensor& original, const Tensor& variant) {
  if (is_float(original.type)) return float_difference(original, variant);
  return original.bytes == variant.bytes && original.texts == variant.texts ? 0 : 1;
}

std::string difference_text(double difference) { return fmt::format("{:.2g}", difference); }

/// Applies passes and checks after each.
class CheckedPasses {
 public:
  CheckedPasses(Model model, const CheckRows& check, const OptimizeTools& tools)
      : model_(std::move(model)), check_(check), tools_(tools) {}

  Result<FusedModel> run() {
    bool is_any_changed = false;
    for (int round = 0; round < kRoundsMax; ++round) {
      see_shapes();
      bool is_changed = false;
      for (const Pass& pass : fuse_passes()) {
        const auto applied = apply(pass);
        if (!applied) return pass_on(applied.error());
        is_changed = is_changed || *applied;
      }
      if (!is_changed) break;
      is_any_changed = true;
    }
    return FusedModel{.model = std::move(model_), .passes = std::move(records_), .is_changed = is_any_changed};
  }

 private:
  /// Anew in each round: behind sizes that were folded, the engine's inference sees further. Without shapes fewer
  /// passes find something to do.
  void see_shapes() {
    if (auto shapes = shapes_seen(tools_.probe, model_, check_.rows)) shapes_ = *std::move(shapes);
  }

  PassRecord& record_of(std::string_view pass) {
    const auto known = std::ranges::find(records_, pass, &PassRecord::name);
    if (known != records_.end()) return *known;
    return records_.emplace_back(PassRecord{.name = std::string(pass)});
  }

  void undo(std::string_view pass, std::string reason) {
    undone_.insert(pass);
    PassRecord& record = record_of(pass);
    record.is_undone = true;
    record.reason = std::move(reason);
  }

  /// Whether the model has changed.
  Result<bool> apply(const Pass& pass) {
    if (undone_.contains(pass.name)) return false;
    if (tools_.should_stop()) return stopped();
    tools_.report(fmt::format("fuse: {}", pass.name));
    const Evaluate evaluate = [this](const Model& part) { return models::evaluate(tools_.probe, part); };
    Model changed = model_;
    const auto applied = pass.apply(changed, {.shapes = shapes_, .evaluate = evaluate});
    if (!applied && applied.error().code == ErrorCode::kInterrupted) return pass_on(applied.error());
    if (!applied) {
      undo(pass.name, applied.error().message);
      return false;
    }
    if (!*applied) return false;
    const auto outputs = run_checked(changed, check_, tools_);
    if (!outputs && outputs.error().code == ErrorCode::kInterrupted) return pass_on(outputs.error());
    if (!outputs) {
      undo(pass.name, outputs.error().message);
      return false;
    }
    const double difference = largest_difference(check_.outputs, *outputs).value_or(1);
    if (!agrees_exactly(check_.outputs, *outputs)) {
      undo(pass.name, fmt::format("wanted outputs within {} of the largest, found a difference of {}", kExactTolerance,
                                  difference_text(difference)));
      return false;
    }
    model_ = std::move(changed);
    PassRecord& record = record_of(pass.name);
    record.measured = {{"nodes", fmt::format("{}", model_.graph.nodes.size())},
                       {"largest_difference", difference_text(difference)}};
    return true;
  }

  Model model_;
  const CheckRows& check_;
  const OptimizeTools& tools_;
  ValueShapes shapes_;
  std::set<std::string_view> undone_;
  std::vector<PassRecord> records_;
};

}  // namespace

std::optional<double> largest_difference(const std::vector<Tensor>& original, const std::vector<Tensor>& variant) {
  if (original.size() != variant.size()) return std::nullopt;
  double largest = 0;
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (!has_same_form(original[i], variant[i])) return std::nullopt;
    largest = std::max(largest, tensor_difference(original[i], variant[i]));
  }
  return largest;
}

bool agrees_exactly(const std::vector<Tensor>& original, const std::vector<Tensor>& variant) {
  if (original.size() != variant.size()) return false;
  for (std::size_t i = 0; i < original.size(); ++i) {
    if (!has_same_form(original[i], variant[i])) return false;
    const double tolerance = is_half(original[i].type) ? kHalfTolerance : kExactTolerance;
    if (tensor_difference(original[i], variant[i]) > tolerance) return false;
  }
  return true;
}

Result<std::vector<Tensor>> run_checked(const Model& model, const CheckRows& check, const OptimizeTools& tools) {
  if (auto checked = check_model(model); !checked) return pass_on(checked.error());
  const auto bytes = write_model(model);
  if (!bytes) return pass_on(bytes.error());
  auto loaded = tools.probe.load(*bytes, EngineOptimisation::kAll);
  if (!loaded) return pass_on(loaded.error());
  auto outputs = run_rows(**loaded, check.rows, check.batch_rows);
  if (!outputs) return pass_on(outputs.error());
  if (largest_difference(check.outputs, *outputs)) return outputs;
  return invalid("wanted outputs with the names, types and shapes of the original's, found others");
}

Result<FusedModel> fuse_checked(const Model& model, const CheckRows& check, const OptimizeTools& tools) {
  return CheckedPasses(model, check, tools).run();
}

}  // namespace berth::models
