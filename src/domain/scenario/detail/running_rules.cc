#include "domain/scenario/detail/running_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/core/control_text.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "domain/values/serve_template.h"

namespace berth::scenario::detail {
namespace {

constexpr std::int64_t kReplicasMax = 1'000'000;
constexpr std::size_t kParametersMax = 64;
constexpr std::size_t kParameterBytesMax = 4096;
constexpr std::size_t kParameterKeyBytesMax = 200;

bool is_key_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

/// A line of text, which may be empty: it becomes an argument or a variable of a program.
std::string parameter_text(const yaml::Value& value) {
  const std::string wanted = fmt::format("a text of at most {} bytes, without control characters", kParameterBytesMax);
  if (!value.is_written()) value.refuse(wanted);
  std::string text = value.text(wanted);
  if (text.size() > kParameterBytesMax || has_control(text)) value.refuse(wanted);
  return text;
}

ProgramChoice read_template(const yaml::Value& value) {
  value.check_keys({"template", "parameters"});
  ProgramChoice program;
  program.template_name = value.at("template").name();
  if (program.template_name == kServeTemplate) {
    value.at("template").refuse(fmt::format("the name of another template; this one is {}.serve", value.path()));
  }
  const yaml::Value parameters = value.at("parameters");
  if (!parameters.is_present()) return program;
  const std::vector<std::string> keys = parameters.keys();
  if (keys.size() > kParametersMax) {
    parameters.refuse(fmt::format("at most {} parameters", kParametersMax), fmt::format("{}", keys.size()));
    return program;
  }
  for (const std::string& key : keys) {
    if (key.empty() || key.size() > kParameterKeyBytesMax || !std::ranges::all_of(key, is_key_byte)) {
      parameters.refuse("keys of letters, digits and _", fmt::format("\"{}\"", key));
      return program;
    }
    program.parameters[key] = parameter_text(parameters.at(key));
  }
  return program;
}

ProgramChoice read_program(const yaml::Value& value) {
  const yaml::Value serve = value.at("serve");
  if (!serve.is_written()) return read_template(value);
  value.check_keys({"serve"});
  serve.check_keys({"repository", "model"});
  ProgramChoice program{.template_name = std::string(kServeTemplate), .parameters = {}};
  for (const char* key : {"repository", "model"}) {
    (void)serve.at(key).name(kParameterBytesMax);  // not empty
    program.parameters[key] = parameter_text(serve.at(key));
  }
  return program;
}

ReplicaLimits read_replicas(const yaml::Value& value) {
  value.check_keys({"min", "max"});
  ReplicaLimits limits;
  if (value.at("min").is_written()) limits.slices_min = value.at("min").whole({0, kReplicasMax});
  if (value.at("max").is_present()) limits.slices_max = value.at("max").whole({1, kReplicasMax});
  if (!value.has_failed() && limits.slices_max && *limits.slices_max < limits.slices_min) {
    value.at("max").fail(
        fmt::format("wanted at least {} ({}.min), found {}", limits.slices_min, value.path(), *limits.slices_max));
  }
  return limits;
}

// ---- pod

constexpr std::size_t kPodBytesMax = std::size_t{64} << 10U;

/// What a plain scalar of YAML is, as `kubectl` reads it (YAML's core schema, without octal and hexadecimal numbers).
yaml::ScalarKind kind_of(const yaml::Scalar& scalar) {
  if (scalar.kind != yaml::ScalarKind::kUntyped) return scalar.kind;
  const std::string& text = scalar.text;
  if (!scalar.is_plain) return yaml::ScalarKind::kText;
  if (text.empty() || text == "~" || text == "null") return yaml::ScalarKind::kNull;
  if (text == "true" || text == "false") return yaml::ScalarKind::kTruth;
  const bool is_number =
      json::parse_document(text, "pod").has_value() && text.find_first_not_of("+-.0123456789eE") == std::string::npos;
  return is_number ? yaml::ScalarKind::kNumber : yaml::ScalarKind::kText;
}

/// The same with the kind of each scalar, as JSON has it.
yaml::Node typed(const yaml::Node& node) {
  yaml::Node result = node;
  if (auto* scalar = std::get_if<yaml::Scalar>(&result.value)) scalar->kind = kind_of(*scalar);
  if (auto* list = std::get_if<yaml::List>(&result.value)) {
    for (yaml::Node& item : *list) item = typed(item);
  }
  if (auto* map = std::get_if<yaml::Map>(&result.value)) {
    for (yaml::Entry& entry : *map) entry.value = typed(entry.value);
  }
  return result;
}

/// What a pod of a slice cannot do without; the API server checks the rest.
std::string read_pod(const yaml::Value& value) {
  value.check_keys({"metadata", "spec"});
  const yaml::Value spec = value.at("spec");
  if (!spec.is_map()) {
    value.refuse("a pod template: {spec: {containers: ...}}, optionally with metadata");
    return {};
  }
  if (spec.at("containers").items("a list of containers", false).empty()) return {};
  for (const char* key : {"nodeName", "schedulingGates", "restartPolicy"}) {
    const yaml::Value set = spec.at(key);
    if (!set.is_present() || set.written() == "Always") continue;
    set.refuse("no such key here: Berth decides where the pod runs, and it is to run for as long as its slice");
  }
  for (const std::string& key :
       value.at("metadata").is_present() ? value.at("metadata").keys() : std::vector<std::string>()) {
    if (key != "labels" && key != "annotations") value.at("metadata").at(key).refuse("only labels and annotations");
  }
  if (value.has_failed()) return {};
  std::string text = json::text_of_node(typed(*value.node()));
  if (text.size() > kPodBytesMax) {
    value.refuse(fmt::format("at most {} bytes of JSON", kPodBytesMax), fmt::format("{}", text.size()));
  }
  return text;
}

}  // namespace

Running read_running(const yaml::Value& service) {
  Running running;
  if (service.has_failed()) return running;
  if (service.at("run").is_present()) running.program = read_program(service.at("run"));
  if (service.at("replicas").is_present()) running.replicas = read_replicas(service.at("replicas"));
  if (service.at("pod").is_present()) running.pod = read_pod(service.at("pod"));
  return running;
}

}  // namespace berth::scenario::detail
