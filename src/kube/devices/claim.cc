#include "kube/devices/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/client/write.h"

namespace berth::kube {
namespace {

constexpr std::int64_t kDeviceCountMax = 32;  // of a claim, as the API allows

void read_selectors(const yaml::Node& node, std::vector<Selector>& selectors, std::string& not_understood) {
  for (const yaml::Node& item : json::list_at(node, {"selectors"})) {
    auto selector = parse_selector(json::text_at(item, {"cel", "expression"}));
    if (selector) {
      selectors.push_back(*std::move(selector));
    } else if (not_understood.empty()) {
      not_understood = selector.error().message;
    }
  }
}

std::vector<Toleration> read_tolerations(const yaml::Node& node) {
  std::vector<Toleration> tolerations;
  for (const yaml::Node& item : json::list_at(node, {"tolerations"})) {
    tolerations.push_back({.key = std::string(json::text_at(item, {"key"})),
                           .value = std::string(json::text_at(item, {"value"})),
                           .effect = std::string(json::text_at(item, {"effect"})),
                           .is_any_value = json::text_at(item, {"operator"}) == "Exists"});
  }
  return tolerations;
}

bool is_set(const yaml::Node& node, std::string_view key) {
  const yaml::Node* value = json::find_member(node, key);
  return value != nullptr && !value->is_null() && json::truth_in(*value) != false;
}

RequestOption read_option(const yaml::Node& node, std::string name, Claim& claim) {
  RequestOption option{.name = std::move(name), .class_name = std::string(json::text_at(node, {"deviceClassName"}))};
  read_selectors(node, option.selectors, claim.not_understood);
  option.tolerations = read_tolerations(node);
  if (const yaml::Node* count = json::find_member(node, "count"))
    option.count = json::integer_in<std::int64_t>(*count).value_or(1);
  const std::string_view mode = json::text_at(node, {"allocationMode"});
  std::string other;
  if (!mode.empty() && mode != "ExactCount") other = fmt::format("allocationMode {}", mode);
  if (option.count < 1 || option.count > kDeviceCountMax) other = fmt::format("count {}", option.count);
  for (const char* key : {"adminAccess", "capacity"}) {
    if (is_set(node, key)) other = key;
  }
  if (!other.empty() && claim.not_understood.empty()) {
    claim.not_understood = fmt::format(
        "request {}: wanted allocationMode ExactCount, count 1 to {}, no adminAccess and no capacity; found {}",
        option.name, kDeviceCountMax, other);
  }
  for (const Toleration& toleration : option.tolerations) {
    if (tolerates(toleration, kOwnedTaint, "", "NoSchedule")) claim.tolerates_owned = true;
  }
  return option;
}

DeviceRequest read_request(const yaml::Node& node, Claim& claim) {
  DeviceRequest request{.name = std::string(json::text_at(node, {"name"}))};
  if (const yaml::Node* exactly = json::find_member(node, "exactly")) {
    request.options.push_back(read_option(*exactly, request.name, claim));
  }
  for (const yaml::Node& option : json::list_at(node, {"firstAvailable"})) {
    request.options.push_back(
        read_option(option, fmt::format("{}/{}", request.name, json::text_at(option, {"name"})), claim));
  }
  if (request.options.empty() && claim.not_understood.empty()) {
    claim.not_understood = fmt::format("request {}: wanted exactly or firstAvailable, found neither", request.name);
  }
  return request;
}

void read_constraints(const yaml::Node& devices, Claim& claim) {
  for (const yaml::Node& node : json::list_at(devices, {"constraints"})) {
    MatchConstraint constraint{.attribute = std::string(json::text_at(node, {"matchAttribute"}))};
    for (const yaml::Node& request : json::list_at(node, {"requests"})) {
      if (const auto* name = json::text_in(request)) constraint.requests.push_back(*name);
    }
    if (constraint.attribute.empty() && claim.not_understood.empty()) {
      claim.not_understood = "constraint: wanted matchAttribute, found another";
    }
    claim.constraints.push_back(std::move(constraint));
  }
}

yaml::Node config_entry(const yaml::Node& config, std::string_view source, const std::vector<std::string>& requests) {
  yaml::Node entry = config;
  put(entry, "source", text_node(std::string(source)));
  yaml::List names;
  for (const std::string& request : requests) names.push_back(text_node(request));
  if (!names.empty()) put(entry, "requests", {{}, std::move(names)});
  return entry;
}

/// The class of the option with this name.
std::string class_of(const Claim& claim, const std::string& option_name) {
  for (const DeviceRequest& request : claim.requests) {
    for (const RequestOption& option : request.options) {
      if (option.name == option_name) return option.class_name;
    }
  }
  return {};
}

/// Configurations of classes first, each once with the requests that use it; then those of the claim. One that is for
/// every request names none.
yaml::List configs_of(const AllocationParts& parts, const std::vector<std::string>& used) {
  yaml::List configs;
  std::set<std::string> done;
  for (const std::string& option : used) {
    const std::string name = class_of(parts.claim, option);
    const auto found = parts.classes.find(name);
    if (found == parts.classes.end() || !done.insert(name).second) continue;
    std::vector<std::string> requests;
    for (const std::string& each : used) {
      if (class_of(parts.claim, each) == name) requests.push_back(each);
    }
    if (requests.size() == used.size()) requests.clear();
    for (const yaml::Node& config : found->second.config)
      configs.push_back(config_entry(config, "FromClass", requests));
  }
  for (const yaml::Node& config : parts.claim.config) {
    const yaml::List& requests = json::list_at(config, {"requests"});
    const bool is_used = requests.empty() || std::ranges::any_of(requests, [&](const yaml::Node& request) {
                           const auto* name = json::text_in(request);
                           return name != nullptr && std::ranges::any_of(used, [&](const std::string& option) {
                                    return option == *name || option.starts_with(*name + "/");
                                  });
                         });
    if (is_used) configs.push_back(config_entry(config, "FromClaim", {}));
  }
  return configs;
}

yaml::Node node_selector(const std::string& node) {
  yaml::Node requirement = map_node();
  put(requirement, "key", text_node("metadata.name"));
  put(requirement, "operator", text_node("In"));
  put(requirement, "values", {{}, yaml::List{text_node(node)}});
  yaml::Node term = map_node();
  put(term, "matchFields", {{}, yaml::List{std::move(requirement)}});
  yaml::Node selector = map_node();
  put(selector, "nodeSelectorTerms", {{}, yaml::List{std::move(term)}});
  return selector;
}

}  // namespace

Result<DeviceClass> read_class(const yaml::Node& object) {
  auto identity = identity_of(object);
  if (!identity) return pass_on(identity.error());
  DeviceClass device_class{.name = identity->name.name};
  if (const yaml::Node* spec = json::find_member(object, "spec")) {
    read_selectors(*spec, device_class.selectors, device_class.not_understood);
    device_class.config = json::list_at(*spec, {"config"});
  }
  return device_class;
}

Result<Claim> read_claim(const yaml::Node& object) {
  auto identity = identity_of(object);
  if (!identity) return pass_on(identity.error());
  Claim claim{.identity = *std::move(identity)};
  if (const yaml::Node* devices = json::find_at(object, {"spec", "devices"})) {
    for (const yaml::Node& node : json::list_at(*devices, {"requests"}))
      claim.requests.push_back(read_request(node, claim));
    read_constraints(*devices, claim);
    claim.config = json::list_at(*devices, {"config"});
  }
  if (const yaml::Node* allocation = json::find_at(object, {"status", "allocation"});
      allocation != nullptr && !allocation->is_null()) {
    claim.is_allocated = true;
    for (const yaml::Node& result : json::list_at(*allocation, {"devices", "results"})) {
      claim.allocated.push_back({.request = std::string(json::text_at(result, {"request"})),
                                 .device = {.pool = {std::string(json::text_at(result, {"driver"})),
                                                     std::string(json::text_at(result, {"pool"}))},
                                            .device = std::string(json::text_at(result, {"device"}))}});
    }
  }
  claim.is_reserved = !json::list_at(object, {"status", "reservedFor"}).empty();
  claim.is_of_service = !json::text_at(object, {"metadata", "labels", kServiceLabel}).empty();
  claim.is_being_deleted = !json::text_at(object, {"metadata", "deletionTimestamp"}).empty();
  for (const yaml::Node& finalizer : json::list_at(object, {"metadata", "finalizers"})) {
    if (const auto* name = json::text_in(finalizer)) claim.finalizers.push_back(*name);
  }
  const std::string_view intent = json::text_at(object, {"metadata", "annotations", kIntentAnnotation});
  if (!intent.empty()) claim.intent = std::string(intent);
  return claim;
}

std::string intent_text(const Intent& intent) {
  std::string text = fmt::format("{}", intent.epoch);
  for (const AllocatedDevice& each : intent.devices) text += fmt::format(" {}={}", each.request, each.device.text());
  return text;
}

std::optional<Intent> parse_intent(std::string_view text) {
  Intent intent;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, intent.epoch);
  if (problem != std::errc()) return std::nullopt;
  std::string_view left = text.substr(static_cast<std::size_t>(rest - text.data()));
  while (!left.empty()) {
    if (left.front() != ' ') return std::nullopt;
    left.remove_prefix(1);
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(word.size());
    const std::size_t equals = word.find('=');
    const std::size_t last = word.rfind('/');
    const std::size_t first = equals == std::string_view::npos ? equals : word.find('/', equals);
    if (first == std::string_view::npos || last <= first) return std::nullopt;
    // A pool's name may have slashes, those of drivers and devices have none.
    intent.devices.push_back({.request = std::string(word.substr(0, equals)),
                              .device = {.pool = {std::string(word.substr(equals + 1, first - equals - 1)),
                                                  std::string(word.substr(first + 1, last - first - 1))},
                                         .device = std::string(word.substr(last + 1))}});
  }
  return intent;
}

