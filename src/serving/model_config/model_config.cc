#include "serving/model_config/model_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "serving/model_config/detail/config_tree.h"

namespace berth::serving {
namespace {

using detail::ConfigField;

constexpr std::size_t kTextBytesMax = std::size_t{1} << 20U;
constexpr std::size_t kPlacesOfMillis = 3;
constexpr std::int64_t kMicrosPerMilli = 1'000;

/// What is done with a field; one that has no rule has no effect.
struct FieldRule {
  enum class Kind {
    kRead,   ///< read below
    kInner,  ///< a message: there is a rule for each of its fields
    kWrong,  ///< it changes what a request means, or which file is the model; a bool only if it is true
  };
  std::string_view path;
  Kind kind = Kind::kRead;
  std::string_view why = {};  ///< of kWrong
};

constexpr FieldRule::Kind kRead = FieldRule::Kind::kRead;
constexpr FieldRule::Kind kInner = FieldRule::Kind::kInner;
constexpr FieldRule::Kind kWrong = FieldRule::Kind::kWrong;
constexpr std::string_view kNoReshape = "tensors are given to the model as they come";
constexpr std::string_view kNoShapeTensor = "only TensorRT has shape tensors";
constexpr std::string_view kNoFormat = "only TensorRT has other formats of memory";

constexpr auto kFieldRules = std::to_array<FieldRule>({
    {"name"},
    {"platform"},
    {"backend"},
    {"max_batch_size"},
    {"version_policy"},
    {"parameters"},
    {"input", kInner},
    {"input.name"},
    {"input.data_type"},
    {"input.dims"},
    {"input.reshape", kWrong, kNoReshape},
    {"input.is_shape_tensor", kWrong, kNoShapeTensor},
    {"input.allow_ragged_batch", kWrong, "only requests of equal shapes share a batch"},
    {"input.optional", kWrong, "each request has all inputs"},
    {"input.is_non_linear_format_io", kWrong, kNoFormat},
    {"output", kInner},
    {"output.name"},
    {"output.data_type"},
    {"output.dims"},
    {"output.reshape", kWrong, kNoReshape},
    {"output.is_shape_tensor", kWrong, kNoShapeTensor},
    {"output.is_non_linear_format_io", kWrong, kNoFormat},
    {"batch_input", kWrong, "a batch is made of the requests' tensors alone"},
    {"batch_output", kWrong, "a batch is divided by rows alone"},
    {"dynamic_batching", kInner},
    {"dynamic_batching.default_queue_policy", kInner},
    {"dynamic_batching.default_queue_policy.default_timeout_microseconds"},
    {"dynamic_batching.default_queue_policy.max_queue_size"},
    {"sequence_batching", kWrong, "sequences are not offered"},
    {"ensemble_scheduling", kWrong, "ensembles are not offered"},
    {"model_transaction_policy", kInner},
    {"model_transaction_policy.decoupled", kWrong, "each request has one answer"},
    {"model_operations", kWrong, "libraries of operators are not loaded"},
    {"model_repository_agents", kWrong, "files are taken as they are"},
    {"cc_model_filenames", kWrong, "the model is model.onnx"},
    {"default_model_filename"},
});

const FieldRule* rule_of(std::string_view path) {
  const auto found = std::ranges::find(kFieldRules, path, &FieldRule::path);
  return found == kFieldRules.end() ? nullptr : &*found;
}

/// "25" or "2.5" milliseconds, above 0.
std::optional<Micros> parse_millis(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view after = point == std::string_view::npos ? "0" : text.substr(point + 1);
  const auto millis =
      parse_count(text.substr(0, point), std::numeric_limits<std::int64_t>::max() / kMicrosPerMilli - 1);
  if (!millis || after.size() > kPlacesOfMillis) return std::nullopt;
  const auto micros =
      parse_count(std::string(after) + std::string(kPlacesOfMillis - after.size(), '0'), kMicrosPerMilli);
  if (!micros || after.empty() || *millis + *micros == 0) return std::nullopt;
  return std::min(Micros(*millis * kMicrosPerMilli + *micros), kTargetMax);
}

class ConfigReader {
 public:
  ConfigReader(const ConfigField& root, std::string_view file, std::string_view model) : root_(root), model_(model) {
    config_.file = file;
  }

