#include "surface/api/gateway_routes.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "serving/gateway_wire/gateway_wire.h"
#include "surface/api/api_context.h"
#include "surface/api/paging.h"

namespace berth::api {
namespace {

ApiResult<void> check_gateway(const ApiContext& context) {
  if (context.gateway.follow) return {};
  return tl::unexpected(ApiError{.status = 404,
                                 .code = "no_programs",
                                 .message = "wanted a world that runs programs on slices (--world local with "
                                            "--manage-gpus), found another one"});
}

/// Lines of JSON, each a whole table; an empty line while nothing changes.
ApiResult<HttpAnswer> get_endpoints(const ApiContext& context, const Call& /*call*/) {
  if (auto checked = check_gateway(context); !checked) return tl::unexpected(checked.error());
  return HttpLater{.start = [&context](std::unique_ptr<HttpLateReply> reply) {
    const std::shared_ptr<HttpBodyWriter> writer = reply->begin(
        {.status = 200, .content_type = "application/x-ndjson", .headers = {{"Cache-Control", "no-store"}}}, [] {});
    if (!writer) return;
    // A client that does not read is cut off: the next connection begins with the latest table.
    context.gateway.follow([writer](std::string_view line) { return writer->write(line) == HttpBodyFlow::kGoesOn; });
  }};
}

ApiResult<HttpAnswer> post_records(const ApiContext& context, const Call& call) {
  if (auto checked = check_gateway(context); !checked) return tl::unexpected(checked.error());
  auto report = serving::read_request_report(call.request.body, "body");
  if (!report) {
    return tl::unexpected(ApiError{.status = 422, .code = "invalid", .message = report.error().message});
  }
  const auto until = context.gateway.report(*std::move(report));
  if (!until) {
    return tl::unexpected(
        ApiError{.status = 503, .code = "too_many_reports", .message = "earlier reports are not counted yet"});
  }
  return json_response(200, serving::records_answer_json(*until));
}

}  // namespace

std::vector<Route> gateway_routes() {
  return {
      {.method = "GET", .path = "/v1/gateway/endpoints", .answer = get_endpoints, .is_for_gateway = true},
      {.method = "POST", .path = "/v1/gateway/records", .answer = post_records, .is_for_gateway = true},
  };
}

}  // namespace berth::api
