#include "kube/schemas/definitions.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>

#include "base/core/ensure.h"
#include "base/json/node_text.h"
#include "base/json/tree.h"
#include "kube/client/write.h"
#include "kube/schemas/spec_schema.h"
#include "kube/services/custom_resources.h"

namespace berth::kube {
namespace {

constexpr const char* kLabelPattern = "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
constexpr std::int64_t kLabelLengthMax = 63;

// ---- status: written by Berth, so that the types say enough

yaml::Node typed(const char* type, const char* help) {
  yaml::Node schema = map_node();
  put(schema, "description", text_node(help));
  put(schema, "type", text_node(type));
  return schema;
}

yaml::Node whole(const char* help) {
  yaml::Node schema = typed("integer", help);
  put(schema, "format", text_node("int64"));
  return schema;
}

yaml::Node texts_list(std::initializer_list<const char*> texts) {
  yaml::List list;
  for (const char* text : texts) list.push_back(text_node(text));
  return {{}, std::move(list)};
}

yaml::Node object_of(std::initializer_list<std::pair<const char*, yaml::Node>> properties) {
  yaml::Node schema = map_node();
  put(schema, "type", text_node("object"));
  yaml::Node& all = put(schema, "properties", map_node());
  for (const auto& [name, property] : properties) put(all, name, property);
  return schema;
}

yaml::Node conditions() {
  yaml::Node item = object_of({{"type", typed("string", "What the condition is about.")},
                               {"status", typed("string", "True, False or Unknown.")},
                               {"reason", typed("string", "One word for programs.")},
                               {"message", typed("string", "A sentence for people; may be empty.")},
                               {"lastTransitionTime", typed("string", "When it got this status.")}});
  put(item, "required", texts_list({"type", "status"}));
  yaml::Node list = typed("array", "What holds of the object, and why.");
  put(list, "x-kubernetes-list-type", text_node("map"));
  put(list, "x-kubernetes-list-map-keys", texts_list({"type"}));
  put(list, "items", std::move(item));
  return list;
}

yaml::Node slices() {
  yaml::Node list = typed("array", "The slices that it has now.");
  put(list, "x-kubernetes-list-type", text_node("atomic"));
  put(list, "items",
      object_of({{"gpu", typed("string", "The GPU.")},
                 {"profile", typed("string", "The MIG profile, or full.")},
                 {"start", whole("The placement unit where it begins.")},
                 {"role", typed("string", "inference or retraining.")},
                 {"state", typed("string", "creating, starting, serving, retraining, draining, idle or lost.")}}));
  return list;
}

yaml::Node status_of_tenant() {
  return object_of({{"observedGeneration", whole("The generation to which the condition Accepted refers.")},
                    {"conditions", conditions()}});
}

yaml::Node status_of_service() {
  return object_of({{"observedGeneration", whole("The generation to which the condition Accepted refers.")},
                    {"phase", typed("string", "Waiting, Starting, Running, Draining, Cold, or Refused.")},
                    {"slice_count", whole("Its slices, whatever their state.")},
                    {"serving_slice_count", whole("Those that serve.")},
                    {"slices", slices()},
                    {"conditions", conditions()}});
}

// ---- the definitions

struct Column {
  const char* name;
  const char* type;
  const char* path;
  int priority = 0;  ///< above 0: only with `-o wide`
};

yaml::Node columns_node(std::span<const Column> columns) {
  yaml::List list;
  for (const Column& column : columns) {
    yaml::Node node = map_node();
    put(node, "name", text_node(column.name));
    put(node, "type", text_node(column.type));
    put(node, "jsonPath", text_node(column.path));
    if (column.priority > 0) put(node, "priority", number_node(column.priority));
    list.push_back(std::move(node));
  }
  return {{}, std::move(list)};
}

/// Both kinds have names that are DNS labels, as the API's.
yaml::Node metadata_schema() {
  yaml::Node name = map_node();
  put(name, "type", text_node("string"));
  put(name, "maxLength", number_node(kLabelLengthMax));
  put(name, "pattern", text_node(kLabelPattern));
  return object_of({{"name", std::move(name)}});
}

struct Parts {
  yaml::Node spec;
  yaml::Node status;
  std::span<const Column> columns;
  bool is_spec_required = false;
};

yaml::Node names_of(const Resource& resource, const char* singular) {
  yaml::Node names = map_node();
  put(names, "kind", text_node(std::string(resource.kind)));
  put(names, "listKind", text_node(fmt::format("{}List", resource.kind)));
  put(names, "plural", text_node(std::string(resource.plural)));
  put(names, "singular", text_node(singular));
  put(names, "categories", texts_list({"berth"}));
  return names;
}

yaml::Node version_of(Parts parts) {
  yaml::Node schema = object_of({{"apiVersion", typed("string", "berth.dev/v1alpha1.")},
                                 {"kind", typed("string", "The kind of the object.")},
                                 {"metadata", metadata_schema()},
                                 {"spec", std::move(parts.spec)},
                                 {"status", std::move(parts.status)}});
  if (parts.is_spec_required) put(schema, "required", texts_list({"spec"}));
  yaml::Node version = map_node();
  put(version, "name", text_node(std::string(kCustomVersion)));
  put(version, "served", truth_node(true));
  put(version, "storage", truth_node(true));
  put(put(version, "subresources", map_node()), "status", map_node());
  put(version, "additionalPrinterColumns", columns_node(parts.columns));
  put(put(version, "schema", map_node()), "openAPIV3Schema", std::move(schema));
  return version;
}

yaml::Node definition_of(const Resource& resource, const char* singular, Parts parts) {
  yaml::Node definition = map_node();
  put(definition, "apiVersion", text_node("apiextensions.k8s.io/v1"));
  put(definition, "kind", text_node("CustomResourceDefinition"));
  put(put(definition, "metadata", map_node()), "name",
      text_node(fmt::format("{}.{}", resource.plural, resource.group)));
  yaml::Node& spec = put(definition, "spec", map_node());
  put(spec, "group", text_node(std::string(resource.group)));
  put(spec, "scope", text_node(resource.is_namespaced ? "Namespaced" : "Cluster"));
  put(spec, "names", names_of(resource, singular));
  put(spec, "versions", {{}, yaml::List{version_of(std::move(parts))}});
  return definition;
}

constexpr const char* kAcceptedPath = R"(.status.conditions[?(@.type=="Accepted")].status)";
constexpr const char* kMessagePath = R"(.status.conditions[?(@.type=="Accepted")].message)";

constexpr std::array<Column, 2> kTenantColumns = {
    {{"Accepted", "string", kAcceptedPath}, {"Age", "date", ".metadata.creationTimestamp"}}};
constexpr std::array<Column, 6> kServiceColumns = {{{"Phase", "string", ".status.phase"},
                                                    {"Slices", "integer", ".status.slice_count"},
                                                    {"Ready", "integer", ".status.serving_slice_count"},
                                                    {"Accepted", "string", kAcceptedPath},
                                                    {"Message", "string", kMessagePath, 1},
                                                    {"Age", "date", ".metadata.creationTimestamp"}}};

}  // namespace

std::vector<yaml::Node> custom_resource_definitions() {
  yaml::Node tenant_spec = typed("object", "A tenant has no settings yet.");
  yaml::Node service_spec = schema_of_map(scenario::service_keys());
  return {definition_of(kTenants, "tenant",
                        {.spec = std::move(tenant_spec), .status = status_of_tenant(), .columns = kTenantColumns}),
          definition_of(kGpuServices, "gpuservice",
                        {.spec = std::move(service_spec),
                         .status = status_of_service(),
                         .columns = kServiceColumns,
                         .is_spec_required = true})};
}

const yaml::Node& schema_in(const yaml::Node& definition) {
  const yaml::List& versions = json::list_at(definition, {"spec", "versions"});
  ENSURE(!versions.empty());
  const yaml::Node* const schema = json::find_at(versions.front(), {"schema", "openAPIV3Schema"});
  ENSURE(schema != nullptr);
  return *schema;
}

}  // namespace berth::kube
