#include "base/json/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/core/text.h"

namespace berth::json {
namespace {

using Json = nlohmann::json;
using yaml::ScalarKind;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Iterates over the text and records how far the parser has read, because its events have no positions.
class Cursor {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(std::string_view text, std::size_t at, std::size_t* furthest) : text_(text), at_(at), furthest_(furthest) {}
  reference operator*() const { return text_[at_]; }
  Cursor& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    const Cursor before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const Cursor& a, const Cursor& b) { return a.at_ == b.at_; }

 private:
  std::string_view text_;
  std::size_t at_;
  std::size_t* furthest_;
};

/// Turns offsets into positions. Offsets must not decrease, so that all lookups together cost O(bytes).
class Places {
 public:
  Places(std::string_view text, std::size_t first_line) : text_(text), place_{.line = first_line, .column = 1} {}

  TextPlace at(std::size_t offset) {
    for (; offset_ < std::min(offset, text_.size()); ++offset_) {
      if (text_[offset_] == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((static_cast<unsigned char>(text_[offset_]) & 0xC0U) != 0x80U) {  // the first byte of a character
        ++place_.column;
      }
    }
    return place_;
  }

 private:
  std::string_view text_;
  std::size_t offset_ = 0;
  TextPlace place_;
};

/// A key as printed in a path: long keys and those with control characters in quotes, shortened.
std::string shown_key(const std::string& key) {
  constexpr std::size_t kLengthMax = 48;
  const auto is_printable = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; };
  const bool is_plain = key.size() <= kLengthMax && !key.empty() && std::ranges::all_of(key, is_printable);
  return is_plain ? key : in_quotes(key);
}

/// The character at an offset of well-formed text.
std::string_view character_at(std::string_view text, std::size_t offset) {
  std::size_t end = offset + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
  return text.substr(offset, end - offset);
}

/// The characters of the number at an offset.
std::string_view number_at(std::string_view text, std::size_t offset) {
  const std::size_t end = text.find_first_not_of("+-.0123456789eE", offset);
  return text.substr(offset, end == std::string_view::npos ? end : end - offset);
}

/// The first key in the order of the text that repeats an earlier one; nullptr if there is none.
const yaml::Entry* find_repeated(const yaml::Map& map) {
  std::vector<const yaml::Entry*> entries;
  entries.reserve(map.size());
  for (const yaml::Entry& entry : map) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const yaml::Entry* a, const yaml::Entry* b) {
    const int order = a->key.compare(b->key);
    return order != 0 ? order < 0 : a->place < b->place;
  });
  const yaml::Entry* first = nullptr;
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i]->key != entries[i - 1]->key) continue;
    if (first == nullptr || entries[i]->place < first->place) first = entries[i];
  }
  return first;
}

/// Builds the tree from the parser's events. Each event returns whether parsing continues.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, std::string_view source, const Limits& limits)
      : text_(text), source_(source), limits_(limits), places_(text, limits.first_line) {}

  Result<yaml::Node> parse() {
    const Cursor begin(text_, 0, &furthest_);
    const Cursor end(text_, text_.size(), &furthest_);
    if (Json::sax_parse(begin, end, this)) return std::move(root_);
    return tl::unexpected(*failure_);
  }

  bool null() override { return scalar("null", ScalarKind::kNull); }
  bool boolean(bool value) override { return scalar(value ? "true" : "false", ScalarKind::kTruth); }
  bool number_integer(number_integer_t /*value*/) override { return number(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return number(); }
  bool number_float(number_float_t /*rounded*/, const string_t& /*text*/) override { return number(); }
  bool string(string_t& value) override { return scalar(std::move(value), ScalarKind::kText); }
  bool binary(binary_t& /*value*/) override { return false; }  // JSON text has none
  bool start_object(std::size_t /*count*/) override { return open(yaml::Map()); }
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t /*count*/) override { return open(yaml::List()); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t bytes_read, const std::string& token, const Json::exception& why) override;

 private:
  bool number();
  bool scalar(std::string text, ScalarKind kind) {
    return add(begin_token(), yaml::Scalar{std::move(text), /*is_plain=*/false, kind}) != nullptr;
  }
  bool open(std::variant<yaml::Scalar, yaml::List, yaml::Map> empty);
  bool close();
  /// The new node, or null after a failure. Its address stays valid, because its parent gets no further member while
  /// the node is open.
  yaml::Node* add(std::size_t offset, std::variant<yaml::Scalar, yaml::List, yaml::Map> value);
  /// The offset where the token read last begins; records where it ends.
  std::size_t begin_token();
  /// The keys and indices that lead to the value being read.
  [[nodiscard]] std::string path() const;
  bool fail(ErrorCode code, TextPlace place, std::string_view message);

  std::string_view text_;
  std::string_view source_;
  const Limits& limits_;
  Places places_;
  std::size_t furthest_ = 0;   ///< one past the last byte that the parser has taken
  std::size_t token_end_ = 0;  ///< one past the last token, perhaps past a separator, too
  yaml::Node root_;
  std::vector<yaml::Node*> open_;
  std::size_t value_count_ = 0;
  std::optional<Error> failure_;
};

std::size_t Builder::begin_token() {
  const std::size_t begin = std::min(text_.find_first_not_of(" \t\r\n,:", token_end_), text_.size());
  token_end_ = furthest_;
  return begin;
}

