#include "edges/http_client/curl_stream_client.h"

#include <utility>

#include "edges/http_client/detail/stream_loop.h"

namespace berth::edges {

CurlStreamClient::CurlStreamClient(const StreamClientOptions& options)
    : loop_(std::make_unique<detail::StreamLoop>(options)) {}

CurlStreamClient::~CurlStreamClient() = default;

void CurlStreamClient::take_guest(StreamClientGuest guest) { loop_->take_guest(std::move(guest)); }

void CurlStreamClient::start(HttpCall call, std::unique_ptr<HttpReplyReader> reader) {
  loop_->start(std::move(call), std::move(reader));
}

void CurlStreamClient::resume(HttpCallNumber number) { loop_->resume(number); }

void CurlStreamClient::cancel(HttpCallNumber number) { loop_->cancel(number); }

}  // namespace berth::edges
