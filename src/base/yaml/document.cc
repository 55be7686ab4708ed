#include "base/yaml/document.h"

#include <fmt/format.h>
#include <yaml.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace berth::yaml {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kCoreTagPrefix = "tag:yaml.org,2002:";

TextPlace place_of(const yaml_mark_t& mark) { return {mark.line + 1, mark.column + 1}; }

/// Position of a byte; columns count characters.
TextPlace place_of_offset(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t last_break = before.rfind('\n');
  const std::string_view line = last_break == std::string_view::npos ? before : before.substr(last_break + 1);
  const auto is_lead = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
  return {static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<std::size_t>(std::count_if(line.begin(), line.end(), is_lead)) + 1};
}

/// One event of libyaml; frees it.
class YamlEvent {
 public:
  YamlEvent() = default;
  YamlEvent(const YamlEvent&) = delete;
  YamlEvent& operator=(const YamlEvent&) = delete;
  ~YamlEvent() { yaml_event_delete(&event_); }

  [[nodiscard]] yaml_event_t* raw() { return &event_; }
  [[nodiscard]] const yaml_event_t& operator*() const { return event_; }
  [[nodiscard]] yaml_event_type_t type() const { return event_.type; }
  [[nodiscard]] TextPlace place() const { return place_of(event_.start_mark); }

 private:
  yaml_event_t event_{};
};

std::string_view view_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

/// The anchor and the tag of an event that begins a node; each may be empty.
struct Properties {
  std::string anchor;
  std::string tag;
};

Properties properties_of(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      return {std::string(view_of(event.data.scalar.anchor)), std::string(view_of(event.data.scalar.tag))};
    case YAML_SEQUENCE_START_EVENT:
      return {std::string(view_of(event.data.sequence_start.anchor)),
              std::string(view_of(event.data.sequence_start.tag))};
    case YAML_MAPPING_START_EVENT:
      return {std::string(view_of(event.data.mapping_start.anchor)),
              std::string(view_of(event.data.mapping_start.tag))};
    default:
      return {};
  }
}

