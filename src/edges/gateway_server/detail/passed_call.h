/// One call to a replica, for a request that is passed on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "domain/ports/http_stream_client.h"
#include "domain/values/endpoints.h"
#include "edges/gateway_server/detail/passed_request.h"
#include "edges/gateway_server/gateway_server.h"
#include "serving/gateway/passing_headers.h"

namespace berth::edges::detail {

/// The call of a request to that replica.
[[nodiscard]] HttpCall call_to(const PassedRequest& passed, const std::shared_ptr<const Endpoint>& replica);

class PassedCall final : public HttpReplyReader {
 public:
  PassedCall(GatewayServer& server, std::shared_ptr<PassedRequest> passed, std::shared_ptr<const Endpoint> replica)
      : server_(server), passed_(std::move(passed)), replica_(std::move(replica)) {}

  void on_start(HttpCallNumber number) override;
  void on_head(HttpReplyHead head) override;
  [[nodiscard]] HttpReading on_bytes(std::string_view bytes) override;
  void on_end(Result<void> outcome) override;

 private:
  enum class State {
    kWaiting,    ///< for the head
    kHead,       ///< it is there, and nothing has been sent to the client
    kBody,       ///< the answer is being sent
    kDiscarded,  ///< nothing of it is sent to the client
  };

  void discard();
  void begin(std::string_view first);
  [[nodiscard]] serving::GatewayEnd end_of(const Result<void>& outcome) const;

  GatewayServer& server_;
  const std::shared_ptr<PassedRequest> passed_;
  const std::shared_ptr<const Endpoint> replica_;
  HttpCallNumber number_ = 0;
  State state_ = State::kWaiting;
  serving::AnsweredBy answered_by_ = serving::AnsweredBy::kReplica;
  HttpReplyHead head_;
  std::optional<std::uint64_t> length_;  ///< of the body, if the answer says it
  std::string body_;                     ///< the whole one, if it came at once
  std::unique_ptr<HttpBodyWriter> writer_;
};

}  // namespace berth::edges::detail
