#include "kube/services/service_view.h"

#include <algorithm>
#include <utility>

#include "base/json/compare.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/client/write.h"

namespace berth::kube {
namespace {

yaml::Node condition_node(const ConditionView& condition) {
  yaml::Node node = map_node();
  put(node, "type", text_node(condition.type));
  put(node, "status", text_node(condition.status));
  put(node, "reason", text_node(condition.reason));
  put(node, "message", text_node(condition.message));
  put(node, "lastTransitionTime", text_node(condition.since));
  return node;
}

yaml::Node slice_node(const SliceView& slice) {
  yaml::Node node = map_node();
  put(node, "gpu", text_node(slice.gpu));
  put(node, "profile", text_node(slice.profile));
  put(node, "start", number_node(slice.start));
  put(node, "role", text_node(slice.role));
  put(node, "state", text_node(slice.state));
  return node;
}

std::string text_below(const yaml::Node& node, std::string_view key) { return std::string(json::text_at(node, {key})); }

const yaml::Node* condition_of_type(const yaml::Node& conditions, std::string_view type) {
  const yaml::List* const list = json::list_in(conditions);
  if (list == nullptr) return nullptr;
  const auto found =
      std::ranges::find_if(*list, [&](const yaml::Node& each) { return json::text_at(each, {"type"}) == type; });
  return found == list->end() ? nullptr : &*found;
}

bool has_conditions(const yaml::Node& found, const yaml::Node& wanted) {
  const yaml::List* const list = json::list_in(wanted);
  return list != nullptr && std::ranges::all_of(*list, [&](const yaml::Node& each) {
           const yaml::Node* const same = condition_of_type(found, json::text_at(each, {"type"}));
           return same != nullptr && json::is_same_to_doubles(*same, each);
         });
}

}  // namespace

std::optional<ServiceView> view_of_api_object(const yaml::Node& object) {
  ServiceView view;
  view.phase = json::text_at(object, {"status", "phase"});
  if (view.phase.empty()) return std::nullopt;
  for (const yaml::Node& each : json::list_at(object, {"status", "conditions"})) {
    view.conditions.push_back({.type = text_below(each, "type"),
                               .status = text_below(each, "status"),
                               .reason = text_below(each, "reason"),
                               .message = text_below(each, "message"),
                               .since = text_below(each, "since")});
  }
  for (const yaml::Node& each : json::list_at(object, {"status", "slices"})) {
    const yaml::Node* const start = json::find_member(each, "start");
    view.slices.push_back({.gpu = text_below(each, "gpu"),
                           .profile = text_below(each, "profile"),
                           .start = start == nullptr ? 0 : json::integer_in<std::int64_t>(*start).value_or(0),
                           .role = text_below(each, "role"),
                           .state = text_below(each, "state")});
  }
  return view;
}

yaml::Node status_node(std::int64_t generation, const ConditionView& accepted,
                       const std::optional<ServiceView>& service) {
  yaml::Node status = map_node();
  put(status, "observedGeneration", number_node(generation));
  yaml::List conditions = {condition_node(accepted)};
  if (service) {
    put(status, "phase", text_node(service->phase));
    yaml::List slices;
    for (const SliceView& slice : service->slices) slices.push_back(slice_node(slice));
    const auto serving = std::ranges::count(service->slices, "serving", &SliceView::state);
    put(status, "slice_count", number_node(std::ssize(service->slices)));
    put(status, "serving_slice_count", number_node(serving));
    put(status, "slices", {{}, std::move(slices)});
    for (const ConditionView& condition : service->conditions) conditions.push_back(condition_node(condition));
  }
  put(status, "conditions", {{}, std::move(conditions)});
  return status;
}

bool has_status(const yaml::Node& found, const yaml::Node& wanted) {
  const auto* const entries = std::get_if<yaml::Map>(&wanted.value);
  if (entries == nullptr) return false;
  return std::ranges::all_of(*entries, [&](const yaml::Entry& entry) {
    const yaml::Node* const same = json::find_member(found, entry.key);
    if (same == nullptr) return false;
    return entry.key == "conditions" ? has_conditions(*same, entry.value)
                                     : json::is_same_to_doubles(*same, entry.value);
  });
}

}  // namespace berth::kube
