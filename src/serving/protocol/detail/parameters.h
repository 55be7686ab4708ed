/// Parameters of requests and tensors: texts, numbers and truths by name.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "serving/protocol/detail/json_number.h"
#include "serving/protocol/detail/json_reader.h"

namespace berth::serving::protocol::detail {

enum class ParameterKind : std::uint8_t { kNull, kTruth, kNumber, kText };

struct Parameter {
  ParameterKind kind = ParameterKind::kNull;
  bool truth = false;
  JsonNumber number = {};
  std::string text = {};
};

/// One value. Lists and objects are refused.
[[nodiscard]] bool read_parameter(JsonReader& reader, Parameter& parameter);

/// Reads an object of parameters, or null; `on_parameter(name, value)` returns whether to go on.
template <std::predicate<const std::string&, const Parameter&> OnParameter>
[[nodiscard]] bool read_parameters(JsonReader& reader, const OnParameter& on_parameter) {
  if (reader.take_null()) return true;
  return reader.object([&](const std::string& name) {
    Parameter parameter;
    return read_parameter(reader, parameter) && on_parameter(name, parameter);
  });
}

/// Whether it says the same as none: null, false, 0 or an empty text.
[[nodiscard]] bool is_nothing(const Parameter& parameter);

/// Adds the failure that a parameter is not what was wanted. Returns false.
bool fail_parameter(JsonReader& reader, std::string_view name, std::string_view wanted, const Parameter& found);

/// Reads true or false; null leaves `truth` as it is.
[[nodiscard]] bool take_truth(JsonReader& reader, std::string_view name, const Parameter& parameter, bool& truth);

/// A whole number from 0 to `max`; null is 0.
template <std::integral Integer>
[[nodiscard]] bool take_whole(JsonReader& reader, std::string_view name, const Parameter& parameter, Integer max,
                              Integer& whole) {
  whole = 0;
  if (parameter.kind == ParameterKind::kNull) return true;
  const auto number =
      parameter.kind == ParameterKind::kNumber ? integer_of<Integer>(parameter.number) : std::optional<Integer>();
  if (!number || *number < 0 || *number > max) {
    return fail_parameter(reader, name, "a whole number from 0 to " + std::to_string(max), parameter);
  }
  whole = *number;
  return true;
}

}  // namespace berth::serving::protocol::detail
