#include "surface/cli/client/blob_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "live/chain/field_hash.h"
#include "surface/cli/client/node.h"

namespace berth::cli {
namespace {

using yaml::Node;

constexpr std::size_t kLongBytes = std::size_t{256} << 10U;

/// A value of a map; null if there is none.
Node* value_at(Node& node, std::string_view key) {
  auto* map = std::get_if<yaml::Map>(&node.value);
  if (map == nullptr) return nullptr;
  const auto found = std::ranges::find(*map, key, &yaml::Entry::key);
  return found == map->end() ? nullptr : &found->value;
}

/// The values of a spec that may have `rows`: profiles, then arrivals.
std::vector<Node*> tables_of(Node& spec) {
  std::vector<Node*> tables = {value_at(spec, "profile")};
  Node* variants = value_at(spec, "variants");
  auto* list = variants == nullptr ? nullptr : std::get_if<yaml::List>(&variants->value);
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) tables.push_back(value_at((*list)[i], "profile"));
  tables.push_back(value_at(spec, "arrivals"));
  return tables;
}

std::string csv_of(const Node& rows) {
  std::string text = "second,requests\n";
  for (const Node& row : std::get<yaml::List>(rows.value)) {
    text += fmt::format("{},{}\n", text_at(row, "second").value_or(""), text_at(row, "requests").value_or(""));
  }
  return text;
}

std::optional<Blob> take(Node& table, bool is_arrivals) {
  Node* rows = value_at(table, "rows");
  if (rows == nullptr || !std::holds_alternative<yaml::List>(rows->value)) return std::nullopt;
  std::string bytes = json_of(*rows);
  if (bytes.size() <= kLongBytes) return std::nullopt;
  if (is_arrivals) bytes = csv_of(*rows);
  Blob blob{.sha256 = chain::hex_of(chain::sha256(bytes)), .bytes = std::move(bytes)};
  *rows = Node{{}, yaml::Map()};
  put(*rows, "blob", text_node(blob.sha256));
  return blob;
}

}  // namespace

std::vector<Blob> take_long_rows(Node& spec) {
  std::vector<Blob> blobs;
  const Node* arrivals = value_at(spec, "arrivals");
  for (Node* table : tables_of(spec)) {
    if (table == nullptr) continue;
    auto blob = take(*table, table == arrivals);
    if (blob) blobs.push_back(std::move(*blob));
  }
  return blobs;
}

bool refers_to_blobs(const Node& spec) {
  Node copy = spec;
  return std::ranges::any_of(tables_of(copy), [](Node* table) {
    Node* rows = table == nullptr ? nullptr : value_at(*table, "rows");
    return rows != nullptr && value_at(*rows, "blob") != nullptr;
  });
}

}  // namespace berth::cli
