#include "models/optimize/manifest.h"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/core/text.h"
#include "base/json/document.h"
#include "base/json/tree.h"
#include "base/json/writer.h"

namespace berth::models {
namespace {

constexpr int kFormat = 1;
constexpr json::Limits kManifestLimits = {.text_bytes_max = std::size_t{64} << 20U, .value_count_max = 4'000'000};

/// The fields of each type, once for the writer and the reader.
template <class Fields, class Type>
void visit_fields(Fields& fields, Type& value) {
  using Plain = std::remove_const_t<Type>;
  if constexpr (std::same_as<Plain, IntervalFigure>) {
    fields("value", value.value);
    fields("low", value.low);
    fields("high", value.high);
  } else if constexpr (std::same_as<Plain, BatchLatency>) {
    fields("batch", value.batch);
    fields("ratio", value.ratio);
    fields("original_us", value.original_us);
    fields("variant_us", value.variant_us);
    fields("rounds", value.rounds);
    fields("is_settled", value.is_settled);
  } else if constexpr (std::same_as<Plain, ModelFigures>) {
    fields("load_us", value.load_us);
    fields("loaded_bytes", value.loaded_bytes);
    fields("run_bytes", value.run_bytes);
    fields("file_bytes", value.file_bytes);
    fields("nodes", value.nodes);
  } else if constexpr (std::same_as<Plain, LossFigure>) {
    fields("loss", value.loss);
    fields("rows", value.rows);
    fields("rows_wanted", value.rows_wanted);
    fields("score", value.score);
  } else if constexpr (std::same_as<Plain, VariantFigures>) {
    fields("latency", value.latency);
    fields("time_ratio", value.time_ratio);
    fields("model", value.model);
    fields("choosing", value.choosing);
    fields("judging", value.judging);
    fields("sqnr_db", value.sqnr_db);
  } else if constexpr (std::same_as<Plain, PassRecord>) {
    fields("name", value.name);
    fields("is_undone", value.is_undone);
    fields("reason", value.reason);
    fields("measured", value.measured);
  } else if constexpr (std::same_as<Plain, ChannelRecord>) {
    fields("group", value.group);
    fields("before", value.before);
    fields("after", value.after);
  } else if constexpr (std::same_as<Plain, LayerRecord>) {
    fields("node", value.node);
    fields("sqnr_db", value.sqnr_db);
    fields("is_float", value.is_float);
  } else if constexpr (std::same_as<Plain, VariantRecord>) {
    fields("name", value.name);
    fields("methods", value.methods);
    fields("is_kept", value.is_kept);
    fields("reason", value.reason);
    fields("sha256", value.sha256);
    fields("figures", value.figures);
    fields("passes", value.passes);
    fields("channels", value.channels);
    fields("layers", value.layers);
  } else if constexpr (std::same_as<Plain, RowCounts>) {
    fields("calibration", value.calibration);
    fields("choosing", value.choosing);
    fields("judging", value.judging);
    fields("left_out", value.left_out);
    fields("is_one_data_set", value.is_one_data_set);
  } else if constexpr (std::same_as<Plain, Findings>) {
    fields("metric", value.metric);
    fields("rows", value.rows);
    fields("batches", value.batches);
    fields("has_fixed_batch", value.has_fixed_batch);
    fields("original", value.original);
    fields("original_score", value.original_score);
    fields("recommended", value.recommended);
    fields("variants", value.variants);
    fields("left_out", value.left_out);
  } else if constexpr (std::same_as<Plain, SourceFile>) {
    fields("path", value.path);
    fields("sha256", value.sha256);
  } else if constexpr (std::same_as<Plain, OptimizeTerms>) {
    fields("max_loss", value.max_loss);
    fields("methods", value.methods);
    fields("ranges", value.ranges);
    fields("batches", value.batches);
    fields("metric", value.metric);
    fields("goal", value.goal);
    fields("cuda_index", value.cuda_index);
    fields("budget_seconds", value.budget_seconds);
    fields("seed", value.seed);
  } else {
    static_assert(std::same_as<Plain, Manifest>);
    fields("program", value.version);
    fields("engine", value.engine);
    fields("device", value.device);
    fields("model", value.model);
    fields("calibration", value.calibration);
    fields("evaluation", value.evaluation);
    fields("terms", value.terms);
    fields("keep", value.keep);
    fields("findings", value.findings);
  }
}

template <class T>
inline constexpr bool kIsList = false;
template <class T>
inline constexpr bool kIsList<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

class ManifestOut {
 public:
  explicit ManifestOut(json::Writer& out) : out_(out) {}

