#include "serving/protocol/repository_request.h"

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <string>

#include "base/core/text.h"
#include "serving/protocol/detail/json_reader.h"
#include "serving/protocol/detail/parameters.h"

namespace berth::serving::protocol {
namespace {

using detail::JsonReader;
using detail::Parameter;

constexpr std::string_view kBodySource = "the body";

bool is_blank_body(std::string_view body) { return body.find_first_not_of(" \t\r\n") == std::string_view::npos; }

/// The members of the object `parameters`, if there is one.
template <std::predicate<JsonReader&, const std::string&, const Parameter&> OnParameter>
ServeResult<void> read_body_parameters(std::string_view body, const OnParameter& on_parameter) {
  if (is_blank_body(body)) return {};
  JsonReader reader(body, kBodySource);
  const bool is_read = reader.object([&](const std::string& key) {
    if (key != "parameters") return reader.skip();
    return detail::read_parameters(
        reader, [&](const std::string& name, const Parameter& value) { return on_parameter(reader, name, value); });
  });
  if (!is_read || !reader.end()) return tl::unexpected(reader.failure());
  return {};
}

bool refuse_parameter(JsonReader& reader, std::string_view name, std::string_view wanted) {
  return reader.refuse(ServeFault::kMalformed, fmt::format("parameters: wanted {}, found {}", wanted, in_quotes(name)));
}

}  // namespace

ServeResult<bool> read_index_request(std::string_view body) {
  bool is_ready_only = false;
  if (is_blank_body(body)) return is_ready_only;
  JsonReader reader(body, kBodySource);
  const bool is_read = reader.object([&](const std::string& key) {
    if (key != "ready") return reader.skip();
    return reader.take_null() || reader.truth(is_ready_only);
  });
  if (!is_read || !reader.end()) return tl::unexpected(reader.failure());
  return is_ready_only;
}

ServeResult<Micros> read_load_request(std::string_view body) {
  std::int64_t lease_seconds = 0;
  const auto read =
      read_body_parameters(body, [&](JsonReader& reader, const std::string& name, const Parameter& value) {
        if (name == "lease_seconds") {
          return detail::take_whole(reader, name, value, kLeaseMax.count() / kMicrosPerSecond, lease_seconds);
        }
        if (name == "config" || name.starts_with("file:")) {
          return reader.refuse(
              ServeFault::kNotOffered,
              fmt::format("parameter {}: models are loaded as they are in the repository; this server does "
                          "not offer overrides",
                          in_quotes(name)));
        }
        return refuse_parameter(reader, name, "lease_seconds");
      });
  if (!read) return tl::unexpected(read.error());
  return Micros::seconds(lease_seconds);
}

ServeResult<void> read_unload_request(std::string_view body) {
  return read_body_parameters(body, [](JsonReader& reader, const std::string& name, const Parameter& value) {
    bool ignored = false;
    if (name == "unload_dependents") return detail::take_truth(reader, name, value, ignored);
    return refuse_parameter(reader, name, "unload_dependents");
  });
}

}  // namespace berth::serving::protocol
