/// The API of a running engine: routes a request to its handler. Independent of any HTTP library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/core/clock_text.h"
#include "base/locks/fair_mutex.h"
#include "domain/ports/http_server.h"
#include "live/session/write.h"
#include "surface/api/api_context.h"
#include "surface/api/one_time_login.h"
#include "surface/api/request_meter.h"
#include "surface/api/request_watch.h"
#include "surface/api/router.h"
#include "surface/api/watched_request.h"

namespace berth::live {
class Session;
}

namespace berth::api {

/// What a login without the key needs (one_time_login.h). With an empty token there is no such login.
struct LoginSecrets {
  std::string token;
  std::string key;
  std::function<Micros()> token_age = {};  ///< any thread may call it
};

struct ApiOptions {
  std::string key;               ///< the text of admin.key, not empty
  std::string gateway_key = {};  ///< that of gateway.key; empty: the routes of the gateway take none
  /// Of whoever may write what the cluster owns (cluster_owned.h), in its name; empty: nobody.
  std::string cluster_key = {};
  GatewaySource gateway = {};
  WorldEpoch epoch;
  std::string page;  ///< the HTML of "/"
  std::function<DriverStatus()> driver_status;
  /// Takes writes, carries them out in groups and stores the outcomes of their keys. If empty, each write is carried
  /// out at once and keys have no effect.
  std::function<void(live::Write)> submit = {};
  UsageStore usage = {};
  BlobStore blobs = {};
  SeriesSource series = {};
  live::DeviceSource devices = {};
  LoginSecrets login = {};
  std::function<std::vector<MetricFamily>()> metrics = {};
  /// Of requests that are counted on their own (RequestMeter).
  std::size_t metered_max = 100;
  RequestWatch watch = {};
};

class Api final : public HttpHandler {
 public:
  /// `session` and `lock` are borrowed: the lock is held while the session is read or changed, not while answers are
  /// formatted. The session's driver must hold it, too.
  Api(live::Session& session, edges::FairMutex& lock, ApiOptions options);

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] std::optional<std::size_t> body_bytes_max(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

  /// How long requests took. Any thread may call it.
  [[nodiscard]] std::vector<MetricSample> request_times() const { return meter_.samples(); }

 private:
  /// Leaves `watched` to the answer if that is given later.
  [[nodiscard]] HttpAnswer answer_routed(const HttpRequest& request, const ApiResult<Routed>& routed,
                                         WatchedRequest& watched);
  [[nodiscard]] std::string next_request_id();
  [[nodiscard]] bool has_key(const HttpRequest& request) const;
  [[nodiscard]] bool has_gateway_key(const HttpRequest& request) const;
  [[nodiscard]] bool has_cluster_key(const HttpRequest& request) const;
  [[nodiscard]] ApiResult<HttpAnswer> answer_later(const HttpRequest& request, const Routed& routed,
                                                   WatchedRequest& watched);

  const RequestWatch watch_;
  std::string key_;
  std::string gateway_key_;
  std::string cluster_key_;
  OneTimeLogin login_;
  RequestMeter meter_;
  ApiContext context_;
  Router router_;
  std::function<void(live::Write)> submit_;
  std::atomic<std::uint64_t> request_count_ = 0;
};

/// All routes: the tables of the files X_routes.cc in sequence.
[[nodiscard]] std::vector<Route> api_routes();

}  // namespace berth::api
