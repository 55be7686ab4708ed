#include "edges/http_client/curl_connection.h"

#include <optional>
#include <utility>

#include "base/core/ensure.h"
#include "edges/http_client/detail/transfer.h"

namespace berth::edges {

struct CurlConnection::Kept {
  detail::MultiPointer multi = {nullptr, &curl_multi_cleanup};  ///< libcurl keeps connections in it
  std::optional<ServerAccess> access = std::nullopt;
};

CurlConnection::CurlConnection(ServerAccess access) : CurlConnection() { kept_->access = std::move(access); }

CurlConnection::CurlConnection() : kept_(std::make_unique<Kept>()) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  kept_->multi.reset(curl_multi_init());
}

CurlConnection::~CurlConnection() {
  kept_ = nullptr;
  curl_global_cleanup();
}

Result<HttpReply> CurlConnection::send(const HttpCall& call) const {
  return detail::Transfer(call, nullptr, kept_->multi.get(), kept_->access ? &*kept_->access : nullptr).run();
}

Result<HttpReply> CurlConnection::read_lines(const HttpCall& call, const HttpLineReading& reading) const {
  ENSURE(reading.take);
  return detail::Transfer(call, &reading, kept_->multi.get(), kept_->access ? &*kept_->access : nullptr).run();
}

}  // namespace berth::edges
