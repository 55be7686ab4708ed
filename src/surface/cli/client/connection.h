/// The address and key of the server that the client's verbs talk to.
#pragma once

#include <optional>
#include <string>

#include "base/core/instant.h"
#include "domain/ports/files.h"
#include "surface/cli/client/outcome.h"

namespace berth::cli {

/// As typed, or from the environment.
struct ServerWords {
  std::optional<std::string> server;  ///< BERTH_SERVER
  std::optional<std::string> data;    ///< BERTH_STATE
  std::string timeout = "10";
};

struct Connection {
  std::string url;       ///< "http://127.0.0.1:8642", without a slash at its end
  std::string key;       ///< empty: none
  std::string key_path;  ///< the file of the key, which may not exist
  Micros timeout = Micros::seconds(10);
};

/// The address is `server`, else the content of DIR/address; the key is that of DIR/admin.key. DIR is `data`, else the
/// default of `berth up`. Errors: kBadInput (a malformed address or timeout), kNoServer (no address).
[[nodiscard]] ClientResult<Connection> find_connection(const ServerWords& words, const Files& files);

}  // namespace berth::cli
