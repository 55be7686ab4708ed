#include "surface/cli/client/describe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "surface/cli/client/node.h"
#include "surface/cli/client/readable.h"
#include "surface/cli/client/tables.h"
#include "surface/cli/shared/printable.h"
#include "surface/cli/shared/yaml_text.h"

namespace berth::cli {
namespace {

using yaml::Map;
using yaml::Node;

/// Lists of a spec up to this length are shown, longer ones are counted.
constexpr std::size_t kShownItemsMax = 8;

struct Fact {
  std::string name;
  std::string text;
};

/// "latency_p50_ms" as "Latency p50 ms".
std::string words_of(std::string_view key) {
  std::string words(key);
  std::ranges::replace(words, '_', ' ');
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z') {
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  }
  return printable(words);
}

/// Keys of a plan that are null if they do not apply.
bool may_not_apply(std::string_view key) {
  return key == "expires_at_wall" || key == "expires_at" || key == "acts_at" || key == "message" || key == "conflict";
}

/// The text for null: a reason or message does not exist; anything else is unknown.
std::string absent_text(std::string_view key) {
  const bool is_text = key.ends_with("reason") || key.ends_with("message") || key == "conflict";
  return is_text ? "none" : "unknown";
}

std::string value_text(std::string_view key, const Node& value) {
  if (value.is_null()) return absent_text(key);
  const auto* list = std::get_if<yaml::List>(&value.value);
  if (list == nullptr) return printable(readable(value));
  std::string text;
  for (const Node& item : *list) text += (text.empty() ? "" : ", ") + printable(readable(item));
  return text.empty() ? "none" : text;
}

std::string indented(const std::string& text, std::size_t indent) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += std::string(indent, ' ') + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return result;
}

std::string facts_text(const std::vector<Fact>& facts, std::size_t indent) {
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, fact.name.size());
  std::string text;
  for (const Fact& fact : facts) {
    text += fmt::format("{}{:<{}}  {}\n", std::string(indent, ' '), fact.name + ":", width + 1, fact.text);
  }
  return text;
}

bool is_list_of_maps(const Node& value) {
  const auto* list = std::get_if<yaml::List>(&value.value);
  return list != nullptr && !list->empty() &&
         std::ranges::all_of(*list, [](const Node& item) { return std::holds_alternative<Map>(item.value); });
}

/// Scalars and short lists first, each on a line, then maps and tables under their headings.
std::string map_text(const Map& map, std::size_t indent) {
  constexpr std::size_t kIndent = 2;
  std::vector<Fact> facts;
  std::string blocks;
  for (const yaml::Entry& entry : map) {
    const std::string heading = std::string(indent, ' ') + words_of(entry.key) + ":\n";
    const auto* inner = std::get_if<Map>(&entry.value.value);
    if (inner != nullptr && !inner->empty()) {
      blocks += heading + map_text(*inner, indent + kIndent);
    } else if (is_list_of_maps(entry.value)) {
      blocks += heading + indented(maps_table(std::get<yaml::List>(entry.value.value)), indent + kIndent);
    } else {
      facts.push_back({words_of(entry.key), inner != nullptr ? "none" : value_text(entry.key, entry.value)});
    }
  }
  return facts_text(facts, indent) + blocks;
}

std::string head_text(Kind kind, const Node& object) {
  std::vector<Fact> facts = {{"Name", printable(text_at(object, "metadata.name").value_or("unknown"))}};
  if (const auto tenant = text_at(object, "metadata.namespace")) facts.push_back({"Tenant", printable(*tenant)});
  facts.push_back({"Kind", printable(text_at(object, "kind").value_or(std::string(word_of(kind))))});
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kMore = {
      {{"Version", "metadata.resourceVersion"}, {"Created", "metadata.creationTimestamp"}}};
  for (const auto& [name, path] : kMore) {
    if (const auto text = text_at(object, path)) facts.push_back({std::string(name), printable(short_time(*text))});
  }
  const Node* labels = find_node(object, "metadata.labels");
  const auto* map = labels == nullptr ? nullptr : std::get_if<Map>(&labels->value);
  if (map != nullptr && !map->empty()) {
    std::string text;
    for (const yaml::Entry& label : *map) {
      text += fmt::format("{}{}={}", text.empty() ? "" : ", ", printable(label.key),
                          printable(text_at(label.value, "").value_or("")));
    }
    facts.push_back({"Labels", text});
  }
  return facts_text(facts, 0);
}