  template <class T>
  void operator()(std::string_view key, const T& value) {
    out_.key(key);
    put(value);
  }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      out_.value(name_of(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      out_.value(value);
    } else if constexpr (kIsOptional<T>) {
      value ? put(*value) : static_cast<void>(out_.value(nullptr));
    } else if constexpr (std::same_as<T, NamedTexts>) {
      out_.open_list();  // names may be equal
      for (const auto& [name, text] : value)
        out_.open_object().member("name", name).member("text", text).close_object();
      out_.close_list();
    } else if constexpr (kIsList<T>) {
      out_.open_list();
      for (const auto& item : value) put(item);
      out_.close_list();
    } else {
      out_.open_object();
      visit_fields(*this, value);
      out_.close_object();
    }
  }

  json::Writer& out_;
};

/// The first fault is kept; what comes after it is not looked at.
class ManifestIn {
 public:
  ManifestIn(const yaml::Node& node, std::string_view file) : node_(&node), file_(file) {}

  template <class T>
  void operator()(std::string_view key, T& value) {
    if (fault_) return;
    const yaml::Node* const member = json::find_member(*node_, key);
    if (member == nullptr) {
      fault_ = Error{ErrorCode::kInvalidInput, fmt::format("{}: wanted the key {}{}, found none", file_, path_, key)};
      return;
    }
    const std::string outer = path_;
    path_ += key;
    take(*member, value);
    path_ = outer;
  }

  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

 private:
  void refuse(const yaml::Node& node, std::string_view wanted) {
    if (fault_) return;
    fault_ = Error{ErrorCode::kInvalidInput, fmt::format("{}:{}:{}: {}: wanted {}, found another value", file_,
                                                         node.place.line, node.place.column, path_, wanted)};
  }

  void take(const yaml::Node& node, std::string& value) {
    const std::string* const text = json::text_in(node);
    if (text == nullptr) return refuse(node, "a text");
    value = *text;
  }
  void take(const yaml::Node& node, bool& value) {
    const auto truth = json::truth_in(node);
    if (!truth) return refuse(node, "true or false");
    value = *truth;
  }
  template <class Number>
    requires(std::is_arithmetic_v<Number> && !std::same_as<Number, bool>)
  void take(const yaml::Node& node, Number& value) {
    if constexpr (std::integral<Number>) {
      const auto number = json::integer_in<Number>(node);
      if (!number) return refuse(node, "a whole number");
      value = *number;
    } else {
      const auto number = json::double_in(node);
      if (!number && !node.is_null()) return refuse(node, "a number or null");
      value = number.value_or(std::numeric_limits<double>::infinity());
    }
  }
  template <class T>
  void take(const yaml::Node& node, std::optional<T>& value) {
    value = std::nullopt;
    if (node.is_null()) return;
    take(node, value.emplace());
  }
  void take(const yaml::Node& node, NamedTexts& value) {
    const yaml::List* const items = json::list_in(node);
    if (items == nullptr) return refuse(node, "a list");
    for (const yaml::Node& item : *items) {
      if (fault_) return;
      auto& [name, text] = value.emplace_back();
      ManifestIn members(item, file_);
      members("name", name);
      members("text", text);
      fault_ = members.fault_;
    }
  }
  template <class T>
  void take(const yaml::Node& node, std::vector<T>& value) {
    const yaml::List* const items = json::list_in(node);
    if (items == nullptr) return refuse(node, "a list");
    for (const yaml::Node& item : *items) {
      if (fault_) return;
      take(item, value.emplace_back());
    }
  }
  template <class Choice>
    requires std::is_enum_v<Choice>
  void take(const yaml::Node& node, Choice& value) {
    const std::string* const word = json::text_in(node);
    const auto choice = word == nullptr ? std::nullopt : named(*word, value);
    if (!choice) return refuse(node, "a known word");
    value = *choice;
  }
  template <class Struct>
    requires std::is_class_v<Struct>
  void take(const yaml::Node& node, Struct& value) {
    if (std::get_if<yaml::Map>(&node.value) == nullptr) return refuse(node, "an object");
    const yaml::Node* const outer = std::exchange(node_, &node);
    const std::string path = path_;
    if (!path_.empty()) path_ += '.';
    visit_fields(*this, value);
    path_ = path;
    node_ = outer;
  }

