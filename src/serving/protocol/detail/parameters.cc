#include "serving/protocol/detail/parameters.h"

#include <fmt/format.h>

#include "base/core/ensure.h"
#include "base/core/text.h"

namespace berth::serving::protocol::detail {
namespace {

std::string shown_parameter(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::kNull:
      return "null";
    case ParameterKind::kTruth:
      return parameter.truth ? "true" : "false";
    case ParameterKind::kNumber:
      return in_quotes(parameter.number.text);
    case ParameterKind::kText:
      return in_quotes(parameter.text);
  }
  ENSURE(false);
  return "";
}

}  // namespace

bool read_parameter(JsonReader& reader, Parameter& parameter) {
  switch (reader.peek()) {
    case 'n':
      parameter.kind = ParameterKind::kNull;
      return reader.take_null() || reader.fail("null");
    case 't':
    case 'f':
      parameter.kind = ParameterKind::kTruth;
      return reader.truth(parameter.truth);
    case '"':
      parameter.kind = ParameterKind::kText;
      return reader.text(parameter.text);
    case '[':
    case '{':
      return reader.fail("a parameter that is a text, a number, true or false");
    default:
      parameter.kind = ParameterKind::kNumber;
      return reader.number(parameter.number);
  }
}

bool is_nothing(const Parameter& parameter) {
  switch (parameter.kind) {
    case ParameterKind::kNull:
      return true;
    case ParameterKind::kTruth:
      return !parameter.truth;
    case ParameterKind::kNumber:
      return parameter.number.digits == 0;
    case ParameterKind::kText:
      return parameter.text.empty();
  }
  ENSURE(false);
  return false;
}

bool fail_parameter(JsonReader& reader, std::string_view name, std::string_view wanted, const Parameter& found) {
  return reader.refuse(ServeFault::kMalformed, fmt::format("parameter {}: wanted {}, found {}", in_quotes(name), wanted,
                                                           shown_parameter(found)));
}

bool take_truth(JsonReader& reader, std::string_view name, const Parameter& parameter, bool& truth) {
  if (parameter.kind == ParameterKind::kNull) return true;
  if (parameter.kind != ParameterKind::kTruth) return fail_parameter(reader, name, "true or false", parameter);
  truth = parameter.truth;
  return true;
}

}  // namespace berth::serving::protocol::detail
