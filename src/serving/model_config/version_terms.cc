#include "serving/model_config/version_terms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/core/text.h"

namespace berth::serving {
namespace {

using models::OnnxFile;
using models::OnnxTensor;
using Shape = std::vector<std::int64_t>;

std::string shown(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

/// How the config wants the model to run.
enum class Batching {
  kByFile,  ///< the file decides
  kNone,
  kByConfig,
};

Batching batching_of(const std::optional<ModelConfig>& config) {
  if (!config) return Batching::kByFile;
  if (config->max_batch_size.value_or(0) > 0) return Batching::kByConfig;
  // As in Triton, a config that says nothing of tensors and batches is completed from the file.
  const bool is_silent = !config->max_batch_size && config->inputs.empty() && config->outputs.empty();
  return is_silent ? Batching::kByFile : Batching::kNone;
}

class TermsMaker {
 public:
  TermsMaker(const OnnxFile& file, std::string_view file_name, const ModelConfig* config, Batching batching)
      : file_(file), file_name_(file_name), config_(config), is_batched_(batching == Batching::kByConfig) {}

  std::vector<TensorSignature> inputs() {
    if (is_batched_ && file_.inputs.empty()) {
      refuse(config_->max_batch_size_place, "max_batch_size",
             fmt::format("wanted 0, because {} has no inputs, found {}", file_name_, *config_->max_batch_size));
    }
    if (config_ == nullptr || config_->inputs.empty()) return as_in_file(file_.inputs, "input");
    for (const OnnxTensor& tensor : file_.inputs) {
      const auto found = std::ranges::find(config_->inputs, tensor.name, &ConfiguredTensor::name);
      if (found != config_->inputs.end()) continue;
      refuse(config_->inputs.front().place, "input",
             fmt::format("wanted all inputs of {}, found no {}", file_name_, in_quotes(tensor.name)));
    }
    return as_in_config(config_->inputs, file_.inputs, "input");
  }

  std::vector<TensorSignature> outputs() {
    if (config_ == nullptr || config_->outputs.empty()) return as_in_file(file_.outputs, "output");
    return as_in_config(config_->outputs, file_.outputs, "output");
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void refuse(TextPlace place, std::string_view field, std::string_view why) {
    if (!error_) error_ = error_at(config_->file, place, fmt::format("{}: {}", field, why));
  }

  std::vector<TensorSignature> as_in_file(const std::vector<OnnxTensor>& tensors, std::string_view role) {
    std::vector<TensorSignature> signatures;
    for (const OnnxTensor& tensor : tensors) {
      if (is_batched_) check_rows(tensor, role);
      if (!tensor.shape && (role == "input" || is_batched_) && !error_) {
        error_ = Error{ErrorCode::kInvalidInput,
                       fmt::format("{}: {} {}: wanted a shape here or dims in config.pbtxt, found neither", file_name_,
                                   role, in_quotes(tensor.name))};
      }
      signatures.push_back({.name = tensor.name, .type = tensor.type, .shape = tensor.shape.value_or(Shape{-1})});
    }
    return signatures;
  }

  std::vector<TensorSignature> as_in_config(const std::vector<ConfiguredTensor>& wanted,
                                            const std::vector<OnnxTensor>& tensors, std::string_view role) {
    std::vector<TensorSignature> signatures;
    for (const ConfiguredTensor& each : wanted) {
      const auto found = std::ranges::find(tensors, each.name, &OnnxTensor::name);
      if (found == tensors.end()) {
        refuse(each.place, role,
               fmt::format("wanted an {0} of {1}, found {2}; it has {3}", role, file_name_, in_quotes(each.name),
                           names_of(tensors)));
      } else {
        signatures.push_back(signature_of(each, *found, role));
      }
    }
    return signatures;
  }

  static std::string names_of(const std::vector<OnnxTensor>& tensors) {
    constexpr std::size_t kNameCountMax = 5;
    std::vector<std::string> names;
    for (const OnnxTensor& tensor : tensors) {
      if (names.size() == kNameCountMax) break;
      names.push_back(in_quotes(tensor.name));
    }
    if (names.empty()) return "none";
    return fmt::format("{}{}", fmt::join(names, ", "), tensors.size() > names.size() ? ", ..." : "");
  }

  TensorSignature signature_of(const ConfiguredTensor& wanted, const OnnxTensor& tensor, std::string_view role) {
    if (wanted.type && *wanted.type != tensor.type) {
      refuse(wanted.place, fmt::format("{}.data_type", role),
             fmt::format("wanted {} for {}, as in {}, found {}", config_name_of(tensor.type), in_quotes(wanted.name),
                         file_name_, config_name_of(*wanted.type)));
    }
    if (is_batched_) check_rows(tensor, role);
    return {.name = tensor.name, .type = tensor.type, .shape = shape_of(wanted, tensor, role)};
  }

  /// What the config says where the file leaves a size open.
  Shape shape_of(const ConfiguredTensor& wanted, const OnnxTensor& tensor, std::string_view role) {
    if (!wanted.dims) {
      if (!tensor.shape && (role == "input" || is_batched_)) {
        refuse(wanted.place, fmt::format("{}.dims", role),
               fmt::format("wanted sizes for {}, because {} has none, found none", in_quotes(wanted.name), file_name_));
      }
      return tensor.shape.value_or(Shape{-1});
    }
    Shape shape = *wanted.dims;
    if (is_batched_) shape.insert(shape.begin(), -1);
    if (tensor.shape && !fits(shape, *tensor.shape)) {
      Shape theirs = *tensor.shape;
      if (is_batched_ && !theirs.empty()) theirs.erase(theirs.begin());
      refuse(wanted.place, fmt::format("{}.dims", role),
             fmt::format("wanted {} for {}, as in {}{}, found {}", shown(theirs), in_quotes(wanted.name), file_name_,
                         is_batched_ ? " without the rows" : "", shown(*wanted.dims)));
    }
    return shape;
  }

  /// Whether every tensor of `shape` is one of `model_shape`.
  static bool fits(const Shape& shape, const Shape& model_shape) {
    return std::ranges::equal(shape, model_shape, [](std::int64_t size, std::int64_t model_size) {
      return model_size == -1 || size == model_size;
    });
  }

  /// Batches need a first dimension of any size.
  void check_rows(const OnnxTensor& tensor, std::string_view role) {
    if (!tensor.shape || models::has_any_rows(tensor)) return;  // a shape that nobody knows: the config is believed
    refuse(
        config_->max_batch_size_place, "max_batch_size",
        fmt::format("wanted 0, because the first dimension of {} {} in {} {}, found {}", role, in_quotes(tensor.name),
                    file_name_, tensor.shape->empty() ? "does not exist" : fmt::format("is {}", tensor.shape->front()),
                    *config_->max_batch_size));
  }

  const OnnxFile& file_;
  std::string_view file_name_;
  const ModelConfig* config_;
  bool is_batched_;
  std::optional<Error> error_;
};

}  // namespace

Result<VersionTerms> version_terms(const OnnxFile& file, std::string_view file_name,
                                   const std::optional<ModelConfig>& config) {
  const Batching batching = batching_of(config);
  TermsMaker maker(file, file_name, config ? &*config : nullptr, batching);
  VersionTerms terms{.inputs = maker.inputs(), .outputs = maker.outputs(), .weight_bytes = file.weight_bytes};
  if (maker.error()) return pass_on(*maker.error());
  if (batching == Batching::kByConfig) terms.rows_max = *config->max_batch_size;
  if (batching == Batching::kByFile && models::has_any_rows(file)) {
    terms.rows_max = kRowsMaxDefault;
    terms.needs_proof = true;
  }
  if (!config) return terms;
  if (config->default_timeout) terms.target = *config->default_timeout;
  if (config->target) terms.target = *config->target;
  terms.queue_max = config->queue_max;
  return terms;
}

}  // namespace berth::serving
