#include "surface/api/service_routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/core/control_text.h"
#include "base/core/text.h"
#include "base/json/compare.h"
#include "base/json/document.h"
#include "base/json/tree.h"
#include "base/yaml/reader.h"
#include "domain/scenario/service_json.h"
#include "domain/scenario/service_object.h"
#include "engine/loop/conflict.h"
#include "engine/loop/static_conflict.h"
#include "live/chain/field_hash.h"
#include "live/session/session.h"
#include "surface/api/api_context.h"
#include "surface/api/blob_rows.h"
#include "surface/api/objects.h"
#include "surface/api/paging.h"
#include "surface/api/request_body.h"
#include "surface/api/writes.h"

namespace berth::api {
namespace {

constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kLabelBytesMax = 253;
constexpr std::size_t kLabelsMax = 256;

/// What a body says about the object, apart from its spec.
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

/// Checks a text that, if present, must be this one.
void check_text(const yaml::Value& value, const std::string& wanted) {
  if (!value.is_present() || value.has_failed()) return;
  const std::string found = value.text("the text " + wanted);
  if (!value.has_failed() && found != wanted) value.refuse(wanted, "\"" + found + "\"");
}

constexpr std::string_view kWantedVersion = "a version as it was read: a text of digits that does not begin with 0";

/// Whether the text has the form of a version; it need not be the stored one.
bool is_version_text(std::string_view version) {
  constexpr std::size_t kDigitsMax = 20;
  const bool has_digits_only = std::ranges::all_of(version, [](char c) { return c >= '0' && c <= '9'; });
  return has_digits_only && !version.empty() && version.front() != '0' && version.size() <= kDigitsMax;
}

std::string read_version(const yaml::Value& value) {
  std::string version = value.text(kWantedVersion);
  if (!value.has_failed() && !is_version_text(version)) value.refuse(kWantedVersion);
  return version;
}

/// `?resourceVersion=` of a DELETE, if present.
ApiResult<std::optional<std::string>> version_of_query(const HttpRequest& request) {
  std::optional<std::string> version;
  for (const HttpField& field : request.query) {
    if (field.name != "resourceVersion") return tl::unexpected(bad_query(field.name, "resourceVersion", field.name));
    if (version) return tl::unexpected(bad_query(field.name, "one version", "two"));
    if (!is_version_text(field.value))
      return tl::unexpected(bad_query(field.name, std::string(kWantedVersion), field.value));
    version = field.value;
  }
  return version;
}

/// Reads apiVersion, kind and metadata. Members that the server sets may be sent back and are ignored.
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
  if (tenant.empty() && metadata.at("namespace").is_present()) metadata.at("namespace").refuse("none, or null");
  if (metadata.at("resourceVersion").is_present()) envelope.version = read_version(metadata.at("resourceVersion"));
  const yaml::Value labels = metadata.at("labels");
  if (!labels.is_present()) return envelope;
  if (!labels.is_map()) labels.refuse("a map of texts");
  const std::vector<std::string> keys = labels.keys();
  if (keys.size() > kLabelsMax) {
    labels.refuse(fmt::format("at most {} labels", kLabelsMax), fmt::format("{}", keys.size()));
    return envelope;
  }
  for (const std::string& key : keys) {
    if (key.empty() || key.size() > kLabelBytesMax || has_control(key)) {
      labels.refuse("keys of 1 to 253 bytes without control characters", in_quotes(key));
      return envelope;
    }
    const yaml::Value label = labels.at(key);
    const std::string value = label.text("a text");
    if (value.size() > kNameBytesMax || has_control(value)) {
      label.refuse("a text of at most 63 bytes without control characters");
    }
    envelope.labels[key] = value;
  }
  return envelope;
}

ApiError too_large_error(const live::ObjectRefusal& refusal) {
  const std::string wanted = fmt::format("at most {} bytes held by all objects together", refusal.held_bytes_max);
  const std::string found = fmt::format("{}", refusal.held_bytes);
  return {.status = 422,
          .code = "invalid",
          .message = fmt::format("wanted {}, found {}: shorten tables or arrivals, or delete services", wanted, found),
          .field = "spec",
          .wanted = wanted,
          .found = found};
}

ApiError refusal_error(const live::ObjectRefusal& refusal, const std::string& kind, const std::string& name,
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
    case Kind::kNotRecorded:
      return read_only_error(refusal.why);
    case Kind::kTooLarge:
      return too_large_error(refusal);
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

/// Why no plan could meet the constraints of this service together with the existing ones.
std::optional<ApiError> find_conflict_with(const live::Session& session, const Scenario& fleet,
                                           const live::ServiceName& name, ServiceSpec spec) {
  if (spec.pins.empty()) return std::nullopt;
  Scenario scenario = fleet;
  scenario.services = session.scenario().services;
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
      .message = conflict_text(scenario, conflict->constraints, /*is_minimal=*/true) + ": " + conflict->text(),
      .field = "spec.pins",
      .wanted = conflict->wanted,
      .found = conflict->found};
}

ApiError no_tenant(const std::string& name) {
  return {.status = 404, .code = "not_found", .message = "there is no tenant " + name};
}

live::ServiceName name_of_path(const Call& call) {
  return {.tenant = call.parameter("t"), .name = call.parameter("name")};
}

std::string full_name(const live::ServiceName& name) { return name.tenant + "/" + name.name; }

// ---- tenants

ApiResult<HttpAnswer> list_tenants(const ApiContext& context, const Call& call) {
  const auto page = context.session.with([&](const live::Session& session) {
    std::vector<std::map<std::string, live::ObjectMeta>::const_iterator> tenants;
    const auto& all = session.catalog().tenants;
    for (auto it = all.begin(); it != all.end(); ++it) tenants.push_back(it);
    const ListKeys keys{.count = tenants.size(), .key = [&](std::size_t i) { return tenants[i]->first; }};
    return read_page(call.request, keys,
                     [&](std::size_t i) { return view_tenant(tenants[i]->first, tenants[i]->second); });
  });
  return page_response(page, [&](const TenantView& tenant) { return tenant_object(context.format, tenant); });
}

/// The tenant as it is now, if it exists.
std::optional<TenantView> find_tenant(const live::Session& session, const std::string& name) {
  const auto known = session.catalog().tenants.find(name);
  if (known == session.catalog().tenants.end()) return std::nullopt;
  return view_tenant(known->first, known->second);
}

ApiResult<HttpAnswer> get_tenant(const ApiContext& context, const Call& call) {
  const std::string& name = call.parameter("t");
  const auto view = context.session.with([&](const live::Session& session) { return find_tenant(session, name); });
  if (!view) return tl::unexpected(no_tenant(name));
  return json_response(200, tenant_object(context.format, *view));
}

/// The result of a PUT.
template <class View>
struct Stored {
  live::SetResult result = live::SetResult::kUnchanged;
  View view;
};

ApiResult<HttpAnswer> put_tenant(const ApiContext& context, const Call& call) {
  const std::string& name = call.parameter("t");
  const auto body = parse_body(call.request);
  if (!body) return tl::unexpected(body.error());
  yaml::Report report("body");
  const yaml::Value root(*body, report);
  const Envelope envelope = read_envelope(root, "Tenant", "", name);
  if (root.at("spec").is_present()) root.at("spec").check_keys({});
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  const auto stored = context.session.with([&](live::Session& session) -> ApiResult<Stored<TenantView>> {
    const bool is_known = session.catalog().tenants.contains(name);
    if (!is_known && !is_dns_label(name)) return tl::unexpected(not_a_label("metadata.name", name));
    const auto set = session.set_tenant(name, envelope.labels, envelope.version);
    if (!set) return tl::unexpected(refusal_error(set.error(), "tenant", name, envelope.version));
    return Stored<TenantView>{.result = *set, .view = *find_tenant(session, name)};
  });
  if (!stored) return tl::unexpected(stored.error());
  return json_response(status_of(stored->result), tenant_object(context.format, stored->view));
}

ApiResult<HttpAnswer> delete_tenant(const ApiContext& context, const Call& call) {
  const std::string& name = call.parameter("t");
  const auto version = version_of_query(call.request);
  if (!version) return tl::unexpected(version.error());
  const auto last = context.session.with([&](live::Session& session) -> ApiResult<TenantView> {
    const auto before = find_tenant(session, name);
    const auto removed = session.remove_tenant(name, *version);
    if (!removed) return tl::unexpected(refusal_error(removed.error(), "tenant", name, *version));
    return *before;
  });
  if (!last) return tl::unexpected(last.error());
  return json_response(200, tenant_object(context.format, *last));
}

// ---- services

using KnownService = std::map<live::ServiceName, live::ServiceEntry>::const_iterator;

/// The services of a tenant, or all if `tenant` is empty.
std::vector<KnownService> services_of(const live::Catalog& catalog, const std::string& tenant) {
  std::vector<KnownService> services;
  auto it = catalog.services.lower_bound({.tenant = tenant, .name = ""});
  for (; it != catalog.services.end() && (tenant.empty() || it->first.tenant == tenant); ++it) services.push_back(it);
  return services;
}

ApiResult<HttpAnswer> page_of_services(const ApiContext& context, const Call& call, const std::string& tenant) {
  const auto page = context.session.with([&](const live::Session& session) -> ApiResult<Page<ServiceView>> {
    const live::Catalog& catalog = session.catalog();
    if (!tenant.empty() && !catalog.tenants.contains(tenant)) return tl::unexpected(no_tenant(tenant));
    const std::vector<KnownService> services = services_of(catalog, tenant);
    const auto key = [&](std::size_t i) { return services[i]->first.tenant + '\x01' + services[i]->first.name; };
    return read_page(call.request, {.count = services.size(), .key = key},
                     [&](std::size_t i) { return view_service(session, services[i]->second); });
  });
  return page_response(page, [&](const ServiceView& service) { return service_object(context.format, service); });
}

ApiResult<HttpAnswer> list_services(const ApiContext& context, const Call& call) {
  return page_of_services(context, call, "");
}

ApiResult<HttpAnswer> list_services_of_tenant(const ApiContext& context, const Call& call) {
  return page_of_services(context, call, call.parameter("t"));
}

/// The service as it is now, if it exists.
std::optional<ServiceView> find_service(const live::Session& session, const live::ServiceName& name) {
  const auto known = session.catalog().services.find(name);
  if (known == session.catalog().services.end()) return std::nullopt;
  return view_service(session, known->second);
}

/// Writing back what was read is not a change. A client's numbers are doubles, and a file may have given the stored
/// ones more exactly: if the given spec, or its arrivals, equal the stored ones as doubles, the stored ones are kept in
/// `object`. Returns the JSON of the resulting spec.
std::string keep_what_reads_the_same(const ApiContext& context, const live::ServiceName& name,
                                     scenario::ServiceObject& object) {
  const Scenario& fleet = context.format.fleet;
  const auto view = context.session.with([&](const live::Session& session) { return find_service(session, name); });
  std::string given_text = scenario::service_spec_json(object.spec, fleet, object.blobs);
  if (!view) return given_text;
  std::string stored_text = *context.format.spec_texts->text_of(view->spec, view->blobs, fleet);
  if (given_text == stored_text) {
    object.spec = *view->spec;
    return given_text;
  }
  const auto given = json::parse_document(given_text, "given", json::kNoLimits).value();
  const auto stored = json::parse_document(stored_text, "stored", json::kNoLimits).value();
  if (json::is_same_to_doubles(given, stored)) {
    object.spec = *view->spec;
    return stored_text;
  }
  const yaml::Node* given_arrivals = json::find_member(given, "arrivals");
  const yaml::Node* stored_arrivals = json::find_member(stored, "arrivals");
  if ((given_arrivals == nullptr) != (stored_arrivals == nullptr)) return given_text;
  if (given_arrivals != nullptr && !json::is_same_to_doubles(*given_arrivals, *stored_arrivals)) return given_text;
  object.spec.arrivals = view->spec->arrivals;
  return scenario::service_spec_json(object.spec, fleet, object.blobs);
}

ApiResult<HttpAnswer> get_service(const ApiContext& context, const Call& call) {
  const live::ServiceName name = name_of_path(call);
  const auto view = context.session.with([&](const live::Session& session) { return find_service(session, name); });
  if (view) return json_response(200, service_object(context.format, *view));
  return tl::unexpected(
      ApiError{.status = 404, .code = "not_found", .message = fmt::format("there is no service {}", full_name(name))});
}

/// A PUT of a service in progress.
struct PutService {
  live::ServiceName name;
  Envelope envelope;
  scenario::ServiceObject object;
  std::shared_ptr<const std::string> spec_text;  ///< as JSON: made once, on the thread of its client
  std::optional<ApiResult<live::SetResult>> result;
  std::optional<ServiceView> view;  ///< what the answer shows

