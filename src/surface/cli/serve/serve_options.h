/// The options of `berth serve`: as typed, and checked.
#pragma once

#include <optional>
#include <string>

#include "base/core/result.h"
#include "serving/config/serve_request.h"
#include "surface/cli/shared/option_row.h"

namespace berth::cli {

/// As typed.
struct ServeWords {
  bool demo = false;
  std::optional<std::string> repository = std::nullopt;
  std::string listen = "127.0.0.1:8000";
  std::string grpc = "127.0.0.1:8001";
  std::optional<std::string> memory = std::nullopt;
  std::string device = "cpu";
  std::optional<std::string> threads = std::nullopt;
  std::optional<std::string> engine = std::nullopt;
  std::optional<std::string> config = std::nullopt;
  std::optional<std::string> series = std::nullopt;
  std::optional<std::string> usage = std::nullopt;
  std::optional<std::string> cache = std::nullopt;
  std::string policy = "berth";
  std::string evict = "value";

  friend bool operator==(const ServeWords&, const ServeWords&) = default;
};

[[nodiscard]] OptionTable serve_option_rows(ServeWords& words);

/// Checked, as far as possible without the files.
[[nodiscard]] Result<serving::ServeRequest> check_serve_options(const ServeWords& words);

}  // namespace berth::cli