  static std::optional<Method> named(std::string_view word, Method) { return method_named(word); }
  static std::optional<RangeRule> named(std::string_view word, RangeRule) { return range_rule_named(word); }
  static std::optional<Metric> named(std::string_view word, Metric) { return metric_named(word); }
  static std::optional<Goal> named(std::string_view word, Goal) { return goal_named(word); }
  static std::optional<KeepChoice> named(std::string_view word, KeepChoice) { return keep_choice_named(word); }

  const yaml::Node* node_;
  std::string file_;
  std::string path_ = {};
  std::optional<Error> fault_ = std::nullopt;
};

/// Names become paths, so they are those that this program gives.
Result<void> check_variants(const Manifest& manifest, std::string_view file) {
  for (const VariantRecord& variant : manifest.findings.variants) {
    if (variant.name != variant_name(variant.methods)) {
      return invalid(
          fmt::format("{}: wanted a variant that is named after its methods, found {}", file, in_quotes(variant.name)));
    }
    if (variant.is_kept && (!variant.figures || variant.figures->latency.empty() || variant.sha256.empty())) {
      return invalid(
          fmt::format("{}: wanted figures and the sum of each kept variant, found {} without", file, variant.name));
    }
  }
  const std::string& recommended = manifest.findings.recommended;
  const VariantRecord* const best = find_variant(manifest.findings, recommended);
  if (recommended.empty() || (best != nullptr && best->is_kept)) return {};
  return invalid(fmt::format("{}: wanted a kept variant as recommended, found {}", file, in_quotes(recommended)));
}

}  // namespace

std::string write_manifest(const Manifest& manifest) {
  constexpr int kIndent = 2;
  json::Writer out(kIndent);
  out.open_object().member("berth", kFormat);
  ManifestOut fields(out);
  visit_fields(fields, manifest);
  out.close_object();
  return out.take_line();
}

Result<Manifest> read_manifest(std::string_view text, std::string_view file) {
  const auto root = json::parse_document(text, file, kManifestLimits);
  if (!root) return pass_on(root.error());
  const yaml::Node* const format = json::find_member(*root, "berth");
  if (format == nullptr || json::integer_in<int>(*format) != kFormat) {
    return invalid(
        fmt::format("{}: wanted a manifest of `berth optimize` (\"berth\": {}), found another file", file, kFormat));
  }
  Manifest manifest;
  manifest.terms.methods.clear();
  manifest.terms.batches.clear();
  ManifestIn fields(*root, file);
  visit_fields(fields, manifest);
  if (fields.fault()) return pass_on(*fields.fault());
  if (auto checked = check_variants(manifest, file); !checked) return pass_on(checked.error());
  return manifest;
}

std::string variant_path(const VariantRecord& variant, std::string_view file) {
  if (variant.is_kept) return fmt::format("{}/{}", variant.name, file);
  return fmt::format("{}/{}/{}", kRefusedFolder, variant.name, file);
}

}  // namespace berth::models
