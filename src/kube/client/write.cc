#include "kube/client/write.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "base/json/document.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"

namespace berth::kube {
namespace {

constexpr int kNotFound = 404;
constexpr int kConflicts = 409;
constexpr int kInvalid = 422;

bool may_have_been_carried_out(const Error& error) {
  return error.code == ErrorCode::kTimedOut || error.code == ErrorCode::kUnavailable;
}

yaml::Node object_in(const KubeAnswer& answer) {
  auto body = json::parse_document(answer.body, "answer", json::kNoLimits);
  return body ? *std::move(body) : yaml::Node{};
}

/// Whether an answer to a patch says that the object has another uid: as a change of that field, which is immutable.
bool names_another_object(const KubeAnswer& answer) {
  const yaml::Node body = object_in(answer);
  const yaml::Node* const causes = json::find_at(body, {"details", "causes"});
  const yaml::List* const list = causes == nullptr ? nullptr : json::list_in(*causes);
  return list != nullptr && std::ranges::any_of(*list, [](const yaml::Node& cause) {
           return json::text_at(cause, {"field"}) == "metadata.uid";
         });
}

WriteOutcome outcome_of(const Write& write, const KubeCall& call, const KubeAnswer& answer) {
  if (is_success(answer.status)) {
    return {.fate = WriteFate::kDone, .object = write.kind == WriteKind::kDelete ? yaml::Node{} : object_in(answer)};
  }
  const std::string message = error_of(call, answer).message;
  const bool is_another = !write.uid.empty() && answer.status == kInvalid && names_another_object(answer);
  if (answer.status == kConflicts || is_another) return {.fate = WriteFate::kConflict, .message = message};
  if (answer.status == kNotFound) {
    const bool is_done = write.kind == WriteKind::kDelete;
    return {.fate = is_done ? WriteFate::kDone : WriteFate::kGone, .message = message};
  }
  return {.fate = WriteFate::kRefused, .message = message};
}

/// What the object says about a write whose answer was lost: its outcome, or nothing if it was not carried out.
std::optional<WriteOutcome> judge(const Write& write, const KubeAnswer& found) {
  if (found.status == kNotFound) {
    if (write.kind == WriteKind::kDelete) return WriteOutcome{.fate = WriteFate::kDone};
    if (write.kind == WriteKind::kCreate || (write.kind == WriteKind::kApply && write.uid.empty())) return std::nullopt;
    return WriteOutcome{.fate = WriteFate::kGone, .message = "the object is gone"};
  }
  yaml::Node object = object_in(found);
  const bool is_other = !write.uid.empty() && json::text_at(object, {"metadata", "uid"}) != write.uid;
  if (write.kind == WriteKind::kDelete) {
    if (is_other || !json::text_at(object, {"metadata", "deletionTimestamp"}).empty()) {
      return WriteOutcome{.fate = WriteFate::kDone};
    }
    return std::nullopt;
  }
  if (is_other) return WriteOutcome{.fate = WriteFate::kConflict, .message = "the object is another one"};
  const bool is_unchanged =
      !write.version.empty() && json::text_at(object, {"metadata", "resourceVersion"}) == write.version;
  if (is_unchanged || (write.kind == WriteKind::kApply && write.version.empty())) return std::nullopt;
  return WriteOutcome{.fate = WriteFate::kUnknown, .object = std::move(object), .message = "the answer was lost"};
}

}  // namespace

yaml::Node text_node(std::string text) { return {{}, yaml::Scalar{std::move(text), false, yaml::ScalarKind::kText}}; }
yaml::Node number_node(std::int64_t number) {
  return {{}, yaml::Scalar{fmt::format("{}", number), false, yaml::ScalarKind::kNumber}};
}
yaml::Node truth_node(bool truth) {
  return {{}, yaml::Scalar{truth ? "true" : "false", false, yaml::ScalarKind::kTruth}};
}
yaml::Node null_node() { return {{}, yaml::Scalar{"null", false, yaml::ScalarKind::kNull}}; }
yaml::Node map_node() { return {{}, yaml::Map{}}; }

yaml::Node& put(yaml::Node& map, std::string_view key, yaml::Node value) {
  auto* entries = std::get_if<yaml::Map>(&map.value);
  ENSURE(entries != nullptr);
  for (yaml::Entry& entry : *entries) {
    if (entry.key == key) return entry.value = std::move(value);
  }
  return entries->emplace_back(yaml::Entry{std::string(key), {}, std::move(value)}).value;
}

KubeCall call_of(const Write& write) {
  const bool is_create = write.kind == WriteKind::kCreate;
  KubeCall call;
  call.target = is_create ? collection_path(write.resource, write.name.namespace_name)
                          : object_path(write.resource, write.name, write.subresource);
  if (write.kind == WriteKind::kDelete) {
    ENSURE(!write.uid.empty());
    yaml::Node options = map_node();
    put(options, "apiVersion", text_node("v1"));
    put(options, "kind", text_node("DeleteOptions"));
    put(put(options, "preconditions", map_node()), "uid", text_node(write.uid));
    call.method = "DELETE";
    call.content_type = "application/json";
    call.body = json::text_of_node(options);
    return call;
  }
  ENSURE(write.kind != WriteKind::kPatch || !write.version.empty());
  yaml::Node body = write.body;
  put(body, "apiVersion", text_node(api_version(write.resource)));
  put(body, "kind", text_node(std::string(write.resource.kind)));
  const yaml::Node* given = json::find_member(body, "metadata");
  yaml::Node metadata = given == nullptr ? map_node() : *given;
  put(metadata, "name", text_node(write.name.name));
  if (!write.name.namespace_name.empty()) put(metadata, "namespace", text_node(write.name.namespace_name));
  if (!write.uid.empty()) put(metadata, "uid", text_node(write.uid));
  if (!write.version.empty()) put(metadata, "resourceVersion", text_node(write.version));
  put(body, "metadata", std::move(metadata));
  call.method = is_create ? "POST" : "PATCH";
  call.target += fmt::format("?fieldManager={}", kFieldManager);
  if (write.kind == WriteKind::kApply) call.target += "&force=true";
  call.content_type = is_create                         ? "application/json"
                      : write.kind == WriteKind::kApply ? "application/apply-patch+yaml"
                                                        : "application/merge-patch+json";
  call.body = json::text_of_node(body);
  return call;
}

Result<WriteOutcome> write_carefully(KubeApi& api, const Write& write) {
  const KubeCall call = call_of(write);
  for (int repeat_count = 0;; ++repeat_count) {
    const auto answer = api.ask(call);
    const bool is_lost = answer ? answer->status >= 500 : may_have_been_carried_out(answer.error());
    if (answer && !is_lost) return outcome_of(write, call, *answer);
    if (!is_lost) return pass_on(answer.error());
    const auto found = api.ask({.target = object_path(write.resource, write.name)});
    if (!found) return pass_on(found.error());
    if (!is_success(found->status) && found->status != kNotFound) {
      return pass_on(error_of({.target = object_path(write.resource, write.name)}, *found));
    }
    if (auto outcome = judge(write, *found)) return *std::move(outcome);
    if (repeat_count < kRepeatsMax) continue;
    return answer ? pass_on(error_of(call, *answer)) : pass_on(answer.error());
  }
}

}  // namespace berth::kube
