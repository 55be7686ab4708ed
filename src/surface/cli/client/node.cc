#include "surface/cli/client/node.h"

#include <algorithm>
#include <array>
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

constexpr int kIndent = 2;

/// Whether every YAML reader takes the text for a string even without quotes.
bool is_plain_in_yaml(const std::string& text) {
  constexpr std::array<std::string_view, 9> kWords = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_plain = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (text.empty() || !is_letter(text.front()) || !std::ranges::all_of(text, is_plain)) return false;
  std::string lower;
  for (const char c : text) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return std::ranges::find(kWords, lower) == kWords.end();
}

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

/// A YAML scalar: strings that need quotes are double-quoted, as in JSON, which YAML reads alike.
std::string scalar_text(const Scalar& scalar) {
  const bool is_text = scalar.kind == ScalarKind::kText || scalar.kind == ScalarKind::kUntyped;
  if (is_text && is_plain_in_yaml(scalar.text)) return scalar.text;
  json::Writer json;
  write_scalar(json, scalar);
  return printable_json(json.take());
}

bool is_empty_collection(const Node& node) {
  if (const auto* list = std::get_if<yaml::List>(&node.value)) return list->empty();
  const auto* map = std::get_if<yaml::Map>(&node.value);
  return map != nullptr && map->empty();
}

/// Appends YAML lines; the first one begins without indentation if `is_inline`.
void append_yaml(std::string& out, const Node& node, int indent, bool is_inline) {
  bool is_begun = is_inline;
  const auto begin = [&] {
    if (!std::exchange(is_begun, false)) out += std::string(static_cast<std::size_t>(indent), ' ');
  };
  const auto is_leaf = [](const Node& value) {
    return std::holds_alternative<Scalar>(value.value) || is_empty_collection(value);
  };
  if (is_leaf(node)) {
    begin();
    if (const auto* scalar = std::get_if<Scalar>(&node.value)) {
      out += scalar_text(*scalar);
    } else {
      out += std::holds_alternative<yaml::List>(node.value) ? "[]" : "{}";
    }
    out += '\n';
  } else if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    for (const Node& item : *list) {
      begin();
      out += "- ";
      append_yaml(out, item, indent + kIndent, true);
    }
  } else {
    for (const yaml::Entry& entry : std::get<yaml::Map>(node.value)) {
      begin();
      out += scalar_text({.text = entry.key, .is_plain = false, .kind = ScalarKind::kText}) + ":";
      out += is_leaf(entry.value) ? " " : "\n";
      append_yaml(out, entry.value, indent + kIndent, is_leaf(entry.value));
    }
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
  json::Writer json(kIndent);
  write_node(json, node);
  return printable_json(json.take_line());
}

std::string yaml_of(const Node& node, int indent) {
  std::string out;
  append_yaml(out, node, indent, false);
  return out;
}

}  // namespace berth::cli