/// The value, with each long list replaced by its count.
Node shortened(const Node& node) {
  if (const auto* list = std::get_if<yaml::List>(&node.value)) {
    if (list->size() > kShownItemsMax) return text_node(fmt::format("{} items", list->size()));
    yaml::List items;
    for (const Node& item : *list) items.push_back(shortened(item));
    return {node.place, std::move(items)};
  }
  if (const auto* map = std::get_if<Map>(&node.value)) {
    Map entries;
    for (const yaml::Entry& entry : *map) entries.push_back({entry.key, entry.place, shortened(entry.value)});
    return {node.place, std::move(entries)};
  }
  return node;
}

std::string actions_table(const yaml::List& actions) {
  std::vector<std::vector<std::string>> rows;
  for (const Node& action : actions) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const char* key : {"id", "type", "gpu", "profile", "start", "tenant", "service", "role", "phase"}) {
      row.push_back(text_cell(action, key));
    }
    const std::string message = text_cell(action, "message");
    row.push_back(text_cell(action, "reason") + (message.empty() ? "" : " [" + message + "]"));
  }
  return columns_text({"ID", "TYPE", "GPU", "PROFILE", "START", "TENANT", "SERVICE", "ROLE", "PHASE", "REASON"}, rows);
}

/// "1g.10gb@0=detector": a slice of a later layout.
std::string ahead_cell(const Node& change) {
  std::string cell;
  for (const Node& slice : items_at(change, "slices")) {
    cell += fmt::format("{}{}@{}={}", cell.empty() ? "" : " ", text_cell(slice, "profile"), text_cell(slice, "start"),
                        text_at(slice, "service").value_or("-"));
  }
  return cell;
}

std::string plan_text(const Node& plan) {
  Map facts;
  const auto add = [&](const Node* node) {
    const auto* map = node == nullptr ? nullptr : std::get_if<Map>(&node->value);
    if (map == nullptr) return;
    for (const yaml::Entry& entry : *map) {
      if (entry.key == "actions" || entry.key == "ahead") continue;
      if (!entry.value.is_null() || !may_not_apply(entry.key)) facts.push_back(entry);
    }
  };
  add(find_node(plan, "status"));
  add(find_node(plan, "spec"));
  std::string text = map_text(facts, 0);
  const yaml::List& actions = items_at(plan, "spec.actions");
  text += actions.empty() ? "Actions: none\n" : "Actions:\n" + indented(actions_table(actions), 2);
  const yaml::List& ahead = items_at(plan, "spec.ahead");
  if (ahead.empty()) return text;
  std::vector<std::vector<std::string>> rows;
  for (const Node& change : ahead) {
    rows.push_back({text_cell(change, "gpu"), text_cell(change, "after_seconds"), ahead_cell(change)});
  }
  return text + "Later in its window:\n" + indented(columns_text({"GPU", "AFTER S", "LAYOUT"}, rows), 2);
}

/// The status without what `related_text` shows in full: the GPUs of a node. A finished drain is its scheduling.
Map own_facts(Kind kind, const Node& object, Map status) {
  if (kind == Kind::kNode) std::erase_if(status, [](const yaml::Entry& entry) { return entry.key == "gpus"; });
  const std::string scheduling = scheduling_cell(object);
  for (yaml::Entry& entry : status) {
    if (entry.key == "scheduling") entry.value = text_node(scheduling);
  }
  std::erase_if(status, [](const yaml::Entry& entry) { return entry.key == "drained"; });
  return status;
}

}  // namespace

std::string describe_text(Kind kind, const Node& object) {
  std::string text = head_text(kind, object);
  if (kind == Kind::kPlan) return text + plan_text(object);
  if (const Node* status = find_node(object, "status")) {
    if (const auto* map = std::get_if<Map>(&status->value)) text += map_text(own_facts(kind, object, *map), 0);
  }
  const Node* spec = find_node(object, "spec");
  const auto* map = spec == nullptr ? nullptr : std::get_if<Map>(&spec->value);
  if (map != nullptr && !map->empty()) text += "Spec:\n" + yaml_of(shortened(*spec), 2);
  return text;
}

std::string related_text(Kind kind, const std::vector<Node>& objects, const TableView& view) {
  const std::string heading = words_of(plural_of(kind)) + ":";
  if (objects.empty()) return heading + " none\n";
  return heading + "\n" + indented(objects_table(kind, objects, view), 2);
}

}  // namespace berth::cli