bool is_core_tag(std::string_view tag) {
  if (tag.empty() || tag == "!") return true;
  if (tag.substr(0, kCoreTagPrefix.size()) != kCoreTagPrefix) return false;
  const std::string_view name = tag.substr(kCoreTagPrefix.size());
  constexpr std::string_view kNames[] = {"str", "int", "float", "bool", "null", "map", "seq"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

/// Builds the tree from libyaml's events and counts its size.
class Composer {
 public:
  Composer(std::string_view text, std::string_view file) : text_(text), file_(file) {
    is_ready_ = yaml_parser_initialize(&parser_) != 0;
    if (!is_ready_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  Composer(const Composer&) = delete;
  Composer& operator=(const Composer&) = delete;
  ~Composer() {
    if (is_ready_) yaml_parser_delete(&parser_);
  }

  Result<Node> document();
  Result<std::vector<Node>> documents();

 private:
  Result<void> read(YamlEvent& event);
  Result<Node> node(const YamlEvent& event, int depth);
  Result<Node> untagged(const YamlEvent& event, const std::string& tag, int depth);
  Result<Node> list(TextPlace place, int depth);
  Result<Node> map(TextPlace place, int depth);
  Result<Entry> entry(const YamlEvent& key_event, int depth);
  Result<Node> alias(const YamlEvent& event, int depth);
  /// Counts a tree whose root is at `depth` against the limits.
  Result<void> charge(const Node& node, TextPlace place, int depth);
  Result<void> check_depth(TextPlace place, int depth) const;
  Result<void> charge_one(std::size_t bytes, TextPlace place);

  tl::unexpected<Error> refuse(TextPlace place, std::string_view message) const {
    return tl::unexpected(error_at(file_, place, message));
  }

  yaml_parser_t parser_{};
  bool is_ready_ = false;
  std::string_view text_;
  std::string_view file_;
  std::map<std::string, Node, std::less<>> anchors_;
  std::size_t node_count_ = 0;
  std::size_t scalar_bytes_ = 0;
};

Result<Node> Composer::document() {
  if (!is_ready_) return fail(ErrorCode::kUnavailable, fmt::format("{}: no memory for reading it", file_));
  YamlEvent stream_start;
  if (const auto done = read(stream_start); !done) return pass_on(done.error());
  YamlEvent document_start;
  if (const auto done = read(document_start); !done) return pass_on(done.error());
  if (document_start.type() == YAML_STREAM_END_EVENT) return refuse({1, 1}, "wanted a document, found nothing");
  YamlEvent first;
  if (const auto done = read(first); !done) return pass_on(done.error());
  auto root = node(first, 1);
  if (!root) return root;
  if (root->is_null()) return refuse(root->place, "wanted a document, found nothing");
  YamlEvent document_end;
  if (const auto done = read(document_end); !done) return pass_on(done.error());
  YamlEvent last;
  if (const auto done = read(last); !done) return pass_on(done.error());
  if (last.type() != YAML_STREAM_END_EVENT) return refuse(last.place(), "wanted one document, found a second one");
  return root;
}

Result<std::vector<Node>> Composer::documents() {
  if (!is_ready_) return fail(ErrorCode::kUnavailable, fmt::format("{}: no memory for reading it", file_));
  YamlEvent stream_start;
  if (const auto done = read(stream_start); !done) return pass_on(done.error());
  std::vector<Node> roots;
  while (true) {
    YamlEvent begin;
    if (const auto done = read(begin); !done) return pass_on(done.error());
    if (begin.type() == YAML_STREAM_END_EVENT) break;
    anchors_.clear();  // an alias refers to an anchor of its own document
    YamlEvent first;
    if (const auto done = read(first); !done) return pass_on(done.error());
    auto root = node(first, 1);
    if (!root) return pass_on(root.error());
    if (!root->is_null()) roots.push_back(std::move(*root));
    YamlEvent end;
    if (const auto done = read(end); !done) return pass_on(done.error());
  }
  if (roots.empty()) return refuse({1, 1}, "wanted a document, found nothing");
  return roots;
}

Result<void> Composer::read(YamlEvent& event) {
  if (yaml_parser_parse(&parser_, event.raw()) != 0) return {};
  const std::string_view problem = parser_.problem == nullptr ? "unknown problem" : parser_.problem;
  if (parser_.error == YAML_READER_ERROR) {
    return refuse(place_of_offset(text_, parser_.problem_offset), fmt::format("malformed YAML: {}", problem));
  }
  const std::string_view context = parser_.context == nullptr ? "" : parser_.context;
  return refuse(place_of(parser_.problem_mark),
                fmt::format("malformed YAML: {}{}{}", context, context.empty() ? "" : ", ", problem));
}

Result<Node> Composer::node(const YamlEvent& event, int depth) {
  if (event.type() == YAML_ALIAS_EVENT) return alias(event, depth);
  if (const auto checked = check_depth(event.place(), depth); !checked) return pass_on(checked.error());
  const Properties properties = properties_of(*event);
  if (!is_core_tag(properties.tag)) {
    return refuse(event.place(), fmt::format("wanted no tags but YAML's own, found {}", in_quotes(properties.tag)));
  }
  auto result = untagged(event, properties.tag, depth);
  if (!result || properties.anchor.empty()) return result;
  // The copy kept for the anchor counts like any other part of the tree.
  if (const auto charged = charge(*result, event.place(), depth); !charged) return pass_on(charged.error());
  anchors_.insert_or_assign(properties.anchor, *result);
  return result;
}

Result<Node> Composer::untagged(const YamlEvent& event, const std::string& tag, int depth) {
  if (event.type() == YAML_SEQUENCE_START_EVENT) return list(event.place(), depth);
  if (event.type() == YAML_MAPPING_START_EVENT) return map(event.place(), depth);
  const auto& scalar = (*event).data.scalar;
  if (const auto charged = charge_one(scalar.length, event.place()); !charged) return pass_on(charged.error());
  const bool is_string = tag == "!" || tag == "tag:yaml.org,2002:str";
  std::string text(reinterpret_cast<const char*>(scalar.value), scalar.length);
  return Node{event.place(), Scalar{std::move(text), scalar.style == YAML_PLAIN_SCALAR_STYLE && !is_string}};
}

Result<Node> Composer::list(TextPlace place, int depth) {
  if (const auto charged = charge_one(0, place); !charged) return pass_on(charged.error());
  List items;
  while (true) {
    YamlEvent event;
    if (const auto done = read(event); !done) return pass_on(done.error());
    if (event.type() == YAML_SEQUENCE_END_EVENT) return Node{place, std::move(items)};
    auto item = node(event, depth + 1);
    if (!item) return item;
    items.push_back(std::move(*item));
  }
}

Result<Node> Composer::map(TextPlace place, int depth) {
  if (const auto charged = charge_one(0, place); !charged) return pass_on(charged.error());
  Map entries;
  std::set<std::string> keys;
  while (true) {
    YamlEvent event;
    if (const auto done = read(event); !done) return pass_on(done.error());
    if (event.type() == YAML_MAPPING_END_EVENT) return Node{place, std::move(entries)};
    auto added = entry(event, depth);
    if (!added) return pass_on(added.error());
    if (!keys.insert(added->key).second) {
      return refuse(added->place, fmt::format("wanted each key once, found {} again", in_quotes(added->key)));
    }
    entries.push_back(std::move(*added));
  }
}

Result<Entry> Composer::entry(const YamlEvent& key_event, int depth) {
  auto key = node(key_event, depth + 1);
  if (!key) return pass_on(key.error());
  auto* scalar = std::get_if<Scalar>(&key->value);
  if (scalar == nullptr) return refuse(key_event.place(), "wanted a word as a key, found a list or a map");
  if (scalar->is_plain && scalar->text == "<<") {
    return refuse(key_event.place(), "merge keys (<<) are not supported: wanted the keys written out");
  }
  YamlEvent event;
  if (const auto done = read(event); !done) return pass_on(done.error());
  auto value = node(event, depth + 1);
  if (!value) return pass_on(value.error());
  return Entry{std::move(scalar->text), key_event.place(), std::move(*value)};
}

Result<Node> Composer::alias(const YamlEvent& event, int depth) {
  const std::string_view name = view_of((*event).data.alias.anchor);
  const auto found = anchors_.find(name);
  if (found == anchors_.end()) {
    return refuse(event.place(), fmt::format("wanted an anchor &{} that ends before this alias, found none", name));
  }
  if (const auto charged = charge(found->second, event.place(), depth); !charged) return pass_on(charged.error());
  return found->second;
}

Result<void> Composer::check_depth(TextPlace place, int depth) const {
  if (depth <= kDepthMax) return {};
  return refuse(place, fmt::format("wanted at most {} levels of nesting, found more", kDepthMax));
}

Result<void> Composer::charge(const Node& node, TextPlace place, int depth) {
  if (const auto checked = check_depth(place, depth); !checked) return checked;
  if (const auto* scalar = std::get_if<Scalar>(&node.value)) return charge_one(scalar->text.size(), place);
  if (const auto charged = charge_one(0, place); !charged) return charged;
  if (const auto* items = std::get_if<List>(&node.value)) {
    for (const Node& item : *items) {
      if (const auto charged = charge(item, place, depth + 1); !charged) return charged;
    }
  }
  if (const auto* entries = std::get_if<Map>(&node.value)) {
    for (const Entry& entry : *entries) {
      if (const auto charged = charge_one(entry.key.size(), place); !charged) return charged;
      if (const auto charged = charge(entry.value, place, depth + 1); !charged) return charged;
    }
  }
  return {};
}

Result<void> Composer::charge_one(std::size_t bytes, TextPlace place) {
  ++node_count_;
  scalar_bytes_ += bytes;
  if (node_count_ > kNodeCountMax) {
    return refuse(place, fmt::format("wanted at most {} values, aliases expanded, found more", kNodeCountMax));
  }
  if (scalar_bytes_ > kScalarBytesMax) {
    return refuse(place, fmt::format("wanted at most {} bytes of text, aliases expanded, found more", kScalarBytesMax));
  }
  return {};
}

/// The text without its byte-order mark, if it is UTF-8 and not too long.
Result<std::string_view> checked_text(std::string_view text, std::string_view file) {
  if (text.size() > kTextBytesMax) {
    return invalid(fmt::format("{}: wanted at most {} bytes, found {}", file, kTextBytesMax, text.size()));
  }
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  const std::size_t bad = find_bad_utf8(text);
  if (bad == std::string_view::npos) return text;
  const auto byte = static_cast<unsigned char>(text[bad]);
  return tl::unexpected(
      error_at(file, place_of_offset(text, bad), fmt::format("wanted text in UTF-8, found the byte 0x{:02x}", byte)));
}

}  // namespace

bool Node::is_null() const {
  const auto* scalar = std::get_if<Scalar>(&value);
  if (scalar == nullptr) return false;
  if (scalar->kind != ScalarKind::kUntyped) return scalar->kind == ScalarKind::kNull;
  if (!scalar->is_plain) return false;
  const std::string& text = scalar->text;
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

Result<Node> parse_document(std::string_view text, std::string_view file) {
  const auto checked = checked_text(text, file);
  if (!checked) return pass_on(checked.error());
  return Composer(*checked, file).document();
}

Result<std::vector<Node>> parse_documents(std::string_view text, std::string_view file) {
  const auto checked = checked_text(text, file);
  if (!checked) return pass_on(checked.error());
  return Composer(*checked, file).documents();
}

}  // namespace berth::yaml