bool Builder::number() {
  const std::size_t begin = begin_token();
  return add(begin, yaml::Scalar{std::string(number_at(text_, begin)), /*is_plain=*/false, ScalarKind::kNumber}) !=
         nullptr;
}

bool Builder::open(std::variant<yaml::Scalar, yaml::List, yaml::Map> empty) {
  const std::size_t offset = begin_token();
  if (open_.size() == kDepthMax) {
    return fail(ErrorCode::kMalformed, places_.at(offset),
                fmt::format("wanted at most {} levels of nesting, found more", kDepthMax));
  }
  yaml::Node* node = add(offset, std::move(empty));
  if (node == nullptr) return false;
  open_.push_back(node);
  return true;
}

bool Builder::close() {
  open_.pop_back();
  token_end_ = furthest_;
  return true;
}

bool Builder::key(string_t& name) {
  const TextPlace place = places_.at(begin_token());
  std::get<yaml::Map>(open_.back()->value).push_back({std::move(name), place, {}});
  return true;
}

bool Builder::end_object() {
  auto& map = std::get<yaml::Map>(open_.back()->value);
  const yaml::Entry* repeated = find_repeated(map);
  if (repeated == nullptr) return close();
  const std::string message = fmt::format("wanted each key once, found {} again", in_quotes(repeated->key));
  const TextPlace place = repeated->place;
  map.clear();  // so that the path ends at the object
  return fail(ErrorCode::kMalformed, place, message);
}

yaml::Node* Builder::add(std::size_t offset, std::variant<yaml::Scalar, yaml::List, yaml::Map> value) {
  const TextPlace place = places_.at(offset);
  if (++value_count_ > limits_.value_count_max) {
    fail(ErrorCode::kInvalidInput, place, fmt::format("wanted at most {} values, found more", limits_.value_count_max));
    return nullptr;
  }
  yaml::Node node{place, std::move(value)};
  if (open_.empty()) {
    root_ = std::move(node);
    return &root_;
  }
  if (auto* list = std::get_if<yaml::List>(&open_.back()->value)) return &list->emplace_back(std::move(node));
  yaml::Node& member = std::get<yaml::Map>(open_.back()->value).back().value;
  member = std::move(node);
  return &member;
}

bool Builder::parse_error(std::size_t bytes_read, const std::string& /*token*/, const Json::exception& why) {
  constexpr int kOutOfRange = 406;
  if (why.id == kOutOfRange) {
    const std::size_t begin = begin_token();
    return fail(ErrorCode::kMalformed, places_.at(begin),
                fmt::format("wanted a number in the range of a double, found {}", in_quotes(number_at(text_, begin))));
  }
  const std::string_view reason = why.what();  // the text's own content follows "last read"
  if (reason.substr(0, reason.find("; last read")).find("surrogate") != std::string_view::npos) {
    return fail(ErrorCode::kMalformed, places_.at(bytes_read - 1), "wanted surrogates in pairs, found one alone");
  }
  if (bytes_read == 0 || bytes_read > text_.size()) {
    return fail(ErrorCode::kMalformed, places_.at(text_.size()), "wanted JSON, found the end of the text");
  }
  const std::string found = in_quotes(character_at(text_, bytes_read - 1));
  return fail(ErrorCode::kMalformed, places_.at(bytes_read - 1), "wanted JSON, found " + found);
}

std::string Builder::path() const {
  std::string path;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    if (const auto* list = std::get_if<yaml::List>(&open_[i]->value)) {
      const bool is_innermost = i + 1 == open_.size();  // its next item is being read; elsewhere the last one is open
      path += fmt::format("[{}]", is_innermost ? list->size() : list->size() - 1);
      continue;
    }
    const auto& map = std::get<yaml::Map>(open_[i]->value);
    if (map.empty()) continue;
    if (!path.empty()) path += '.';
    path += shown_key(map.back().key);
  }
  return path;
}

bool Builder::fail(ErrorCode code, TextPlace place, std::string_view message) {
  const std::string where = path();
  failure_ = error_at(source_, place, where.empty() ? std::string(message) : fmt::format("{}: {}", where, message));
  failure_->code = code;
  return false;
}

}  // namespace

Result<yaml::Node> parse_document(std::string_view text, std::string_view source, const Limits& limits) {
  if (text.size() > limits.text_bytes_max) {
    const std::string line = limits.first_line == 1 ? "" : fmt::format("{}: ", limits.first_line);
    return invalid(
        fmt::format("{}: {}wanted at most {} bytes, found {}", source, line, limits.text_bytes_max, text.size()));
  }
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) text.remove_prefix(kByteOrderMark.size());
  const auto malformed = [&](std::size_t offset, std::string_view message) {
    Error error = error_at(source, Places(text, limits.first_line).at(offset), message);
    error.code = ErrorCode::kMalformed;
    return tl::unexpected(std::move(error));
  };
  // The parser itself skips a byte-order mark, checks UTF-8 in strings only, and treats NUL as the end.
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    return malformed(0, "wanted JSON, found a second byte-order mark");
  }
  const std::size_t bad = find_bad_utf8(text);
  if (bad != std::string_view::npos) {
    const auto byte = static_cast<unsigned char>(text[bad]);
    return malformed(bad, fmt::format("wanted text in UTF-8, found the byte 0x{:02x}", byte));
  }
  return Builder(text, source, limits).parse();
}

}  // namespace berth::json
