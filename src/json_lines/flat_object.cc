#include "json_lines/flat_object.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/ensure.h"
#include "base/text.h"

namespace berth::json {
namespace {

namespace dom = simdjson::dom;

/// Deeper values are refused by the library; whoever reads flat objects refuses the first level of them.
constexpr std::size_t kDepthMax = 64;

/// In its place in the list: a member that is built elsewhere and copied is a stall each time.
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
    case dom::element_type::NULL_VALUE:
    case dom::element_type::ARRAY:
    case dom::element_type::OBJECT:
      member.kind = FlatKind::kOther;
      return;
  }
}

}  // namespace

struct FlatObjectReader::State {
  dom::parser parser;
  std::string padded;  ///< the line, with the bytes behind it that the library may read
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
  if (const auto error = state_->parser.parse(padded.data(), line.size(), false).get(root)) {
    return fail(ErrorCode::kMalformed,
                fmt::format("wanted a JSON object, found {} ({})", in_quotes(line), simdjson::error_message(error)));
  }
  dom::object object;
  if (root.get(object)) return invalid(fmt::format("wanted a JSON object, found {}", in_quotes(line)));
  state_->members.clear();
  for (const dom::key_value_pair field : object) fill(state_->members.emplace_back(), field);
  return std::span<const FlatMember>(state_->members);
}

}  // namespace berth::json
