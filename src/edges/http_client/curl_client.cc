#include "edges/http_client/curl_client.h"

#include <curl/curl.h>

#include "base/ensure.h"
#include "edges/http_client/detail/transfer.h"

namespace berth::edges {

// libcurl counts these calls, so several objects may exist.
CurlClient::CurlClient() { curl_global_init(CURL_GLOBAL_DEFAULT); }

CurlClient::~CurlClient() { curl_global_cleanup(); }

Result<HttpReply> CurlClient::send(const HttpCall& call) const { return detail::Transfer(call, nullptr).run(); }

Result<HttpReply> CurlClient::read_lines(const HttpCall& call, const HttpLineReading& reading) const {
  ENSURE(reading.take);
  return detail::Transfer(call, &reading).run();
}

}  // namespace berth::edges
