#include "domain/tracing/otel_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/core/text.h"

namespace berth {
namespace {

constexpr std::size_t kListMembersMax = 128;
constexpr const char* kEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";

using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The text without percent-encoding; nothing if it is malformed, or not UTF-8 without control bytes then.
std::optional<std::string> decode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  const auto is_control = [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; };
  if (std::ranges::any_of(decoded, is_control) || find_bad_utf8(decoded) != std::string_view::npos) return std::nullopt;
  return decoded;
}

/// The pairs of "name=value,name=value"; nothing if it is malformed.
std::optional<Pairs> pairs_of(std::string_view text) {
  Pairs pairs;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view member = trim(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos || pairs.size() == kListMembersMax) return std::nullopt;
    auto name = decode(trim(member.substr(0, equals)));
    auto value = decode(trim(member.substr(equals + 1)));
    if (!name || !value || name->empty()) return std::nullopt;
    pairs.emplace_back(std::move(*name), std::move(*value));
  }
  return pairs;
}

/// A token of RFC 9110.
bool is_header_name(std::string_view name) {
  constexpr std::string_view kOther = "!#$%&'*+-.^_`|~";
  return std::ranges::all_of(name, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOther.find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return c >= ' ' && c <= '~'; });
}

/// Whether the authority of a URL has a host, and a port that is a number if it has one.
bool is_authority(std::string_view authority) {
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) authority.remove_prefix(at + 1);
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = authority.substr(0, colon);
  if (host.empty() || host == "[]") return false;
  if (colon == std::string_view::npos) return true;
  const auto port = parse_count(authority.substr(colon + 1), UINT16_MAX);
  return port && *port > 0;
}

/// The endpoint without a slash at its end; nothing if it is no URL that a path can be added to.
std::optional<std::string> endpoint_of(std::string_view text) {
  const bool has_scheme = text.starts_with("http://") || text.starts_with("https://");
  const auto is_plain = [](char c) { return c > ' ' && c <= '~' && c != '?' && c != '#' && c != '"' && c != '\\'; };
  if (!has_scheme || !std::ranges::all_of(text, is_plain)) return std::nullopt;
  const std::string_view rest = text.substr(text.find("://") + 3);
  if (!is_authority(rest.substr(0, rest.find('/')))) return std::nullopt;
  while (text.ends_with('/')) text.remove_suffix(1);
  return std::string(text);
}

std::optional<double> share_of(std::string_view text) {
  double share = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (fault != std::errc() || end != text.data() + text.size() || !(share >= 0 && share <= 1)) return std::nullopt;
  return share;
}

/// Reads one variable after the other.
class Reader {
 public:
  Reader(const Environment& environment, std::string_view service_name)
      : environment_(environment), service_name_(service_name) {}

  Result<OtelReading> read() {
    const auto endpoint = value_of(kEndpoint);
    if (!endpoint || is_disabled()) return std::move(reading_);
    const auto url = endpoint_of(*endpoint);
    if (!url) {
      return invalid(fmt::format("{}: wanted a URL of http or https such as http://127.0.0.1:4318, found {}", kEndpoint,
                                 in_quotes(*endpoint)));
    }
    if (!is_protocol_ours()) return std::move(reading_);
    if (is_exported("OTEL_TRACES_EXPORTER", "otlp")) reading_.options.traces_url = *url + "/v1/traces";
    if (is_exported("OTEL_METRICS_EXPORTER", "none")) reading_.options.metrics_url = *url + "/v1/metrics";
    read_headers();
    read_resource();
    read_sampler();
    read_interval();
    return std::move(reading_);
  }

 private:
  /// Nothing: not set, or empty.
  std::optional<std::string> value_of(std::string_view name) {
    auto value = environment_(name);
    if (value && trim(*value).empty()) return std::nullopt;
    if (value) *value = trim(*value);
    return value;
  }

  void warn(std::string_view name, std::string_view what) {
    reading_.warnings.push_back(fmt::format("{}: {}", name, what));
  }

  bool is_disabled() { return value_of("OTEL_SDK_DISABLED") == "true"; }

  bool is_protocol_ours() {
    const auto protocol = value_of("OTEL_EXPORTER_OTLP_PROTOCOL");
    if (!protocol || *protocol == "http/json") return true;
    warn("OTEL_EXPORTER_OTLP_PROTOCOL",
         fmt::format("wanted http/json, found {}: nothing is sent to the collector", in_quotes(*protocol)));
    return false;
  }

