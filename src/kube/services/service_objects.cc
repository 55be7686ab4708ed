#include "kube/services/service_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "base/json/writer.h"
#include "kube/services/custom_resources.h"
#include "kube/services/version.h"

namespace berth::kube {
namespace {

constexpr std::string_view kAcceptedType = "Accepted";
/// What the session is given of a tenant that has no object.
constexpr std::string_view kDefaultTenant = R"({"metadata":{"labels":{}},"spec":{}})";

/// The body of a PUT: what clients set. Everything else of the metadata is the cluster's.
std::string body_of(const yaml::Node& object) {
  json::Writer json;
  json.open_object().open_object("metadata").key("labels");
  if (const yaml::Node* const labels = json::find_at(object, {"metadata", "labels"})) {
    json::write_node(json, *labels);
  } else {
    json.open_object().close_object();
  }
  json.close_object();
  if (const yaml::Node* const spec = json::find_member(object, "spec")) json::write_node(json.key("spec"), *spec);
  return json.close_object().take();
}

std::int64_t generation_of(const yaml::Node& object) {
  const yaml::Node* const found = json::find_at(object, {"metadata", "generation"});
  return found == nullptr ? 0 : json::integer_in<std::int64_t>(*found).value_or(0);
}

bool is_on_its_way_out(const Change& change) {
  return change.kind == ChangeKind::kDeleted ||
         !json::text_at(change.object, {"metadata", "deletionTimestamp"}).empty();
}

std::string_view status_word(SpecVerdict verdict) {
  switch (verdict) {
    case SpecVerdict::kAccepted:
      return "True";
    case SpecVerdict::kRefused:
      return "False";
    case SpecVerdict::kFailed:
      break;
  }
  return "Unknown";
}

std::string_view reason_word(SpecVerdict verdict) {
  switch (verdict) {
    case SpecVerdict::kAccepted:
      return "Accepted";
    case SpecVerdict::kRefused:
      return "Invalid";
    case SpecVerdict::kFailed:
      break;
  }
  return "NotRecorded";
}

/// When the condition `Accepted` of an object got its status, if it has this one.
std::string accepted_since(const yaml::Node& status, std::string_view word) {
  for (const yaml::Node& each : json::list_at(status, {"conditions"})) {
    if (json::text_at(each, {"type"}) == kAcceptedType && json::text_at(each, {"status"}) == word) {
      return std::string(json::text_at(each, {"lastTransitionTime"}));
    }
  }
  return {};
}

ObjectName name_of(const SpecWrite& write) {
  if (write.service.empty()) return {"", write.tenant};
  return {write.tenant, write.service};
}

bool is_put(const SpecWrite& write) {
  return write.kind == SpecWriteKind::kPutTenant || write.kind == SpecWriteKind::kPutService;
}

}  // namespace

bool ServiceObjects::is_synced() const {
  return std::ranges::all_of(kServiceResources,
                             [&](const Resource& resource) { return listed_.contains(std::string(resource.plural)); });
}

void ServiceObjects::take(std::string_view plural, const Change& change) {
  const bool is_tenant = plural == kTenants.plural;
  if (!is_tenant && plural != kGpuServices.plural) return;
  Objects& objects = is_tenant ? tenants_ : services_;
  const auto known = objects.find(change.identity.name);
  if (is_on_its_way_out(change)) {
    if (known != objects.end()) objects.erase(known);
    return;
  }
  const bool is_same = known != objects.end() && known->second.identity.uid == change.identity.uid;
  if (is_same && is_older_version(change.identity.version, known->second.identity.version)) return;
  Object object;
  if (is_same) object = std::move(known->second);
  object.identity = change.identity;
  object.generation = generation_of(change.object);
  object.body = body_of(change.object);
  const yaml::Node* const pod = json::find_at(change.object, {"spec", "pod"});
  object.pod = pod == nullptr ? std::nullopt : std::optional(*pod);
  const yaml::Node* const status = json::find_member(change.object, "status");
  object.status = status == nullptr ? map_node() : *status;
  objects.insert_or_assign(change.identity.name, std::move(object));
}

// ---- what the session is to hold

std::set<std::string> ServiceObjects::wanted_tenants() const {
  std::set<std::string> tenants;
  for (const auto& [name, object] : tenants_) tenants.insert(name.name);
  for (const auto& [name, object] : services_) tenants.insert(name.namespace_name);
  return tenants;
}

const ServiceObjects::Given* ServiceObjects::find_given(const ObjectName& name) const {
  const auto found = given_.find(name);
  return found == given_.end() ? nullptr : &found->second;
}

bool ServiceObjects::is_judged(const ObjectName& name, const Object& object) const {
  const Given* const given = find_given(name);
  return given != nullptr && given->uid == object.identity.uid && given->body == object.body;
}

bool ServiceObjects::is_due(const Given* given, const Object* object, bool is_held, Instant now) {
  if (given == nullptr) return true;
  const std::string_view uid = object == nullptr ? std::string_view() : object->identity.uid;
  if (given->uid != uid || given->body != (object == nullptr ? kDefaultTenant : object->body)) return true;
  switch (given->answer.verdict) {
    case SpecVerdict::kAccepted:
      return !is_held;
    case SpecVerdict::kRefused:
      return now >= given->at + kRefusedSpecAgain;
    case SpecVerdict::kFailed:
      break;
  }
  return now >= given->at + kFailedSpecAgain;
}

void ServiceObjects::add_puts(const HeldSpecs& held, Instant now, std::vector<SpecWrite>& writes) const {
  for (const std::string& tenant : wanted_tenants()) {
    const ObjectName name{"", tenant};
    const auto found = tenants_.find(name);
    const Object* const object = found == tenants_.end() ? nullptr : &found->second;
    if (!is_due(find_given(name), object, held.tenants.contains(tenant), now)) continue;
    writes.push_back({.kind = SpecWriteKind::kPutTenant,
                      .tenant = tenant,
                      .body = object == nullptr ? std::string(kDefaultTenant) : object->body,
                      .uid = object == nullptr ? "" : object->identity.uid,
                      .generation = object == nullptr ? 0 : object->generation});
  }
  for (const auto& [name, object] : services_) {
    if (!is_due(find_given(name), &object, held.services.contains(name), now)) continue;
    writes.push_back({.kind = SpecWriteKind::kPutService,
                      .tenant = name.namespace_name,
                      .service = name.name,
                      .body = object.body,
                      .uid = object.identity.uid,
                      .generation = object.generation});
  }
}

bool ServiceObjects::may_remove(const ObjectName& name, Instant now) const {
  const auto tried = removal_tried_at_.find(name);
  return tried == removal_tried_at_.end() || now >= tried->second + kFailedSpecAgain;
}

void ServiceObjects::add_removals(const HeldSpecs& held, Instant now, std::vector<SpecWrite>& writes) const {
  for (const ObjectName& name : held.services) {
    const Given* const given = find_given(name);
    // The spec of an object that was replaced by one that is refused is no longer anyone's.
    const bool is_replaced = given != nullptr && given->answer.verdict == SpecVerdict::kRefused &&
                             !given->accepted_uid.empty() && given->accepted_uid != given->uid;
    if ((services_.contains(name) && !is_replaced) || !may_remove(name, now)) continue;
    writes.push_back({.kind = SpecWriteKind::kDeleteService, .tenant = name.namespace_name, .service = name.name});
  }
  const std::set<std::string> wanted = wanted_tenants();
  for (const std::string& tenant : held.tenants) {
    if (wanted.contains(tenant) || !may_remove({"", tenant}, now)) continue;
    writes.push_back({.kind = SpecWriteKind::kDeleteTenant, .tenant = tenant});
  }
}

std::vector<SpecWrite> ServiceObjects::decide(const HeldSpecs& held, Instant now) const {
  std::vector<SpecWrite> writes;
  if (!is_synced()) return writes;
  add_puts(held, now, writes);
  add_removals(held, now, writes);
  return writes;
}

void ServiceObjects::take_answer(const SpecWrite& write, const SpecAnswer& answer, Instant now,
                                 const std::string& wall) {
  const ObjectName name = name_of(write);
  if (!is_put(write)) {
    removal_tried_at_.erase(name);
    if (answer.verdict != SpecVerdict::kAccepted) {
      removal_tried_at_[name] = now;
    } else if (const auto given = given_.find(name); given != given_.end()) {
      given->second.accepted_uid.clear();
      if (!services_.contains(name)) given_.erase(given);
    }
    return;
  }
  const Given* const before = find_given(name);
  Given given{.uid = write.uid, .body = write.body, .generation = write.generation, .answer = answer, .at = now};
  const bool is_same_object = before != nullptr && before->uid == given.uid;
  if (before != nullptr) given.accepted_uid = before->accepted_uid;
  if (answer.verdict == SpecVerdict::kAccepted) given.accepted_uid = write.uid;
  if (is_same_object && before->answer.verdict == answer.verdict) {
    given.since = before->since;
  } else if (!is_same_object) {
    const Objects& objects = write.service.empty() ? tenants_ : services_;
    const auto object = objects.find(name);
    if (object != objects.end()) given.since = accepted_since(object->second.status, status_word(answer.verdict));
  }
  if (given.since.empty()) given.since = wall;
  given_.insert_or_assign(name, std::move(given));
}

const yaml::Node* ServiceObjects::pod_of(const ObjectName& service) const {
  const auto found = services_.find(service);
  return found == services_.end() || !found->second.pod ? nullptr : &*found->second.pod;
}

const SpecAnswer* ServiceObjects::answer_of(const ObjectName& service) const {
  const auto found = services_.find(service);
  if (found == services_.end() || !is_judged(service, found->second)) return nullptr;
  return &find_given(service)->answer;
}

// ---- statuses

namespace {

/// The message with the field, which the API states in a member of its own.
std::string message_with_field(const SpecAnswer& answer) {
  const bool is_said = answer.field.empty() || answer.message.find(answer.field) != std::string::npos;
  return is_said ? answer.message : answer.field + ": " + answer.message;
}

ConditionView accepted_condition(const SpecAnswer& answer, const std::string& since) {
  return {.type = std::string(kAcceptedType),
          .status = std::string(status_word(answer.verdict)),
          .reason = std::string(reason_word(answer.verdict)),
          .message = message_with_field(answer),
          .since = since};
}

bool is_same_status(const yaml::Node& a, const yaml::Node& b) { return has_status(a, b) && has_status(b, a); }

/// The service of an object that was refused may be in the session with an earlier spec, or not at all.
std::optional<ServiceView> shown_view(std::optional<ServiceView> view, SpecVerdict verdict) {
  constexpr const char* kRefusedPhase = "Refused";
  constexpr const char* kFirstPhase = "Waiting";
  if (view) return view;
  return ServiceView{
      .phase = verdict == SpecVerdict::kRefused ? kRefusedPhase : kFirstPhase, .conditions = {}, .slices = {}};
}

}  // namespace

bool ServiceObjects::needs_status(const Object& object, const yaml::Node& wanted, Instant now) {
  if (object.sent && !is_same_status(*object.sent, wanted)) return true;
  if (!object.sent) return !is_same_status(object.status, wanted);
  // Somebody changed it, unless it is only late.
  return !has_status(object.status, wanted) && (!object.sent_at || now >= *object.sent_at + kStatusEchoMax);
}

void ServiceObjects::add_statuses(const Resource& resource, Objects& objects, const FindView& find_view, Instant now,
                                  std::vector<StatusWrite>& writes) const {
  for (auto& [name, object] : objects) {
    if ((object.next_look && now < *object.next_look) || !is_judged(name, object)) continue;
    object.next_look = now + kStatusInterval;
    const Given& given = *find_given(name);
    std::optional<ServiceView> view;
    if (find_view) view = shown_view(find_view(name), given.answer.verdict);
    yaml::Node wanted = status_node(given.generation, accepted_condition(given.answer, given.since), view);
    if (!needs_status(object, wanted, now)) {
      object.sent = std::move(wanted);
      continue;
    }
    object.sent_at = now;
    object.sent = wanted;
    Write write{.kind = WriteKind::kApply,
                .resource = resource,
                .name = name,
                .subresource = "status",
                .uid = object.identity.uid,
                .body = map_node()};
    std::string text = fmt::format("status of {} {}", resource.plural, name.text());
    if (view) text += ": " + view->phase;
    put(write.body, "status", std::move(wanted));
    writes.push_back({.write = std::move(write), .text = std::move(text)});
  }
}

std::vector<StatusWrite> ServiceObjects::statuses(const FindView& find_view, Instant now) {
  ENSURE(find_view != nullptr);
  std::vector<StatusWrite> writes;
  if (!is_synced()) return writes;
  add_statuses(kTenants, tenants_, nullptr, now, writes);
  add_statuses(kGpuServices, services_, find_view, now, writes);
  return writes;
}

void ServiceObjects::take_outcome(const StatusWrite& write, const Result<WriteOutcome>& outcome, Instant now) {
  Objects& objects = write.write.resource.plural == kTenants.plural ? tenants_ : services_;
  const auto found = objects.find(write.write.name);
  if (found == objects.end() || found->second.identity.uid != write.write.uid) return;
  Object& object = found->second;
  if (outcome && outcome->fate == WriteFate::kDone) {
    const yaml::Node* const status = json::find_member(outcome->object, "status");
    const std::string_view version = json::text_at(outcome->object, {"metadata", "resourceVersion"});
    if (status == nullptr || version.empty()) return;
    object.status = *status;
    object.identity.version = version;
    return;
  }
  // Tried again later: what stands is not known, or the server does not take it.
  object.sent = std::nullopt;
  object.next_look = now + kStatusEchoMax;
}

}  // namespace berth::kube
