#include "base/json_lines/flat_object.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/core/ensure.h"
#include "base/core/text.h"

namespace berth::json {
namespace {

namespace dom = simdjson::dom;

/// The library refuses deeper values; callers that want flat objects refuse any nesting themselves.
constexpr std::size_t kDepthMax = 64;

/// Fills the member in place: building it elsewhere and copying it stalls the processor each time.
void fill(FlatMember& member, const dom::key_value_pair& field) {
  member.key = field.key;
  switch (field.value.type()) {
    case dom::element_type::STRING:
      member.kind = FlatKind::kText;
      member.text = field.value.get_string().value_unsafe();
      return;
    case dom::element_type::INT64:
      member.kind = FlatKind::kInteger;
      member.number = field.value.get_int64().value_unsafe();
      return;
    case dom::element_type::BOOL:
      member.kind = FlatKind::kTruth;
      member.number = field.value.get_bool().value_unsafe() ? 1 : 0;
      return;
    case dom::element_type::DOUBLE:
      member.kind = FlatKind::kFraction;
      return;
    case dom::element_type::UINT64:
      member.text = "an integer of more than 63 bits";
      return;
    case dom::element_type::NULL_VALUE:
      member.text = "null";
      return;
    case dom::element_type::ARRAY:
      member.text = "a list";
      return;
    case dom::element_type::OBJECT:
      member.text = "an object";
      return;
  }
}

/// The key unchanged if it is a plain name, else in quotes.
std::string shown_key(std::string_view key) {
  const bool is_name = std::ranges::all_of(key, [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
  return is_name && !key.empty() ? std::string(key) : in_quotes(key);
}

/// The first unreadable number of an object, with its key, for a message: the parser does not say which number failed.
std::optional<std::string> name_bad_number(std::string_view line) {
  namespace ondemand = simdjson::ondemand;
  ondemand::parser parser;
  const simdjson::padded_string padded(line);
  ondemand::document document;
  ondemand::object object;
  if (parser.iterate(padded).get(document) || document.get_object().get(object)) return std::nullopt;
  for (auto field : object) {
    std::string_view key;
    ondemand::value value;
    ondemand::json_type type{};
    if (field.unescaped_key().get(key) || field.value().get(value) || value.type().get(type)) return std::nullopt;
    if (type != ondemand::json_type::number) continue;
    ondemand::number number;
    if (!value.get_number().get(number)) continue;
    std::string_view token = value.raw_json_token();
    token = token.substr(0, token.find_last_not_of(" \t\r\n") + 1);
    return fmt::format("{}: wanted a JSON number of at most 64 bits, found {}", shown_key(key), in_quotes(token));
  }
  return std::nullopt;
}

/// The error for a line that the parser refused.
tl::unexpected<Error> refuse_line(std::string_view line, simdjson::error_code error) {
  if (const auto number = name_bad_number(line)) return fail(ErrorCode::kMalformed, *number);
  return fail(ErrorCode::kMalformed,
              fmt::format("wanted a JSON object, found {} ({})", in_quotes(line), simdjson::error_message(error)));
}

}  // namespace

struct FlatObjectReader::State {
  dom::parser parser;
  std::string padded;  ///< the line and the padding after it that the library may read
  std::vector<FlatMember> members;
};

FlatObjectReader::FlatObjectReader() : state_(std::make_unique<State>()) {
  ENSURE(state_->parser.allocate(kLineBytesMax, kDepthMax) == simdjson::SUCCESS);
  state_->members.reserve(16);
}
FlatObjectReader::FlatObjectReader(FlatObjectReader&&) noexcept = default;
FlatObjectReader& FlatObjectReader::operator=(FlatObjectReader&&) noexcept = default;
FlatObjectReader::~FlatObjectReader() = default;

Result<std::span<const FlatMember>> FlatObjectReader::read(std::string_view line) {
  if (line.size() > kLineBytesMax) {
    return invalid(fmt::format("wanted at most {} bytes, found {}", kLineBytesMax, line.size()));
  }
  std::string& padded = state_->padded;
  if (padded.size() < line.size() + simdjson::SIMDJSON_PADDING) padded.resize(line.size() + simdjson::SIMDJSON_PADDING);
  std::memcpy(padded.data(), line.data(), line.size());
  dom::element root;
  if (const auto error = state_->parser.parse(padded.data(), line.size(), false).get(root))
    return refuse_line(line, error);
  dom::object object;
  if (root.get(object)) return invalid(fmt::format("wanted a JSON object, found {}", in_quotes(line)));
  state_->members.clear();
  for (const dom::key_value_pair field : object) fill(state_->members.emplace_back(), field);
  return std::span<const FlatMember>(state_->members);
}

}  // namespace berth::json
