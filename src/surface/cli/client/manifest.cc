#include "surface/cli/client/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "base/core/control_text.h"
#include "base/core/decimal.h"
#include "base/core/text.h"
#include "base/json/document.h"
#include "base/yaml/document.h"
#include "base/yaml/plain_kind.h"
#include "base/yaml/reader.h"
#include "domain/scenario/service_json.h"
#include "domain/scenario/service_object.h"
#include "surface/cli/client/file_rows.h"
#include "surface/cli/client/node.h"

namespace berth::cli {
namespace {

using yaml::Node;
using yaml::Scalar;
using yaml::ScalarKind;
using yaml::Value;

constexpr const char* kApiVersion = "berth.dev/v1alpha1";
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kVersionBytesMax = 20;
constexpr std::size_t kLabelKeyBytesMax = 253;
constexpr std::size_t kLabelsMax = 256;

/// Parses JSON if the text is JSON, whatever the file's name; otherwise YAML, whose documents may be JSON.
Result<std::vector<Node>> documents_of(std::string_view text, const std::string& path) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  const bool looks_like_json = first != std::string_view::npos && text[first] == '{';
  if (!looks_like_json) return yaml::parse_documents(text, path);
  auto json = json::parse_document(text, path);
  if (json) return std::vector<Node>{std::move(*json)};
  auto yaml = yaml::parse_documents(text, path);
  return yaml || !path.ends_with(".json") ? std::move(yaml) : Result<std::vector<Node>>(pass_on(json.error()));
}

/// Gives a YAML scalar its JSON kind: unquoted numbers, true, false and null keep their meaning, all else is text.
void set_kind(Scalar& scalar, bool is_null) {
  if (scalar.kind != ScalarKind::kUntyped) return;
  const auto number = Decimal::parse(scalar.text);
  if (is_null) {
    scalar = {"null", false, ScalarKind::kNull};
  } else if (scalar.is_plain && (scalar.text == "true" || scalar.text == "false")) {
    scalar.kind = ScalarKind::kTruth;
  } else if (scalar.is_plain && number) {
    scalar = {scenario::readable_number(*number), false, ScalarKind::kNumber};
  } else {
    scalar.kind = ScalarKind::kText;
  }
}

void set_kinds(Node& node) {
  const bool is_null = node.is_null();
  if (auto* scalar = std::get_if<Scalar>(&node.value)) set_kind(*scalar, is_null);
  if (auto* list = std::get_if<yaml::List>(&node.value)) {
    for (Node& item : *list) set_kinds(item);
  }
  if (auto* map = std::get_if<yaml::Map>(&node.value)) {
    for (yaml::Entry& entry : *map) set_kinds(entry.value);
  }
}

bool is_dns_label(std::string_view name) {
  const auto is_inner = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !name.empty() && name.size() <= kLabelBytesMax && std::ranges::all_of(name, is_inner) && name.front() != '-' &&
         name.back() != '-';
}

std::string read_label(const Value& value) {
  constexpr const char* kWanted = "a DNS label (1 to 63 of a-z, 0-9 and -, which is neither first nor last)";
  std::string name = value.text(kWanted);
  if (!value.has_failed() && !is_dns_label(name)) value.refuse(kWanted);
  return name;
}

/// Refuses a name without quotes that YAML does not read as a text: other readers would see another name, or none.
void check_is_text(const Node& root, const std::string& key, const Value& metadata) {
  const Node* node = find_node(root, "metadata." + key);
  const auto* scalar = node == nullptr ? nullptr : std::get_if<Scalar>(&node->value);
  if (scalar == nullptr || scalar->kind != ScalarKind::kUntyped || !scalar->is_plain || scalar->text.empty()) return;
  const yaml::PlainKind kind = yaml::kind_of_plain(scalar->text);
  if (kind == yaml::PlainKind::kText) return;
  // An object without a namespace, as the API sends it.
  if (kind == yaml::PlainKind::kNull && key == "namespace") return;
  const std::string_view what = kind == yaml::PlainKind::kNumber  ? "a number"
                                : kind == yaml::PlainKind::kTruth ? "a truth value"
                                                                  : "no value";
  metadata.at(key).refuse("a text: put it in quotes", fmt::format("{}, which is {}", scalar->text, what));
}

Node read_labels(const Value& value) {
  Node labels{{}, yaml::Map()};
  if (!value.is_map()) {
    value.refuse("a map of labels");
    return labels;
  }
  const std::vector<std::string> keys = value.keys();
  if (keys.size() > kLabelsMax) {
    value.refuse(fmt::format("at most {} labels", kLabelsMax), fmt::format("{}", keys.size()));
    return labels;
  }
  for (const std::string& key : keys) {
    if (key.empty() || key.size() > kLabelKeyBytesMax || has_control(key)) {
      value.refuse("keys of 1 to 253 bytes without control characters", in_quotes(key));
      break;
    }
    const Value label = value.at(key);
    std::string text = label.text("a text");
    if (!value.has_failed() && (text.size() > kLabelBytesMax || has_control(text))) {
      label.refuse("a text of at most 63 bytes without control characters");
    }
    put(labels, key, text_node(std::move(text)));
  }
  return labels;
}

/// The part of the metadata to send; sets the name and the tenant of the object.
Node read_metadata(const Value& value, Selection& object) {
  value.check_keys({"name", "namespace", "labels", "resourceVersion", "uid", "creationTimestamp"});
  object.name = read_label(value.at("name"));
  Node metadata{{}, yaml::Map()};
  put(metadata, "name", text_node(object.name));
  const Value tenant = value.at("namespace");
  if (object.kind == Kind::kService) {
    object.tenant = read_label(tenant);
    put(metadata, "namespace", text_node(object.tenant));
  } else if (tenant.is_present()) {
    tenant.refuse("none (a tenant is in no namespace)");
  }
  if (value.at("labels").is_present()) put(metadata, "labels", read_labels(value.at("labels")));
  const Value version = value.at("resourceVersion");
  if (version.is_present()) put(metadata, "resourceVersion", text_node(version.name(kVersionBytesMax)));
  return metadata;
}

/// Checks the spec as the server does, except pins, which need the server's fleet.
void check_spec(Node root, yaml::Report& report) {
  for (yaml::Entry& entry : std::get<yaml::Map>(root.value)) {
    auto* spec = entry.key == "spec" ? std::get_if<yaml::Map>(&entry.value.value) : nullptr;
    if (spec != nullptr) std::erase_if(*spec, [](const yaml::Entry& field) { return field.key == "pins"; });
  }
  (void)scenario::read_service_object(Value(root, report).at("spec"), Scenario());
}

/// The warnings of an object in the file `path`. Those about rows of the profiles `from_files` are left out: the files
/// themselves have been warned of.
std::vector<std::string> warnings_of(const yaml::Report& report, const std::string& path,
                                     const std::vector<std::string>& from_files) {
  std::vector<std::string> texts;
  for (const yaml::Warning& warning : report.warnings()) {
    const bool is_of_rows = warning.path.ends_with(".rows");
    const bool is_known =
        std::ranges::any_of(from_files, [&](const std::string& profile) { return warning.path == profile + ".rows"; });
    if (!is_known) texts.push_back(is_of_rows ? fmt::format("{}: {}", path, warning.text) : warning.text);
  }
  return texts;
}

/// Reads one object. `root` is its document, or an item of a list. Without `files`, only its kind and metadata.
Result<Manifest> read_object(Node root, const std::string& path, const Files* files) {
  yaml::Report report(path);
  const auto failed = [&] { return pass_on(report.failure()); };
  Manifest manifest{.object = {}, .body = "", .place = fmt::format("{}:{}", path, root.place.line)};
  Node metadata;
  {
    const Value value(root, report);
    value.check_keys({"apiVersion", "kind", "metadata", "spec", "status"});
    (void)value.at("apiVersion").choice({kApiVersion});
    const bool is_tenant = value.at("kind").choice({"Tenant", "GpuService"}) == 0;
    manifest.object.kind = is_tenant ? Kind::kTenant : Kind::kService;
    if (report.has_failed()) return failed();
    for (const char* key : {"name", "namespace"}) check_is_text(root, key, value.at("metadata"));
    metadata = read_metadata(value.at("metadata"), manifest.object);
    if (files == nullptr) {
      if (report.has_failed()) return failed();
      return manifest;
    }
    const Value spec = value.at("spec");
    if (is_tenant && spec.is_present()) spec.check_keys(std::initializer_list<std::string_view>{});
    if (!is_tenant && !spec.is_map()) spec.refuse("a map");
    if (report.has_failed()) return failed();
  }
  Node spec{{}, yaml::Map()};
  if (manifest.object.kind == Kind::kService) {
    const std::vector<std::string> from_files = put_rows_in_place(
        root, report, std::filesystem::path(path).parent_path().string(), manifest.object.name, *files);
    if (report.has_failed()) return failed();
    set_kinds(root);
    spec = *find_node(root, "spec");
    if (!refers_to_blobs(spec)) check_spec(std::move(root), report);
    if (report.has_failed()) return failed();
    manifest.warnings = warnings_of(report, manifest.place, from_files);
    manifest.blobs = take_long_rows(spec);
  }
  Node body{{}, yaml::Map()};
  put(body, "apiVersion", text_node(kApiVersion));
  put(body, "kind", text_node(manifest.object.kind == Kind::kTenant ? "Tenant" : "GpuService"));
  put(body, "metadata", std::move(metadata));
  put(body, "spec", std::move(spec));
  manifest.body = json_of(body);
  return manifest;
}

Result<std::vector<Manifest>> read_objects(std::string_view text, const std::string& path, const Files* files) {
  auto documents = documents_of(text, path);
  if (!documents) return pass_on(documents.error());
  std::vector<Manifest> manifests;
  for (Node& document : *documents) {
    const Node* items = find_node(document, "items");
    const auto* list = items == nullptr ? nullptr : std::get_if<yaml::List>(&items->value);
    yaml::List objects;
    if (list != nullptr) {
      objects = *list;
    } else {
      objects.push_back(std::move(document));
    }
    for (Node& object : objects) {
      auto manifest = read_object(std::move(object), path, files);
      if (!manifest) return pass_on(manifest.error());
      manifests.push_back(std::move(*manifest));
    }
  }
  return manifests;
}

}  // namespace

Result<std::vector<Manifest>> read_manifests(std::string_view text, const std::string& path, const Files& files) {
  return read_objects(text, path, &files);
}

Result<std::vector<Manifest>> read_names(std::string_view text, const std::string& path) {
  return read_objects(text, path, nullptr);
}

}  // namespace berth::cli
