#include "surface/api/service_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/conflict.h"
#include "engine/static_conflict.h"
#include "json/document.h"
#include "scenario/service_object.h"
#include "surface/api/paging.h"
#include "surface/api/request_body.h"
#include "yaml/reader.h"

namespace berth::api {
namespace {

constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kLabelBytesMax = 253;

/// What a body says about the object besides its spec.
struct Envelope {
  live::Labels labels;
  std::optional<std::string> version;
};

/// Letters a-z, digits and '-', not at the ends.
bool is_dns_label(std::string_view name) {
  const auto is_inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, is_inner) && name.front() != '-' &&
         name.back() != '-';
}

ApiError not_a_label(const std::string& field, const std::string& found) {
  const std::string wanted = "1 to 63 letters a-z, digits and '-', not '-' at the ends";
  return {.status = 422,
          .code = "invalid",
          .message = fmt::format("wanted {}, found \"{}\"", wanted, found),
          .field = field,
          .wanted = wanted,
          .found = found};
}

/// A text that, where it is written, must be this one.
void check_text(const yaml::Value& value, const std::string& wanted) {
  if (!value.is_present() || value.has_failed()) return;
  const std::string found = value.text("the text " + wanted);
  if (!value.has_failed() && found != wanted) value.refuse(wanted, "\"" + found + "\"");
}

/// apiVersion, kind and metadata; what the server sets itself may be sent back, and is not read.
Envelope read_envelope(const yaml::Value& root, const std::string& kind, const std::string& tenant,
                       const std::string& name) {
  root.check_keys({"apiVersion", "kind", "metadata", "spec", "status"});
  check_text(root.at("apiVersion"), "berth.dev/v1alpha1");
  check_text(root.at("kind"), kind);
  Envelope envelope;
  const yaml::Value metadata = root.at("metadata");
  if (!metadata.is_present()) return envelope;
  metadata.check_keys({"name", "namespace", "uid", "resourceVersion", "labels", "creationTimestamp"});
  check_text(metadata.at("name"), name);
  if (!tenant.empty()) check_text(metadata.at("namespace"), tenant);
  if (metadata.at("resourceVersion").is_present()) {
    envelope.version = metadata.at("resourceVersion").text("a version as it was read, a text of digits");
  }
  const yaml::Value labels = metadata.at("labels");
  if (!labels.is_present()) return envelope;
  if (!labels.is_map()) labels.refuse("a map of texts");
  for (const std::string& key : labels.keys()) {
    const std::string value = labels.at(key).text("a text");
    if (key.empty() || key.size() > kLabelBytesMax) labels.refuse("keys of 1 to 253 bytes", "\"" + key + "\"");
    if (value.size() > kNameBytesMax) labels.at(key).refuse("a text of at most 63 bytes");
    envelope.labels[key] = value;
  }
  return envelope;
}

ApiError error_of(const live::ObjectRefusal& refusal, const std::string& kind, const std::string& name,
                  const std::optional<std::string>& version) {
  using Kind = live::ObjectRefusal::Kind;
  switch (refusal.kind) {
    case Kind::kNoTenant:
      return {
          .status = 404, .code = "not_found", .message = fmt::format("there is no tenant of the {} {}", kind, name)};
    case Kind::kNotFound:
      return {.status = 404, .code = "not_found", .message = fmt::format("there is no {} {}", kind, name)};
    case Kind::kHasServices:
      return {.status = 409,
              .code = "has_services",
              .message = fmt::format("the tenant {} still has services: delete them first", name)};
    case Kind::kVersion:
      break;
  }
  return {.status = 409,
          .code = "conflict",
          .message = fmt::format("wanted version {} of the {} {}, found {}", version.value_or(""), kind, name,
                                 refusal.stored_version.value_or("that it does not exist")),
          .field = "metadata.resourceVersion",
          .wanted = version,
          .found = refusal.stored_version};
}

int status_of(live::SetResult result) { return result == live::SetResult::kCreated ? 201 : 200; }

/// The pins of all services but one.
std::vector<Pin> pins_of_others(const live::Session& session, const live::ServiceName& name) {
  std::vector<Pin> pins;
  for (const ServiceSpec& service : session.scenario().services) {
    if (service.tenant == name.tenant && service.name == name.name) continue;
    pins.insert(pins.end(), service.pins.begin(), service.pins.end());
  }
  return pins;
}

/// Why no plan could keep the constraints of this service together with those that are there.
std::optional<ApiError> find_conflict_with(const live::Session& session, const live::ServiceName& name,
                                           ServiceSpec spec) {
  if (spec.pins.empty()) return std::nullopt;
  Scenario scenario = session.scenario();
  spec.tenant = name.tenant;
  spec.name = name.name;
  const auto known = session.catalog().services.find(name);
  if (known == session.catalog().services.end()) {
    scenario.services.push_back(std::move(spec));
  } else {
    scenario.services.set(known->second.id.index, std::move(spec));
  }
  const auto conflict = find_static_conflict(scenario);
  if (!conflict) return std::nullopt;
  return ApiError{
      .status = 422,
      .code = "conflict",
      .message = conflict_text(scenario, conflict->constraints, conflict->is_minimal) + ": " + conflict->why,
      .field = "spec.pins"};
}

}  // namespace

