#include "surface/cli/client/node.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <variant>

#include "base/json/writer.h"
#include "surface/cli/shared/printable.h"

namespace berth::cli {
namespace {

using yaml::Node;
using yaml::Scalar;
using yaml::ScalarKind;

void write_scalar(json::Writer& json, const Scalar& scalar) {
  switch (scalar.kind) {
    case ScalarKind::kNull:
      json.value(nullptr);
      break;
    case ScalarKind::kNumber:
    case ScalarKind::kTruth:
      json.written(scalar.text);
      break;
    case ScalarKind::kText:
    case ScalarKind::kUntyped:
      json.value(scalar.text);
      break;
  }
}

void write_node(json::Writer& json, const Node& node) {
  if (const auto* scalar = std::get_if<Scalar>(&node.value)) {
    write_scalar(json, *scalar);
  } else if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    json.list(*list, write_node);
  } else {
    json.open_object();
    for (const yaml::Entry& entry : std::get<yaml::Map>(node.value)) write_node(json.key(entry.key), entry.value);
    json.close_object();
  }
}

}  // namespace

const Node* find_node(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (!path.empty()) {
    const auto* map = std::get_if<yaml::Map>(&node->value);
    if (map == nullptr) return nullptr;
    const std::size_t dot = std::min(path.find('.'), path.size());
    const auto entry = std::ranges::find(*map, path.substr(0, dot), &yaml::Entry::key);
    if (entry == map->end()) return nullptr;
    node = &entry->value;
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

const yaml::List& items_at(const Node& root, std::string_view path) {
  static const yaml::List nothing;
  const Node* node = find_node(root, path);
  const auto* list = node == nullptr ? nullptr : std::get_if<yaml::List>(&node->value);
  return list == nullptr ? nothing : *list;
}

std::optional<std::string> text_at(const Node& root, std::string_view path) {
  const Node* node = find_node(root, path);
  if (node == nullptr || node->is_null()) return std::nullopt;
  const auto* scalar = std::get_if<Scalar>(&node->value);
  return scalar == nullptr ? std::nullopt : std::optional(scalar->text);
}

std::optional<double> number_at(const Node& root, std::string_view path) {
  const auto text = text_at(root, path);
  if (!text) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text->c_str(), &end);
  if (text->empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

Node text_node(std::string text) { return {{}, Scalar{std::move(text), false, ScalarKind::kText}}; }
Node number_node(std::string text) { return {{}, Scalar{std::move(text), false, ScalarKind::kNumber}}; }
Node truth_node(bool value) { return {{}, Scalar{value ? "true" : "false", false, ScalarKind::kTruth}}; }
Node null_node() { return {{}, Scalar{"null", false, ScalarKind::kNull}}; }

void put(Node& map, std::string key, Node value) {
  std::get<yaml::Map>(map.value).push_back({std::move(key), {}, std::move(value)});
}

std::string json_of(const Node& node) {
  json::Writer json;
  write_node(json, node);
  return printable_json(json.take());
}

std::string indented_json_of(const Node& node) {
  constexpr int kSpaces = 2;
  json::Writer json(kSpaces);
  write_node(json, node);
  return printable_json(json.take_line());
}

}  // namespace berth::cli
