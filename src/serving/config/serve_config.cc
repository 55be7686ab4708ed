#include "serving/config/serve_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "base/yaml/reader.h"

namespace berth::serving {
namespace {

constexpr std::int64_t kWeightMax = 1'000'000;
constexpr std::int64_t kInFlightMax = 1'000'000;
constexpr std::int64_t kRunSecondsMax = 86'400;
constexpr std::size_t kNameBytesMax = 63;
constexpr std::size_t kModelIdBytesMax = 200;
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kDigestDigits = 64;

/// A name that no earlier item of the list has.
std::string read_new_name(const yaml::Value& value, std::set<std::string>& names, std::size_t length_max) {
  std::string name = value.name(length_max);
  if (!value.has_failed() && !names.insert(name).second) value.refuse("a name that is not used before", name);
  return name;
}

std::string read_digest(const yaml::Value& value) {
  std::string digest = value.text("64 hex digits");
  const bool is_hex = std::ranges::all_of(digest, [](unsigned char c) { return std::isxdigit(c) != 0; });
  if (!value.has_failed() && (digest.size() != kDigestDigits || !is_hex)) value.refuse("64 hex digits");
  std::ranges::transform(digest, digest.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return digest;
}

ConfiguredTenant read_tenant(const yaml::Value& value, std::set<std::string>& names) {
  value.check_keys({"name", "key_sha256", "weight"});
  ConfiguredTenant tenant{.name = read_new_name(value.at("name"), names, kNameBytesMax)};
  if (value.at("key_sha256").is_written()) tenant.key_sha256 = read_digest(value.at("key_sha256"));
  if (value.at("weight").is_written()) tenant.weight = value.at("weight").whole({1, kWeightMax});
  return tenant;
}

ConfiguredBackend read_backend(const yaml::Value& value, std::set<std::string>& names, std::set<std::string>& models) {
  value.check_keys({"name", "url", "models", "key_file", "in_flight_max"});
  ConfiguredBackend backend;
  backend.name = read_new_name(value.at("name"), names, kNameBytesMax);
  backend.url = value.at("url").name(kPathBytesMax);
  const bool is_http = backend.url.starts_with("http://") && backend.url.size() > std::string_view("http://").size();
  if (!value.has_failed() && !is_http) value.at("url").refuse("http://HOST:PORT");
  for (const yaml::Value& model : value.at("models").items("a list of the backend's models", false)) {
    backend.models.push_back(read_new_name(model, models, kModelIdBytesMax));
  }
  if (value.at("key_file").is_written()) backend.key_file = value.at("key_file").name(kPathBytesMax);
  if (value.at("in_flight_max").is_written()) {
    backend.in_flight_max = value.at("in_flight_max").whole({1, kInFlightMax});
  }
  return backend;
}

}  // namespace

Result<ServeConfig> read_serve_config(std::string_view text, std::string_view file) {
  const auto root = yaml::parse_document(text, file);
  if (!root) return pass_on(root.error());
  yaml::Report report{std::string(file)};
  const yaml::Value value(*root, report);
  value.check_keys({"tenants", "backends", "run_seconds"});
  ServeConfig config;
  std::set<std::string> tenants;
  std::set<std::string> backends;
  std::set<std::string> models;
  if (value.at("tenants").is_present()) {
    for (const yaml::Value& item : value.at("tenants").items("a list of tenants")) {
      config.tenants.push_back(read_tenant(item, tenants));
    }
  }
  if (value.at("backends").is_present()) {
    for (const yaml::Value& item : value.at("backends").items("a list of backends")) {
      config.backends.push_back(read_backend(item, backends, models));
    }
  }
  if (value.at("run_seconds").is_written()) config.run_seconds = value.at("run_seconds").whole({1, kRunSecondsMax});
  if (report.has_failed()) return pass_on(report.failure());
  return config;
}

}  // namespace berth::serving
