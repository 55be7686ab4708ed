// Any bytes give the members that another library finds, or an error; where only one of the two accepts a line, one of
// the reasons below applies.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

#include "base/core/ensure.h"
#include "base/core/text.h"
#include "base/json_lines/flat_object.h"

namespace {

using namespace berth;
using Json = nlohmann::json;

void check_member(const json::FlatMember& member, const Json& expected) {
  switch (member.kind) {
    case json::FlatKind::kText:
      ENSURE(expected.is_string() && expected.get<std::string>() == member.text);
      break;
    case json::FlatKind::kInteger:
      ENSURE(expected.is_number_integer() && expected.get<std::int64_t>() == member.number);
      ENSURE(!expected.is_number_unsigned() || expected.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
      break;
    case json::FlatKind::kTruth:
      ENSURE(expected.is_boolean() && expected.get<bool>() == (member.number == 1));
      break;
    case json::FlatKind::kFraction:
      ENSURE(expected.is_number_float());
      break;
    case json::FlatKind::kOther:
      ENSURE(expected.is_null() || expected.is_structured() ||
             (expected.is_number_unsigned() && expected.get<std::uint64_t>() > std::uint64_t{INT64_MAX}));
      break;
  }
}

/// The other library keeps the last of repeated keys.
void check_members(std::span<const json::FlatMember> members, const Json& expected) {
  ENSURE(expected.is_object());
  std::set<std::string_view> seen;
  for (std::size_t i = members.size(); i-- > 0;) {
    if (seen.insert(members[i].key).second) check_member(members[i], expected.at(std::string(members[i].key)));
  }
  ENSURE(seen.size() == expected.size());
}

/// Finds what the other library accepts and ours does not.
class Reasons : public nlohmann::json_sax<Json> {
 public:
  bool has_reason = false;

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(std::int64_t /*value*/) override { return true; }
  bool number_unsigned(std::uint64_t /*value*/) override { return true; }
  /// It reads an integer beyond 64 bits as a float.
  bool number_float(double /*value*/, const std::string& text) override {
    if (text.find_first_of(".eE") == std::string::npos) has_reason = true;
    return true;
  }
  bool string(std::string& /*value*/) override { return true; }
  bool binary(Json::binary_t& /*value*/) override { return true; }
  bool key(std::string& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return deepen(); }
  bool start_array(std::size_t /*size*/) override { return deepen(); }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/, const Json::exception& /*error*/) override {
    return false;
  }

 private:
  bool deepen() {
    if (++depth_ >= 64) has_reason = true;
    return true;
  }

  int depth_ = 0;
};

bool may_be_refused(std::string_view line, const Json& expected) {
  if (!expected.is_object() || line.size() > json::FlatObjectReader::kLineBytesMax) return true;
  // It skips a byte-order mark and treats NUL as the end.
  if (line.starts_with("\xEF\xBB\xBF") || line.find('\0') != std::string_view::npos) return true;
  Reasons reasons;
  ENSURE(Json::sax_parse(line, &reasons));
  return reasons.has_reason;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static json::FlatObjectReader reader;  // keeps the buffers of earlier lines
  const std::string_view line(reinterpret_cast<const char*>(bytes), size);
  const Json expected = Json::parse(line, nullptr, false);
  const auto members = reader.read(line);
  if (members) {
    ENSURE(!expected.is_discarded());
    check_members(*members, expected);
  } else {
    ENSURE(members.error().message.find("wanted ") != std::string::npos);
    ENSURE(find_bad_utf8(members.error().message) == std::string_view::npos);
    ENSURE(expected.is_discarded() || may_be_refused(line, expected));
  }
  return 0;
}