// ---- tenants

ApiResult<HttpAnswer> get_tenant(const ObjectSource& source, const Call& call) {
  const std::string& name = call.parameter("t");
  if (source.session.catalog().tenants.contains(name)) return json_response(200, tenant_object(source, name));
  return tl::unexpected(ApiError{.status = 404, .code = "not_found", .message = "there is no tenant " + name});
}

ApiResult<HttpAnswer> put_tenant(live::Session& session, const ObjectSource& source, const Call& call) {
  const std::string& name = call.parameter("t");
  const auto body = parse_body(call.request);
  if (!body) return tl::unexpected(body.error());
  yaml::Report report("body");
  const yaml::Value root(*body, report);
  const Envelope envelope = read_envelope(root, "Tenant", "", name);
  if (root.at("spec").is_present()) root.at("spec").check_keys({});
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  const bool is_known = session.catalog().tenants.contains(name);
  if (!is_known && !is_dns_label(name)) return tl::unexpected(not_a_label("metadata.name", name));
  const auto set = session.set_tenant(name, envelope.labels, envelope.version);
  if (!set) return tl::unexpected(error_of(set.error(), "tenant", name, envelope.version));
  return json_response(status_of(*set), tenant_object(source, name));
}

ApiResult<HttpAnswer> delete_tenant(live::Session& session, const ObjectSource& source, const Call& call) {
  const std::string& name = call.parameter("t");
  const bool is_known = session.catalog().tenants.contains(name);
  std::string last = is_known ? tenant_object(source, name) : std::string();
  const auto removed = session.remove_tenant(name);
  if (!removed) return tl::unexpected(error_of(removed.error(), "tenant", name, std::nullopt));
  return json_response(200, std::move(last));
}

// ---- services

ApiResult<HttpAnswer> put_service(live::Session& session, const ObjectSource& source, const Call& call) {
  const live::ServiceName name{.tenant = call.parameter("t"), .name = call.parameter("name")};
  const std::string full_name = name.tenant + "/" + name.name;
  const auto body = parse_body(call.request);
  if (!body) return tl::unexpected(body.error());
  yaml::Report report("body");
  const yaml::Value root(*body, report);
  const Envelope envelope = read_envelope(root, "GpuService", name.tenant, name.name);
  const std::vector<Pin> pins = pins_of_others(session, name);
  ServiceSpec spec;
  if (!report.has_failed()) spec = scenario::read_service_object(root.at("spec"), session.scenario(), pins);
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  const bool is_known = session.catalog().services.contains(name);
  if (!is_known && !is_dns_label(name.name)) return tl::unexpected(not_a_label("metadata.name", name.name));
  if (auto conflict = find_conflict_with(session, name, spec)) return tl::unexpected(std::move(*conflict));
  const auto set = session.set_service(name, std::move(spec), envelope.labels, envelope.version);
  if (!set) return tl::unexpected(error_of(set.error(), "service", full_name, envelope.version));
  return json_response(status_of(*set), service_object(source, session.catalog().services.at(name)));
}

ApiResult<HttpAnswer> delete_service(live::Session& session, const ObjectSource& source, const Call& call) {
  const live::ServiceName name{.tenant = call.parameter("t"), .name = call.parameter("name")};
  const auto known = session.catalog().services.find(name);
  std::string last = known == session.catalog().services.end() ? std::string() : service_object(source, known->second);
  const auto removed = session.remove_service(name);
  if (!removed) {
    return tl::unexpected(error_of(removed.error(), "service", name.tenant + "/" + name.name, std::nullopt));
  }
  return json_response(200, std::move(last));
}

}  // namespace berth::api
