/// The configuration of a model server: who may use it, and where other models are served.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/result.h"

namespace berth::serving {

struct ConfiguredTenant {
  std::string name;
  std::optional<std::string> key_sha256 = std::nullopt;  ///< of its key, 64 lower-case hex digits
  std::int64_t weight = 1;                               ///< of its share of lane time, 1 to 1,000,000
};

/// Another server, for the models that it names.
struct ConfiguredBackend {
  std::string name;
  std::string url;  ///< http://HOST[:PORT][/PATH]
  std::vector<std::string> models;
  std::optional<std::string> key_file = std::nullopt;  ///< with the key for it
  std::int64_t in_flight_max = 64;
};

struct ServeConfig {
  std::vector<ConfiguredTenant> tenants = {};  ///< empty: all requests belong to one tenant, `default`
  std::vector<ConfiguredBackend> backends = {};
  std::int64_t run_seconds = 30;  ///< after which a run is terminated
};

/// YAML, docs/reference/serve.md. Errors, as FILE:LINE:COLUMN: unknown keys, repeated names, values out of range, a
/// model in two backends.
[[nodiscard]] Result<ServeConfig> read_serve_config(std::string_view text, std::string_view file);

}  // namespace berth::serving
