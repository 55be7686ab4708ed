/// The API of a running engine: routes, key, errors, event streams. It knows no library of HTTP.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "live/session.h"
#include "ports/http_server.h"
#include "surface/api/api_error.h"
#include "surface/api/clock_text.h"
#include "surface/api/objects.h"
#include "surface/api/router.h"

namespace berth::api {

/// How the driver runs the session, for /v1/status.
struct DriverStatus {
  double speed = 1;  ///< 0: as fast as possible
  std::uint64_t step_count = 0;
  double step_ms_p50 = 0;
  double step_ms_p99 = 0;
  double step_ms_max = 0;
  bool is_solving = false;
  double last_solve_ms = 0;  ///< 0: none yet
};

struct ApiOptions {
  std::string key;  ///< the text of admin.key, not empty
  WorldEpoch epoch;
  std::string page;  ///< the HTML of "/"
  std::function<DriverStatus()> driver_status;
};

class Api final : public HttpHandler {
 public:
  /// `session` and `lock` are borrowed: the lock is held while the session is read or changed. Whoever drives the
  /// session holds it, too.
  Api(live::Session& session, std::mutex& lock, ApiOptions options);

  [[nodiscard]] HttpAnswer answer(const HttpRequest& request) override;
  [[nodiscard]] HttpResponse render(const HttpRefusal& refusal) override;

 private:
  [[nodiscard]] std::vector<Route> routes();
  [[nodiscard]] std::string next_request_id();
  [[nodiscard]] bool has_key(const HttpRequest& request) const;
  [[nodiscard]] ObjectSource source() const { return {.session = session_, .epoch = options_.epoch}; }

  [[nodiscard]] ApiResult<HttpAnswer> list_services(const Call& call, std::string_view tenant);
  [[nodiscard]] ApiResult<HttpAnswer> get_service(const Call& call);
  [[nodiscard]] ApiResult<HttpAnswer> list_slices(const Call& call);
  [[nodiscard]] ApiResult<HttpAnswer> list_plans(const Call& call);
  [[nodiscard]] ApiResult<HttpAnswer> get_gpu(const Call& call);
  [[nodiscard]] ApiResult<HttpAnswer> schedule_gpu(const Call& call, GpuScheduling scheduling);
  [[nodiscard]] ApiResult<HttpAnswer> get_node(const Call& call);
  [[nodiscard]] ApiResult<HttpAnswer> schedule_node(const Call& call, GpuScheduling scheduling);
  [[nodiscard]] ApiResult<HttpAnswer> stream_events(const Call& call);
  [[nodiscard]] ApiResult<HttpAnswer> get_status();
  [[nodiscard]] std::string status_json();
  [[nodiscard]] ApiResult<HttpAnswer> get_overview(const Call& call);

  live::Session& session_;
  std::mutex& lock_;
  ApiOptions options_;
  Router router_;
  std::atomic<std::uint64_t> request_count_ = 0;
};

}  // namespace berth::api
