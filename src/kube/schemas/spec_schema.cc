#include "kube/schemas/spec_schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

#include "kube/client/write.h"

namespace berth::kube {
namespace {

using scenario::KeyKind;
using scenario::ServiceKey;

constexpr const char* kPreserve = "x-kubernetes-preserve-unknown-fields";

void put_type(yaml::Node& schema, const char* type) { put(schema, "type", text_node(type)); }

void put_count(yaml::Node& schema, const char* key, std::size_t count) {
  if (count > 0) put(schema, key, number_node(static_cast<std::int64_t>(count)));
}

void put_bounds(yaml::Node& schema, const ServiceKey& key) {
  if (!key.bounds) return;
  put(schema, "minimum", number_node(key.bounds->min));
  if (!key.bounds->is_min_allowed) put(schema, "exclusiveMinimum", truth_node(true));
  put(schema, "maximum", number_node(key.bounds->max));
  if (!key.bounds->is_max_allowed) put(schema, "exclusiveMaximum", truth_node(true));
}

void put_words(yaml::Node& schema, const ServiceKey& key) {
  yaml::List words;
  for (const std::string_view word : key.words) words.push_back(text_node(std::string(word)));
  put(schema, "enum", {{}, std::move(words)});
}

/// What concerns maps alone.
void put_members(yaml::Node& schema, const scenario::KeyList& keys) {
  yaml::List required;
  for (const ServiceKey& key : keys) {
    if (key.is_required) required.push_back(text_node(std::string(key.name)));
  }
  if (!required.empty()) put(schema, "required", {{}, std::move(required)});
  yaml::Node& properties = put(schema, "properties", map_node());
  for (const ServiceKey& key : keys) put(properties, key.name, schema_of(key));
}

void put_text(yaml::Node& schema, const ServiceKey& key, bool may_be_empty = false) {
  put_type(schema, "string");
  if (!may_be_empty) put_count(schema, "minLength", 1);
  put_count(schema, "maxLength", key.length_max);
}

yaml::Node text_schema(const ServiceKey& key, bool may_be_empty) {
  yaml::Node schema = map_node();
  put_text(schema, key, may_be_empty);
  return schema;
}

void put_list(yaml::Node& schema, const ServiceKey& key, yaml::Node items) {
  put_type(schema, "array");
  put_count(schema, "minItems", key.count_min);
  put_count(schema, "maxItems", key.count_max);
  put(schema, "items", std::move(items));
}

void put_texts(yaml::Node& schema, const ServiceKey& key) {
  put_type(schema, "object");
  put_count(schema, "maxProperties", key.count_max);
  put(schema, "additionalProperties", text_schema(key, true));
}

}  // namespace

yaml::Node schema_of_map(const scenario::KeyList& keys) {
  yaml::Node schema = map_node();
  put_type(schema, "object");
  put_members(schema, keys);
  return schema;
}

yaml::Node schema_of(const ServiceKey& key) {
  yaml::Node schema = map_node();
  put(schema, "description", text_node(std::string(key.help)));
  switch (key.kind) {
    case KeyKind::kText:
      put_text(schema, key);
      break;
    case KeyKind::kNumber:
      put_type(schema, "number");
      put_bounds(schema, key);
      break;
    case KeyKind::kWhole:
      put_type(schema, "integer");
      put(schema, "format", text_node("int64"));
      put_bounds(schema, key);
      break;
    case KeyKind::kTruth:
      put_type(schema, "boolean");
      break;
    case KeyKind::kChoice:
      put_type(schema, "string");
      put_words(schema, key);
      break;
    case KeyKind::kMap:
      put_type(schema, "object");
      put_members(schema, key.below);
      break;
    case KeyKind::kTexts:
      put_texts(schema, key);
      break;
    case KeyKind::kMaps:
      put_list(schema, key, schema_of_map(key.below));
      break;
    case KeyKind::kNames:
      put_list(schema, key, text_schema(key, false));
      break;
    case KeyKind::kNumberOrMap:
      // Without a type: bounds concern numbers, a pattern concerns texts, properties concern maps.
      put(schema, kPreserve, truth_node(true));
      put_bounds(schema, key);
      put_members(schema, key.below);
      break;
    case KeyKind::kChoiceOrMap:
      put(schema, kPreserve, truth_node(true));
      put(schema, "pattern", text_node(fmt::format("^({})$", fmt::join(key.words, "|"))));
      put_members(schema, key.below);
      break;
    case KeyKind::kTemplate:
      put_type(schema, "object");
      put(schema, kPreserve, truth_node(true));
      break;
  }
  return schema;
}

}  // namespace berth::kube
