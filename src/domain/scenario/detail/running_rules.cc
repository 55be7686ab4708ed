#include "domain/scenario/detail/running_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/core/control_text.h"
#include "domain/scenario/service_keys.h"
#include "domain/values/serve_template.h"

namespace berth::scenario::detail {
namespace {

constexpr std::int64_t kReplicasMax = 1'000'000;
constexpr std::size_t kParametersMax = 64;
constexpr std::size_t kParameterBytesMax = 4096;
constexpr std::size_t kParameterKeyBytesMax = 200;

bool is_key_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' ||
         byte == '-';
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
  if (!parameters.is_map()) parameters.refuse("a map of texts");
  const std::vector<std::string> keys = parameters.keys();
  if (keys.size() > kParametersMax) {
    parameters.refuse(fmt::format("at most {} parameters", kParametersMax), fmt::format("{}", keys.size()));
    return program;
  }
  for (const std::string& key : keys) {
    if (key.empty() || key.size() > kParameterKeyBytesMax || !std::ranges::all_of(key, is_key_byte)) {
      parameters.refuse("keys of letters, digits, _ and -", fmt::format("\"{}\"", key));
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
  serve.check_keys(key_names("run.serve"));
  ProgramChoice program{.template_name = std::string(kServeTemplate), .parameters = {}};
  for (const char* key : {"repository", "model"}) {
    (void)serve.at(key).name(kParameterBytesMax);  // not empty
    program.parameters[key] = parameter_text(serve.at(key));
  }
  return program;
}

ReplicaLimits read_replicas(const yaml::Value& value) {
  value.check_keys(key_names("replicas"));
  ReplicaLimits limits;
  if (value.at("min").is_written()) limits.slices_min = value.at("min").whole({0, kReplicasMax});
  if (value.at("max").is_present()) limits.slices_max = value.at("max").whole({1, kReplicasMax});
  if (!value.has_failed() && limits.slices_max && *limits.slices_max < limits.slices_min) {
    value.at("max").fail(
        fmt::format("wanted at least {} ({}.min), found {}", limits.slices_min, value.path(), *limits.slices_max));
  }
  return limits;
}

/// What a template for pods of slices must have and must not: Kubernetes checks the rest. The objects of the cluster
/// keep it; it is not part of the service here.
void check_pod(const yaml::Value& pod) {
  pod.check_keys({"metadata", "spec"});
  const yaml::Value spec = pod.at("spec");
  if (!pod.has_failed() && !spec.is_map()) spec.refuse("a map with containers");
  (void)spec.at("containers").items("a list of at least one container", false);
  for (const std::string_view key : {"nodeName", "schedulingGates"}) {
    if (spec.at(key).is_present()) spec.at(key).refuse("nothing, because Berth decides where the pod runs");
  }
  for (const std::string& key : pod.at("metadata").keys()) {
    const yaml::Value value = pod.at("metadata").at(key);
    if (value.is_present() && key != "labels" && key != "annotations") value.refuse("only labels and annotations here");
  }
}

}  // namespace

Running read_running(const yaml::Value& service) {
  Running running;
  if (service.has_failed()) return running;
  if (service.at("run").is_present()) running.program = read_program(service.at("run"));
  if (service.at("replicas").is_present()) running.replicas = read_replicas(service.at("replicas"));
  if (service.at("pod").is_present()) check_pod(service.at("pod"));
  return running;
}

}  // namespace berth::scenario::detail