  Result<ModelConfig> read() {
    check_fields(root_, "");
    read_names();
    if (const ConfigField* size = root_.find("max_batch_size")) read_max_batch_size(*size);
    for (const ConfigField& field : root_.fields) {
      if (field.name == "input") read_tensor(field, config_.inputs);
      if (field.name == "output") read_tensor(field, config_.outputs);
      if (field.name == "parameters") read_parameter(field);
    }
    if (const ConfigField* policy = root_.find("version_policy")) read_version_policy(*policy);
    if (const ConfigField* batching = root_.find("dynamic_batching")) read_queue(*batching);
    if (error_) return pass_on(*error_);
    return std::move(config_);
  }

 private:
  void refuse(const ConfigField& field, std::string_view path, std::string_view why) {
    if (!error_) error_ = error_at(config_.file, field.place, fmt::format("{}: {}", path, why));
  }

  /// Refuses fields that change the meaning, and notes those without effect.
  void check_fields(const ConfigField& message, const std::string& prefix) {
    for (const ConfigField& field : message.fields) {
      const std::string path = prefix + field.name;
      const FieldRule* const rule = rule_of(path);
      if (rule == nullptr) {
        ignore(path);
      } else if (rule->kind == kInner) {
        check_fields(field, path + ".");
      } else if (rule->kind == kWrong && (!field.is_bool || field.number != 0)) {
        refuse(field, path, fmt::format("wanted a config without it, because {}", rule->why));
      }
    }
  }

  void ignore(const std::string& path) {
    if (std::ranges::find(config_.ignored, path) == config_.ignored.end()) config_.ignored.push_back(path);
  }

  void read_names() {
    config_.name = read_choice("name", {"", model_}, "the name of the model's folder");
    config_.platform = read_choice("platform", {"", "onnxruntime_onnx"}, "\"onnxruntime_onnx\"");
    config_.backend = read_choice("backend", {"", "onnxruntime"}, "\"onnxruntime\"");
    (void)read_choice("default_model_filename", {"", "model.onnx"}, "\"model.onnx\"");
  }

  std::string read_choice(std::string_view path, std::array<std::string_view, 2> choices, std::string_view wanted) {
    const ConfigField* const field = root_.find(path);
    if (field == nullptr) return {};
    if (std::ranges::find(choices, field->text) == choices.end()) {
      refuse(*field, path, fmt::format("wanted {}, found {}", wanted, in_quotes(field->text)));
    }
    return field->text;
  }

  void read_max_batch_size(const ConfigField& size) {
    if (size.number < 0) refuse(size, size.name, fmt::format("wanted at least 0, found {}", size.number));
    config_.max_batch_size = std::max<std::int64_t>(size.number, 0);
    config_.max_batch_size_place = size.place;
  }

  void read_tensor(const ConfigField& field, std::vector<ConfiguredTensor>& tensors) {
    ConfiguredTensor tensor{.name = {}, .place = field.place};
    for (const ConfigField& inner : field.fields) {
      if (inner.name == "name") tensor.name = inner.text;
      if (inner.name == "data_type") tensor.type = read_type(inner, field.name);
      if (inner.name != "dims") continue;
      if (inner.number < -1 || inner.number == 0) {
        refuse(inner, field.name + ".dims", fmt::format("wanted -1 or sizes of at least 1, found {}", inner.number));
      }
      if (!tensor.dims) tensor.dims.emplace();
      tensor.dims->push_back(inner.number);
    }
    if (tensor.name.empty()) refuse(field, field.name, "wanted a name, found none");
    const auto has_name = [&](const ConfiguredTensor& other) { return other.name == tensor.name; };
    if (std::ranges::any_of(tensors, has_name)) {
      refuse(field, field.name, fmt::format("wanted each once, found {} again", in_quotes(tensor.name)));
    }
    tensors.push_back(std::move(tensor));
  }