  [[nodiscard]] ApiError refused(const live::ObjectRefusal& refusal) const {
    return refusal_error(refusal, "service", full_name(name), envelope.version);
  }
  /// Predicts the view if the order changes only what clients set, not the state of the service. If there is no order,
  /// the view is the present one, because later orders of the batch may change or remove the service.
  void foresee(const live::Session& session, const live::OrderBatch& batch) {
    if (*result && **result == live::SetResult::kUnchanged) view = find_service(session, name);
    const auto* stored = batch.empty() ? nullptr : std::get_if<live::ServiceStored>(&batch.entries().back().what);
    if (stored != nullptr && stored->name == name && !stored->set) view = view_service(session, stored->entry);
  }
  /// Checks the PUT, and adds its order to the batch.
  ApiResult<live::SetResult> join(const live::Session& session, const ApiContext& context,
                                  live::OrderBatch& batch) const {
    const bool is_known = session.catalog().services.contains(name);
    if (!is_known && !is_dns_label(name.name)) return tl::unexpected(not_a_label("metadata.name", name.name));
    if (const auto refusal = session.find_refusal(name, envelope.version)) return tl::unexpected(refused(*refusal));
    auto conflict = find_conflict_with(session, context.format.fleet, name, object.spec);
    if (conflict) return tl::unexpected(std::move(*conflict));
    if (auto gone = find_blob_gone(context)) return tl::unexpected(std::move(*gone));
    const auto added = session.add_service(batch, name, object.spec, envelope.labels, envelope.version, object.blobs);
    if (!added) return tl::unexpected(refused(added.error()));
    return *added;
  }
  /// A blob that was unused for a day may have been removed since it was read.
  [[nodiscard]] std::optional<ApiError> find_blob_gone(const ApiContext& context) const {
    for (const auto& [path, blob] : object.blobs) {
      const auto is_there = context.blobs.has(*chain::sha256_of_hex(blob));
      if (is_there && *is_there) continue;
      return ApiError{.status = 422,
                      .code = "invalid",
                      .message = "the blob was removed in the meantime: put it again",
                      .field = fmt::format("spec.{}.rows.blob", path),
                      .wanted = "a blob that is there: PUT /v1/blobs/SHA256 stores one",
                      .found = blob};
    }
    return std::nullopt;
  }
};

int status_of(const ApiResult<live::SetResult>& result) { return result ? status_of(*result) : result.error().status; }

/// The tables of a spec in the order of scenario::ExcessiveTable.
std::vector<const PerformanceTable*> performance_tables(const ServiceSpec& spec) {
  std::vector<const PerformanceTable*> tables = {&spec.table};
  for (const Variant& variant : spec.variants) tables.push_back(&variant.table);
  return tables;
}

/// Refuses a table with rows that state more than their batches give, unless the service already has it: it was
/// accepted by an earlier version, and the rest of the service can still be changed.
void refuse_new_excess(const ApiContext& context, const live::ServiceName& name, const scenario::ServiceObject& object,
                       yaml::Report& report) {
  if (object.excessive.empty()) return;
  const auto view = context.session.with([&](const live::Session& session) { return find_service(session, name); });
  const auto given = performance_tables(object.spec);
  const auto stored = view ? performance_tables(*view->spec) : std::vector<const PerformanceTable*>();
  for (const scenario::ExcessiveTable& table : object.excessive) {
    const PerformanceTable& rows = *given[table.number];
    if (std::ranges::none_of(stored, [&](const PerformanceTable* known) { return *known == rows; })) {
      report.keep(table.failure);
    }
  }
}

/// Refuses a program that the hands would not run: a template, repository or parameter.
ApiResult<void> check_program(const ApiContext& context, const live::ServiceName& name, const ServiceSpec& spec) {
  if (!spec.running.program || !context.format.devices.why_no_program) return {};
  const auto why = context.format.devices.why_no_program(program_anywhere(name.tenant, *spec.running.program));
  if (!why) return {};
  constexpr std::string_view kWanted = ": wanted ";
  constexpr std::string_view kFound = ", found ";
  const std::size_t wanted = why->find(kWanted);
  const std::size_t found = why->rfind(kFound);
  ApiError error{.status = 422, .code = "invalid", .message = "body: spec." + *why};
  if (wanted != std::string::npos && found != std::string::npos && wanted < found) {
    error.field = "spec." + why->substr(0, wanted);
    error.wanted = why->substr(wanted + kWanted.size(), found - wanted - kWanted.size());
    error.found = why->substr(found + kFound.size());
  }
  return tl::unexpected(std::move(error));
}

ApiResult<ServiceCall> prepare_put_service(const ApiContext& context, const Call& call) {
  const auto put = std::make_shared<PutService>();
  put->name = name_of_path(call);
  const auto body = parse_body(call.request);
  if (!body) return tl::unexpected(body.error());
  yaml::Report report("body");
  const yaml::Value root(*body, report);
  put->envelope = read_envelope(root, "GpuService", put->name.tenant, put->name.name);
  if (!report.has_failed()) {
    // Pins that change in between are checked again in `join`.
    const auto pins =
        context.session.with([&](const live::Session& session) { return pins_of_others(session, put->name); });
    BlobRowsReader blobs(context.blobs);
    const auto find_rows = blobs.finder();
    put->object = scenario::read_service_object(root.at("spec"), context.format.fleet, pins, find_rows);
    if (blobs.failure()) return tl::unexpected(*blobs.failure());
  }
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  put->spec_text = std::make_shared<const std::string>(keep_what_reads_the_same(context, put->name, put->object));
  refuse_new_excess(context, put->name, put->object, report);
  if (report.has_failed()) return tl::unexpected(error_of(report.parts()));
  if (auto checked = check_program(context, put->name, put->object.spec); !checked) {
    return tl::unexpected(std::move(checked.error()));
  }
  ServiceCall prepared;
  prepared.join = [put, &context](const live::Session& session, live::OrderBatch& batch) -> std::optional<int> {
    if (!batch.has_room_for(put->name, !put->object.spec.pins.empty())) return std::nullopt;
    put->result = put->join(session, context, batch);
    put->foresee(session, batch);
    return status_of(*put->result);
  };
  prepared.is_answer_known = [put] { return put->view.has_value(); };
  prepared.settle = [put](const live::Session& session, const std::optional<std::string>& failure) {
    if (failure) put->result = tl::unexpected(read_only_error(*failure));
    if (*put->result && !put->view) put->view = find_service(session, put->name);
  };
  prepared.answer = [put, &context]() -> ApiResult<HttpAnswer> {
    if (!*put->result) return tl::unexpected(put->result->error());
    context.format.spec_texts->note(put->view->spec, put->view->blobs, put->spec_text);
    return json_response(status_of(*put->result), service_object(context.format, *put->view));
  };
  return prepared;
}

ApiResult<HttpAnswer> put_service(const ApiContext& context, const Call& call) {
  const auto prepared = prepare_put_service(context, call);
  if (!prepared) return tl::unexpected(prepared.error());
  return carry_out_now(context, *prepared);
}

/// A DELETE of a service in progress.
struct DeleteService {
  live::ServiceName name;
  std::optional<std::string> version;
  std::optional<ServiceView> last;  ///< as it was
  std::optional<ApiError> error;
};

ApiResult<ServiceCall> prepare_delete_service(const ApiContext& context, const Call& call) {
  const auto version = version_of_query(call.request);
  if (!version) return tl::unexpected(version.error());
  const auto removal = std::make_shared<DeleteService>();
  removal->name = name_of_path(call);
  removal->version = *version;
  ServiceCall prepared;
  prepared.join = [removal](const live::Session& session, live::OrderBatch& batch) -> std::optional<int> {
    if (!batch.has_room_for(removal->name, false)) return std::nullopt;
    removal->last = find_service(session, removal->name);
    const auto added = session.add_removal(batch, removal->name, removal->version);
    if (added) return 200;
    removal->error = refusal_error(added.error(), "service", full_name(removal->name), removal->version);
    return removal->error->status;
  };
  prepared.is_answer_known = [removal] { return removal->last.has_value(); };
  prepared.settle = [removal](const live::Session& /*session*/, const std::optional<std::string>& failure) {
    if (failure) removal->error = read_only_error(*failure);
  };
  prepared.answer = [removal, &context]() -> ApiResult<HttpAnswer> {
    if (removal->error) return tl::unexpected(*removal->error);
    return json_response(200, service_object(context.format, *removal->last));
  };
  return prepared;
}

ApiResult<HttpAnswer> delete_service(const ApiContext& context, const Call& call) {
  const auto prepared = prepare_delete_service(context, call);
  if (!prepared) return tl::unexpected(prepared.error());
  return carry_out_now(context, *prepared);
}

}  // namespace

std::vector<Route> service_routes() {
  return {
      {.method = "GET", .path = "/v1/tenants", .answer = list_tenants, .takes_query = true},
      {.method = "GET", .path = "/v1/tenants/{t}", .answer = get_tenant},
      {.method = "PUT", .path = "/v1/tenants/{t}", .answer = put_tenant},
      {.method = "DELETE", .path = "/v1/tenants/{t}", .answer = delete_tenant, .takes_query = true},
      {.method = "GET", .path = "/v1/services", .answer = list_services, .takes_query = true},
      {.method = "GET", .path = "/v1/tenants/{t}/services", .answer = list_services_of_tenant, .takes_query = true},
      {.method = "GET", .path = "/v1/tenants/{t}/services/{name}", .answer = get_service},
      {.method = "PUT",
       .path = "/v1/tenants/{t}/services/{name}",
       .answer = put_service,
       .prepare = prepare_put_service},
      {.method = "DELETE",
       .path = "/v1/tenants/{t}/services/{name}",
       .answer = delete_service,
       .takes_query = true,
       .prepare = prepare_delete_service},
  };
}

}  // namespace berth::api
