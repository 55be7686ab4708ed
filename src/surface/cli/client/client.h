/// Requests to the API of `berth up`, and the meaning of their errors.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/yaml/document.h"
#include "domain/ports/http_client.h"
#include "surface/cli/client/connection.h"
#include "surface/cli/client/outcome.h"

namespace berth::cli {

/// An answer with a status 2xx.
struct Reply {
  int status = 200;
  yaml::Node body;  ///< JSON; null if the answer is empty
};

/// The limits of one answer. It may be the largest object that a server sends: a service with the arrivals of 30 days
/// by second, or a plan with all recorded actions.
struct ReplyLimits {
  std::size_t bytes_max = std::size_t{256} << 20U;
  std::size_t values_max = 12'000'000;  ///< JSON values, keys not counted
};

class Client {
 public:
  Client(std::unique_ptr<HttpClient> http, Connection connection, const ReplyLimits& limits = {})
      : http_(std::move(http)), connection_(std::move(connection)), limits_(limits) {}

  [[nodiscard]] ClientResult<Reply> get(const std::string& path) const { return send("GET", path, ""); }
  /// Sends JSON; an empty `body`: none. Errors: that of the API by its status (401 and 403 not allowed, 404 and 410 not
  /// found, 409 and 412 conflict, 408 and 504 no answer in time, 429, 502 and 503 no server, other 4xx bad input), no
  /// server, no answer in time.
  [[nodiscard]] ClientResult<Reply> send(const std::string& method, const std::string& path,
                                         const std::string& body) const;
  /// Stores a blob, unless it exists.
  [[nodiscard]] ClientResult<void> put_blob(const std::string& sha256, const std::string& bytes) const;
  /// The items of all pages of a list. `path` may have a query.
  [[nodiscard]] ClientResult<std::vector<yaml::Node>> list(const std::string& path) const;

 private:
  /// `type`: the media type of the body, if there is one.
  [[nodiscard]] ClientResult<Reply> send_typed(const std::string& method, const std::string& path,
                                               const std::string& body, const std::string& type) const;
  [[nodiscard]] ClientError error_of(const HttpReply& reply) const;

  std::unique_ptr<HttpClient> http_;
  Connection connection_;
  ReplyLimits limits_;
};

/// Finds the server and makes a client for it. Errors: those of `find_connection`.
[[nodiscard]] ClientResult<Client> connect(const ServerWords& words, const VerbContext& context);

/// A path segment: everything except letters, digits and -._~ is escaped.
[[nodiscard]] std::string path_part(std::string_view text);

}  // namespace berth::cli