  bool is_exported(const char* name, std::string_view usual) {
    const std::string exporter = value_of(name).value_or(std::string(usual));
    if (exporter == "otlp" || exporter == "none") return exporter == "otlp";
    warn(name, fmt::format("wanted otlp or none, found {}: it is {}", in_quotes(exporter), usual));
    return usual == "otlp";
  }

  void read_headers() {
    constexpr const char* kHeaders = "OTEL_EXPORTER_OTLP_HEADERS";
    const auto text = value_of(kHeaders);
    if (!text) return;
    const auto pairs = pairs_of(*text);
    const auto is_header = [](const auto& pair) { return is_header_name(pair.first) && is_header_value(pair.second); };
    if (!pairs || !std::ranges::all_of(*pairs, is_header)) {
      return warn(kHeaders, "wanted NAME=VALUE,NAME=VALUE, percent-encoded: no headers are added");
    }
    for (const auto& [name, value] : *pairs) reading_.options.headers.push_back({name, value});
  }

  void read_resource() {
    constexpr const char* kAttributes = "OTEL_RESOURCE_ATTRIBUTES";
    std::map<std::string, std::string> attributes;
    if (const auto text = value_of(kAttributes)) {
      if (const auto pairs = pairs_of(*text)) {
        for (const auto& [name, value] : *pairs) attributes.insert_or_assign(name, value);
      } else {
        warn(kAttributes,
             fmt::format("wanted NAME=VALUE,NAME=VALUE, percent-encoded, found {}: none are added", in_quotes(*text)));
      }
    }
    const auto name = value_of("OTEL_SERVICE_NAME");
    if (name && find_bad_utf8(*name) != std::string_view::npos) {
      warn("OTEL_SERVICE_NAME", "wanted UTF-8");
    } else if (name) {
      attributes["service.name"] = *name;
    }
    attributes.try_emplace("service.name", service_name_);
    reading_.options.resource.assign(attributes.begin(), attributes.end());
  }

  void read_sampler() {
    constexpr const char* kSampler = "OTEL_TRACES_SAMPLER";
    const std::string found = value_of(kSampler).value_or("parentbased_always_on");
    std::string_view rule = found;
    constexpr std::string_view kParent = "parentbased_";
    Sampler& sampler = reading_.options.sampler;
    sampler.follows_parent = rule.starts_with(kParent);
    if (sampler.follows_parent) rule.remove_prefix(kParent.size());
    if (rule == "always_off") {
      sampler.share = 0;
    } else if (rule == "traceidratio") {
      sampler.share = read_share();
    } else if (rule != "always_on") {
      sampler = {};
      warn(kSampler, fmt::format("wanted always_on, always_off or traceidratio, also behind parentbased_, found {}: it "
                                 "is parentbased_always_on",
                                 in_quotes(found)));
    }
  }

  double read_share() {
    constexpr const char* kArgument = "OTEL_TRACES_SAMPLER_ARG";
    const auto text = value_of(kArgument);
    if (!text) return 1;
    if (const auto share = share_of(*text)) return *share;
    warn(kArgument, fmt::format("wanted a number from 0 to 1, found {}: it is 1", in_quotes(*text)));
    return 1;
  }

  void read_interval() {
    constexpr const char* kInterval = "OTEL_METRIC_EXPORT_INTERVAL";
    constexpr std::int64_t kIntervalMaxMs = 86'400'000;
    const auto text = value_of(kInterval);
    if (!text) return;
    const auto ms = parse_count(*text, kIntervalMaxMs);
    if (!ms || *ms < kOtelIntervalMinMs) {
      return warn(kInterval, fmt::format("wanted milliseconds from {} to {}, found {}: it is {}", kOtelIntervalMinMs,
                                         kIntervalMaxMs, in_quotes(*text), reading_.options.metrics_interval_ms));
    }
    reading_.options.metrics_interval_ms = *ms;
  }

  const Environment& environment_;
  std::string_view service_name_;
  OtelReading reading_;
};

}  // namespace

Result<OtelReading> read_otel_options(const Environment& environment, std::string_view service_name) {
  return Reader(environment, service_name).read();
}

}  // namespace berth
