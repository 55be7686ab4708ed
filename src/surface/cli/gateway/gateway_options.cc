#include "surface/cli/gateway/gateway_options.h"

#include <fmt/format.h>

#include <string_view>

#include "base/core/first_error.h"
#include "base/core/text.h"
#include "surface/cli/shared/loopback_address.h"

namespace berth::cli {
namespace {

constexpr std::string_view kWantedUp = "--up: wanted an address such as http://127.0.0.1:8642";

Result<std::string> parse_up_url(const std::optional<std::string>& text) {
  constexpr std::string_view kScheme = "http://";
  if (!text) return invalid(fmt::format("{}, found none", kWantedUp));
  std::string url = *text;
  while (url.ends_with('/')) url.pop_back();
  if (!url.starts_with(kScheme)) return invalid(fmt::format("{}, found {}", kWantedUp, in_quotes(*text)));
  const auto address = parse_loopback("--up", "127.0.0.1:8642", url.substr(kScheme.size()));
  if (!address) return pass_on(address.error());
  return url;
}

Result<std::string> required_path(std::string_view option, const std::optional<std::string>& path) {
  if (path && !path->empty()) return *path;
  return invalid(fmt::format("{}: wanted a path, found {}", option, path ? "an empty one" : "none"));
}

Result<std::optional<serving::GatewayRequest::Metrics>> parse_metrics(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto address = parse_loopback("--metrics", "127.0.0.1:9401", *text);
  if (!address) return pass_on(address.error());
  return serving::GatewayRequest::Metrics{.host = address->host, .port = address->port};
}

Result<std::int64_t> parse_seconds(std::string_view option, const std::string& text) {
  constexpr std::int64_t kSecondsMax = 86'400;
  const auto seconds = parse_count(text, kSecondsMax);
  if (seconds && *seconds >= 1) return *seconds;
  return invalid(
      fmt::format("{}: wanted a number of seconds from 1 to {}, found {}", option, kSecondsMax, in_quotes(text)));
}

}  // namespace

OptionTable gateway_option_rows(GatewayWords& words) {
  return {
      {"--listen", "HOST:PORT", "Where requests are taken; loopback only, port 0 is any free one", &words.listen},
      {"--up", "URL", "The address of berth up", &words.up},
      {"--key-file", "FILE", "The key of the gateway: gateway.key in the folder of berth up", &words.key_file},
      {"--state", "DIR", "A folder of the gateway's own: it keeps the last table there", &words.state},
      {"--metrics", "HOST:PORT", "Serve figures for Prometheus at /metrics there; loopback only", &words.metrics},
      {"--silence-seconds", "N", "Aborts an answer after so many seconds without a byte", &words.silence_seconds},
      {"--answer-seconds-max", "N", "How long an answer with a Content-Length may take, from first byte to last",
       &words.answer_seconds_max},
  };
}

Result<serving::GatewayRequest> check_gateway_options(const GatewayWords& words) {
  FirstError first;
  const LoopbackWords listen = first.take(parse_loopback("--listen", "127.0.0.1:8700", words.listen));
  serving::GatewayRequest request{
      .host = listen.host,
      .port = listen.port,
      .up_url = first.take(parse_up_url(words.up)),
      .key_file = first.take(required_path("--key-file", words.key_file)),
      .state = first.take(required_path("--state", words.state)),
      .metrics = first.take(parse_metrics(words.metrics)),
      .silence_seconds = first.take(parse_seconds("--silence-seconds", words.silence_seconds)),
      .whole_answer_seconds = first.take(parse_seconds("--answer-seconds-max", words.answer_seconds_max))};
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
