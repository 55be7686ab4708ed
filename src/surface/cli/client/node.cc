#include "surface/cli/client/node.h"
#include "surface/cli/shared/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

namespace berth::cli {
namespace {

using yaml::Node;
using yaml::Scalar;
using yaml::ScalarKind;

constexpr int kYamlIndent = 2;

/// In double quotes, as in JSON; YAML reads the same.
std::string quoted(const std::string& text) {
  const std::string dumped = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::string result;
  for (std::size_t i = 0; i < dumped.size(); ++i) {
    if (dumped[i] == '\x7F') {
      result += "\\u007f";
    } else if (is_c1_control(dumped, i)) {
      result += fmt::format("\\u00{:02x}", static_cast<unsigned char>(dumped[++i]));
    } else {
      result += dumped[i];
    }
  }
  return result;
}

/// A text that every reader of YAML takes for a text, also without quotes.
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

std::string scalar_text(const Scalar& scalar, bool is_yaml) {
  switch (scalar.kind) {
    case ScalarKind::kNull:
      return "null";
    case ScalarKind::kNumber:
    case ScalarKind::kTruth:
      return scalar.text;
    case ScalarKind::kText:
    case ScalarKind::kUntyped:
      break;
  }
  return is_yaml && is_plain_in_yaml(scalar.text) ? scalar.text : quoted(scalar.text);
}

/// Appends JSON; `indent` below 0: on one line.
void append_json(std::string& out, const Node& node, int indent) {
  const auto line = [&](int depth) {
    if (indent >= 0) out += "\n" + std::string(static_cast<std::size_t>(depth), ' ');
  };
  const int inner = indent < 0 ? indent : indent + kYamlIndent;
  if (const auto* scalar = std::get_if<Scalar>(&node.value)) {
    out += scalar_text(*scalar, false);
  } else if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    out += '[';
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += ',';
      line(inner);
      append_json(out, (*list)[i], inner);
    }
    if (!list->empty()) line(indent);
    out += ']';
  } else {
    const auto& map = std::get<yaml::Map>(node.value);
    out += '{';
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (i > 0) out += ',';
      line(inner);
      out += quoted(map[i].key) + (indent < 0 ? ":" : ": ");
      append_json(out, map[i].value, inner);
    }
    if (!map.empty()) line(indent);
    out += '}';
  }
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
      out += scalar_text(*scalar, true);
    } else {
      out += std::holds_alternative<yaml::List>(node.value) ? "[]" : "{}";
    }
    out += '\n';
  } else if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    for (const Node& item : *list) {
      begin();
      out += "- ";
      append_yaml(out, item, indent + kYamlIndent, true);
    }
  } else {
    for (const yaml::Entry& entry : std::get<yaml::Map>(node.value)) {
      begin();
      out += scalar_text({.text = entry.key, .is_plain = false, .kind = ScalarKind::kText}, true) + ":";
      out += is_leaf(entry.value) ? " " : "\n";
      append_yaml(out, entry.value, indent + kYamlIndent, is_leaf(entry.value));
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
  std::string out;
  append_json(out, node, -1);
  return out;
}

std::string indented_json_of(const Node& node) {
  std::string out;
  append_json(out, node, 0);
  return out + "\n";
}

std::string yaml_of(const Node& node, int indent) {
  std::string out;
  append_yaml(out, node, indent, false);
  return out;
}

}  // namespace berth::cli