  std::optional<TensorType> read_type(const ConfigField& field, const std::string& around) {
    if (const auto type = tensor_type_of_config(field.text)) return type;
    refuse(field, around + ".data_type", fmt::format("wanted a type of elements, found {}", field.text));
    return std::nullopt;
  }

  void read_parameter(const ConfigField& entry) {
    const ConfigField* const key = entry.find("key");
    const ConfigField* const value = entry.find("value");
    const ConfigField* const text = value == nullptr ? nullptr : value->find("string_value");
    if (key == nullptr || text == nullptr) {
      refuse(entry, "parameters", "wanted a key and a value with a string_value");
      return;
    }
    if (find_bad_utf8(key->text + text->text) != std::string::npos) {
      refuse(entry, "parameters",
             fmt::format("wanted UTF-8, found {}: {}", in_quotes(key->text), in_quotes(text->text)));
    }
    config_.parameters[key->text] = text->text;
    if (key->text != "target_ms") {
      ignore(fmt::format("parameters[{}]", in_quotes(key->text)));
      return;
    }
    config_.target = parse_millis(text->text);
    if (!config_.target) {
      refuse(*text, "parameters[\"target_ms\"]",
             fmt::format("wanted milliseconds above 0 with at most 3 decimals, found {}", in_quotes(text->text)));
    }
  }

  void read_version_policy(const ConfigField& policy) {
    VersionPolicy& read = config_.version_policy;
    if (policy.find("all") != nullptr) read.kind = VersionPolicy::Kind::kAll;
    if (const ConfigField* latest = policy.find("latest")) {
      const ConfigField* const count = latest->find("num_versions");
      if (count != nullptr) read.latest_count = std::max<std::int64_t>(count->number, 1);
    }
    const ConfigField* const specific = policy.find("specific");
    if (specific == nullptr) return;
    read.kind = VersionPolicy::Kind::kSpecific;
    std::set<std::int64_t> versions;
    for (const ConfigField& version : specific->fields) {
      versions.insert(version.number);
      if (version.number >= 1) continue;
      refuse(version, "version_policy.specific.versions", fmt::format("wanted at least 1, found {}", version.number));
    }
    if (versions.empty()) refuse(*specific, "version_policy.specific", "wanted versions, found none");
    read.versions.assign(versions.begin(), versions.end());
  }

  void read_queue(const ConfigField& batching) {
    const ConfigField* const policy = batching.find("default_queue_policy");
    if (policy == nullptr) return;
    const ConfigField* const timeout = policy->find("default_timeout_microseconds");
    if (timeout != nullptr && timeout->number > 0) {
      config_.default_timeout = std::min(Micros(timeout->number), kTargetMax);
    }
    const ConfigField* const size = policy->find("max_queue_size");
    if (size != nullptr && size->number > 0) config_.queue_max = size->number;
  }

  const ConfigField& root_;
  std::string_view model_;
  ModelConfig config_;
  std::optional<Error> error_;
};

}  // namespace

Result<ModelConfig> read_model_config(std::string_view text, std::string_view file, std::string_view model) {
  if (text.size() > kTextBytesMax) {
    return invalid(fmt::format("{}: wanted at most {} bytes, found {}", file, kTextBytesMax, text.size()));
  }
  const std::size_t bad = find_bad_utf8(text);
  if (bad != std::string_view::npos) {
    return invalid(fmt::format("{}: wanted UTF-8, found another byte at offset {}", file, bad));
  }
  const auto root = detail::parse_config_text(text, file);
  if (!root) return pass_on(root.error());
  return ConfigReader(*root, file, model).read();
}

}  // namespace berth::serving
