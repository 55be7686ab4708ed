#include "gpu/programs/program_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "gpu/programs/placeholders.h"

namespace berth::programs {
namespace {

constexpr std::size_t kParameterBytesMax = 256;
constexpr std::size_t kSliceBytesMax = 96;
constexpr std::size_t kUuidBytesMax = 96;
constexpr std::size_t kOrderTenantBytesMax = 200;

/// "a, b", or "none".
template <class Map>
std::string names_in(const Map& map) {
  std::string names;
  for (const auto& [name, thing] : map) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

Result<void> check_place(const ProcessOrder& order) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == '+' || c == '@' || c == ':';
  };
  const std::string& slice = order.slice;
  if (slice.empty() || slice.size() > kSliceBytesMax || slice[0] == '.' || !std::ranges::all_of(slice, is_part)) {
    return invalid(fmt::format("slice: wanted a name such as gpu-3-1g.10gb-2, found {}", in_quotes(slice)));
  }
  const std::string& uuid = order.device_uuid;
  const bool is_uuid = uuid.size() <= kUuidBytesMax && (uuid.starts_with("GPU-") || uuid.starts_with("MIG-")) &&
                       std::ranges::all_of(uuid.substr(4), [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
                       });
  if (!is_uuid)
    return invalid(fmt::format("device: wanted the UUID of a GPU or MIG device, found {}", in_quotes(uuid)));
  const bool is_tenant =
      !order.tenant.empty() && order.tenant.size() <= kOrderTenantBytesMax && is_printable(order.tenant);
  if (!is_tenant) return invalid(fmt::format("tenant: wanted a name, found {}", in_quotes(order.tenant)));
  return {};
}

Result<void> check_tenant(const ProcessOrder& order, std::string_view field, std::string_view name,
                          const std::vector<std::string>& tenants) {
  if (std::ranges::find(tenants, order.tenant) != tenants.end()) return {};
  return invalid(fmt::format("{}: wanted one that the GPU agent allows tenant {}, found {}", field,
                             in_quotes(order.tenant), in_quotes(name)));
}

Result<void> check_parameter(std::string_view field, const std::string& value, const Expression& expression) {
  if (value.size() <= kParameterBytesMax && is_printable(value) && expression.matches(value)) return {};
  return invalid(fmt::format("{}: wanted a text of at most {} printable bytes that matches {}, found {}", field,
                             kParameterBytesMax, in_quotes(expression.text()), in_quotes(value)));
}

Result<void> check_template(const ProcessOrder& order, const ProgramTemplate& made) {
  if (auto checked = check_tenant(order, "run.template", order.template_name, made.tenants); !checked) return checked;
  for (const auto& [name, value] : order.parameters) {
    const auto known = made.parameters.find(name);
    if (known == made.parameters.end()) {
      return invalid(fmt::format("run.parameters: wanted parameters of template {} ({}), found {}", order.template_name,
                                 names_in(made.parameters), in_quotes(name)));
    }
    auto checked = check_parameter("run.parameters." + name, value, known->second);
    if (!checked) return checked;
  }
  for (const auto& [name, expression] : made.parameters) {
    if (order.parameters.contains(name)) continue;
    return invalid(fmt::format("run.parameters.{}: wanted a text that matches {}, found none", name,
                               in_quotes(expression.text())));
  }
  return {};
}

Result<void> check_serve(const ProcessOrder& order, const ProgramRules& rules) {
  for (const auto& [name, value] : order.parameters) {
    if (name == kServeRepository || name == kServeModel) continue;
    return invalid(fmt::format("run.serve: wanted repository and model, found {}", in_quotes(name)));
  }
  const auto name = order.parameters.find(std::string(kServeRepository));
  const auto folder = name == order.parameters.end() ? rules.repositories.end() : rules.repositories.find(name->second);
  if (folder == rules.repositories.end()) {
    return invalid(fmt::format("run.serve.repository: wanted a repository of the GPU agent ({}), found {}",
                               names_in(rules.repositories),
                               name == order.parameters.end() ? "none" : in_quotes(name->second)));
  }
  if (auto checked = check_tenant(order, "run.serve.repository", folder->first, folder->second.tenants); !checked) {
    return checked;
  }
  const auto model = order.parameters.find(std::string(kServeModel));
  const auto expression = Expression::compile(kServeModelText);
  ENSURE(expression.has_value());
  return check_parameter("run.serve.model", model == order.parameters.end() ? "" : model->second, *expression);
}

ProgramPlan serve_plan(const ProcessOrder& order, const ModelFolder& folder, const StartPlaces& places) {
  const std::string& model = order.parameters.at(std::string(kServeModel));
  ProgramPlan plan{.is_serve = true, .ready = "/v2/repository/models/" + model + "/load", .limits = folder.limits};
  plan.model_path = folder.path + "/" + model;
  plan.words = {"berth", "serve", "--repository", places.model_folder};
  plan.words.insert(plan.words.end(), {"--listen", fmt::format("127.0.0.1:{}", places.port)});
  plan.words.insert(plan.words.end(), {"--grpc", "127.0.0.1:0"});
  plan.words.insert(plan.words.end(), {"--device", places.device_file ? "simulated:" + *places.device_file : "cuda:0"});
  const std::optional<std::string>& engine = places.engine ? places.engine : folder.engine;
  if (engine) plan.words.insert(plan.words.end(), {"--engine", *engine});
  return plan;
}

}  // namespace

std::string program_name(std::string_view slice, std::uint64_t generation) {
  return fmt::format("{}-{}", slice, generation);
}

Result<void> check_order(const ProcessOrder& order, const ProgramRules& rules) {
  if (auto checked = check_place(order); !checked) return checked;
  if (order.template_name == kServeTemplate) return check_serve(order, rules);
  const auto made = rules.templates.find(order.template_name);
  if (made != rules.templates.end()) return check_template(order, made->second);
  return invalid(fmt::format("run.template: wanted a template of the GPU agent ({}), found {}",
                             names_in(rules.templates), in_quotes(order.template_name)));
}

ProgramPlan plan_of(const ProcessOrder& order, const ProgramRules& rules, const StartPlaces& places) {
  if (order.template_name == kServeTemplate) {
    return serve_plan(order, rules.repositories.at(order.parameters.at(std::string(kServeRepository))), places);
  }
  const ProgramTemplate& made = rules.templates.at(order.template_name);
  std::map<std::string, std::string> values = order.parameters;
  values.emplace(kPortPlaceholder, std::to_string(places.port));
  ProgramPlan plan{.ready = made.ready, .limits = made.limits};
  for (const std::string& word : made.command) plan.words.push_back(filled(word, values));
  return plan;
}

const ProgramLimits& limits_of(const ProcessOrder& order, const ProgramRules& rules) {
  if (order.template_name != kServeTemplate) return rules.templates.at(order.template_name).limits;
  return rules.repositories.at(order.parameters.at(std::string(kServeRepository))).limits;
}

}  // namespace berth::programs
