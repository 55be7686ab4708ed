// The events of `Placing`: why a pod waits, as a series where a reason comes back.
#include <fmt/format.h>

#include <utility>

#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/placing/placing.h"

namespace berth::kube {
namespace {

constexpr std::size_t kNoteBytesMax = 1'000;  // the API allows 1,024
constexpr std::size_t kNameBytesMax = 200;

/// Not worth an event: it passes by itself.
bool is_transient(const std::string& reason) {
  return reason.ends_with("does not exist yet") || reason == "its devices are chosen anew";
}

}  // namespace

void Placing::report(const PodFacts& pod, Instant now, const std::string& wall, std::vector<Action>& actions) {
  PodState& state = pod_states_.at(pod.identity.name);
  const std::string& reason = state.reason;
  if (reason.empty() || reason == state.reported || is_transient(reason)) return;
  if (state.reported_at && now - *state.reported_at < kEventGap) return;
  if (!event_pace_.try_take(now)) return;
  state.reported = reason;
  state.reported_at = now;
  if (state.series.size() >= kSeriesMax && !state.series.contains(reason)) state.series.clear();
  Series& series = state.series[reason];
  if (series.version.empty()) {
    series = {
        .name = fmt::format("{}.{:x}", pod.identity.name.name.substr(0, kNameBytesMax), now.micros() + ++event_count_)};
  }
  ++series.count;
  actions.push_back({ActionKind::kEvent, event_write(pod, series, wall),
                     fmt::format("pod {}: {}", pod.identity.name.text(), reason)});
}

Write Placing::event_write(const PodFacts& pod, const Series& series, const std::string& wall) const {
  const ObjectName& name = pod.identity.name;
  Write write{.kind = series.count > 1 ? WriteKind::kPatch : WriteKind::kCreate,
              .resource = kEvents,
              .name = {name.namespace_name, series.name},
              .version = series.version,
              .body = map_node()};
  if (series.count > 1) {
    yaml::Node& counted = put(write.body, "series", map_node());
    put(counted, "count", number_node(series.count));
    put(counted, "lastObservedTime", text_node(wall));
    return write;
  }
  put(write.body, "eventTime", text_node(wall));
  put(write.body, "reportingController", text_node("berth.dev/operator"));
  put(write.body, "reportingInstance", text_node(options_.instance));
  put(write.body, "action", text_node("Placing"));
  put(write.body, "reason", text_node("NotPlaced"));
  put(write.body, "type", text_node("Warning"));
  put(write.body, "note", text_node(pod_states_.at(name).reason.substr(0, kNoteBytesMax)));
  yaml::Node& regarding = put(write.body, "regarding", map_node());
  put(regarding, "apiVersion", text_node("v1"));
  put(regarding, "kind", text_node("Pod"));
  put(regarding, "namespace", text_node(name.namespace_name));
  put(regarding, "name", text_node(name.name));
  put(regarding, "uid", text_node(pod.identity.uid));
  return write;
}

void Placing::take_event(const Write& write, const Result<WriteOutcome>& outcome) {
  const bool is_done = outcome && std::holds_alternative<yaml::Map>(outcome->object.value);
  // The name begins with that of its pod.
  const ObjectName pod{write.name.namespace_name, write.name.name.substr(0, write.name.name.rfind('.'))};
  const auto found = pod_states_.find(pod);
  if (found == pod_states_.end()) return;
  for (auto& [reason, series] : found->second.series) {
    if (series.name != write.name.name) continue;
    series.version = is_done ? std::string(json::text_at(outcome->object, {"metadata", "resourceVersion"})) : "";
    if (series.version.empty()) series.count = 0;
  }
}

}  // namespace berth::kube
