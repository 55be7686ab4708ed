#include "edges/gateway_server/detail/passed_call.h"

#include <algorithm>
#include <utility>

#include "base/core/text.h"
#include "edges/gateway_server/detail/own_answers.h"
#include "edges/replica_peer/replica_peer.h"

namespace berth::edges::detail {
namespace {

/// The gateway has deadlines of its own; streams may be silent for long.
constexpr Micros kCallTimeout = Micros::seconds(86'400);

std::string content_type_of(const HttpReplyHead& head) {
  std::string type(find_header(head.headers, "Content-Type").value_or(""));
  // The server refuses an answer whose header it cannot send.
  const bool is_sendable = std::ranges::all_of(type, [](unsigned char byte) { return byte >= ' ' && byte != 0x7f; });
  return is_sendable ? type : std::string();
}

std::optional<std::uint64_t> length_of(const HttpReplyHead& head) {
  if (head.status == 204 || head.status == 304) return 0;  // they have no body
  if (find_header(head.headers, "Transfer-Encoding")) return std::nullopt;
  const auto text = find_header(head.headers, "Content-Length");
  if (!text) return std::nullopt;
  const auto bytes = parse_count(*text, INT64_MAX);
  return bytes ? std::optional(static_cast<std::uint64_t>(*bytes)) : std::nullopt;
}

bool is_refusal(int status) { return status == 429 || status == 502 || status == 503; }

}  // namespace

HttpCall call_to(const PassedRequest& passed, const std::shared_ptr<const Endpoint>& replica) {
  return {.method = passed.method,
          .url = replica->url + passed.rest,
          .headers = serving::headers_to_replica(passed.headers, *replica),
          .body = {},
          .timeout = kCallTimeout,
          .shared_body = passed.body,
          .peer = peer_of(replica)};
}

void PassedCall::on_start(HttpCallNumber number) {
  number_ = number;
  server_.note_start(*passed_, number);
}

void PassedCall::on_head(HttpReplyHead head) {
  head_ = std::move(head);
  answered_by_ = serving::answered_by(head_.headers, *replica_);
  length_ = length_of(head_);
  if (answered_by_ != serving::AnsweredBy::kReplica || !server_.begin_answer(*passed_, length_.has_value())) {
    return discard();
  }
  state_ = State::kHead;
  if (!length_ && !passed_->is_head) begin({});
}

void PassedCall::discard() {
  state_ = State::kDiscarded;
  server_.client().cancel(number_);
}

HttpReading PassedCall::on_bytes(std::string_view bytes) {
  if (state_ == State::kHead && body_.empty() && length_ == bytes.size()) {
    body_ = bytes;
    return HttpReading::kGoesOn;
  }
  if (state_ == State::kHead) {
    begin(bytes);
    return HttpReading::kGoesOn;
  }
  if (state_ != State::kBody) return HttpReading::kGoesOn;
  return writer_->write(bytes) == HttpBodyFlow::kFull ? HttpReading::kPaused : HttpReading::kGoesOn;
}

void PassedCall::begin(std::string_view first) {
  state_ = State::kBody;
  HttpBodyHead head{.status = head_.status,
                    .content_type = content_type_of(head_),
                    .headers = serving::headers_from_replica(head_.headers),
                    .bytes = length_,
                    .first = std::string(first)};
  writer_ =
      passed_->reply->begin(std::move(head), [&client = server_.client(), number = number_] { client.resume(number); });
}

serving::GatewayEnd PassedCall::end_of(const Result<void>& outcome) const {
  switch (answered_by_) {
    case serving::AnsweredBy::kNotExecuted:
      return serving::GatewayEnd::kNotSent;
    case serving::AnsweredBy::kAnother:
      return serving::GatewayEnd::kWrongReplica;
    case serving::AnsweredBy::kReplica:
      break;
  }
  if (outcome) return is_refusal(head_.status) ? serving::GatewayEnd::kRefused : serving::GatewayEnd::kAnswered;
  if (state_ != State::kWaiting) return serving::GatewayEnd::kBroken;
  return outcome.error().code == ErrorCode::kNoServer ? serving::GatewayEnd::kNotSent : serving::GatewayEnd::kNoAnswer;
}

void PassedCall::on_end(Result<void> outcome) {
  server_.end_call(*passed_, end_of(outcome));
  if (!outcome && state_ == State::kHead) {
    return passed_->reply->send(error_answer(502, "the replica's answer broke off before its body"));
  }
  if (!outcome) return;  // a writer that is destroyed before its end closes the connection
  if (state_ == State::kHead && passed_->is_head) begin({});
  if (state_ == State::kBody) return writer_->end();
  if (state_ != State::kHead) return;
  passed_->reply->send(
      {head_.status, content_type_of(head_), serving::headers_from_replica(head_.headers), std::move(body_)});
}

}  // namespace berth::edges::detail