yaml::Node allocation_of(const AllocationParts& parts) {
  yaml::List results;
  std::vector<std::string> used;
  for (const AllocatedDevice& each : parts.devices) {
    yaml::Node result = map_node();
    put(result, "request", text_node(each.request));
    put(result, "driver", text_node(each.device.pool.driver));
    put(result, "pool", text_node(each.device.pool.pool));
    put(result, "device", text_node(each.device.device));
    for (const DeviceRequest& request : parts.claim.requests) {
      for (const RequestOption& option : request.options) {
        if (option.name != each.request || option.tolerations.empty()) continue;
        yaml::List tolerations;
        for (const Toleration& toleration : option.tolerations) {
          yaml::Node node = map_node();
          if (!toleration.key.empty()) put(node, "key", text_node(toleration.key));
          put(node, "operator", text_node(toleration.is_any_value ? "Exists" : "Equal"));
          if (!toleration.value.empty()) put(node, "value", text_node(toleration.value));
          if (!toleration.effect.empty()) put(node, "effect", text_node(toleration.effect));
          tolerations.push_back(std::move(node));
        }
        put(result, "tolerations", {{}, std::move(tolerations)});
      }
    }
    results.push_back(std::move(result));
    if (std::ranges::find(used, each.request) == used.end()) used.push_back(each.request);
  }
  yaml::Node devices = map_node();
  put(devices, "results", {{}, std::move(results)});
  if (yaml::List configs = configs_of(parts, used); !configs.empty()) put(devices, "config", {{}, std::move(configs)});
  yaml::Node allocation = map_node();
  put(allocation, "devices", std::move(devices));
  put(allocation, "nodeSelector", node_selector(parts.node));
  put(allocation, "allocationTimestamp", text_node(parts.time));
  return allocation;
}

}  // namespace berth::kube
