#include "edges/otlp/delivery.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/core/text.h"
#include "domain/tracing/otlp_json.h"

namespace berth::edges {
namespace {

constexpr std::int64_t kRetryAfterSecondsMax = 3600;

bool is_for_later(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

/// Only in seconds: a date would need the clocks of both sides to agree.
std::optional<Micros> retry_after_of(const HttpReply& reply) {
  const auto text = find_header(reply.headers, "Retry-After");
  const auto seconds = text ? parse_count(*text, kRetryAfterSecondsMax) : invalid("");
  return seconds ? std::optional(Micros::seconds(*seconds)) : std::nullopt;
}

Delivery judge_taken(const HttpReply& reply, std::int64_t count, std::string_view rejected_name) {
  const auto partial = partial_success_of(reply.body, rejected_name);
  if (!partial) return {};
  Delivery delivery{.refused = std::min(count, partial->rejected)};
  delivery.trouble =
      fmt::format("the collector refused {} of {} items: {}", delivery.refused, count, in_quotes(partial->message));
  return delivery;
}

}  // namespace

Delivery judge(const Result<HttpReply>& reply, std::int64_t count, std::string_view rejected_name) {
  Delivery delivery;
  if (!reply) {
    delivery.may_repeat = reply.error().code != ErrorCode::kInvalidInput;
    delivery.trouble = reply.error().message;
  } else if (reply->status >= 200 && reply->status < 300) {
    return judge_taken(*reply, count, rejected_name);
  } else {
    delivery.may_repeat = is_for_later(reply->status);
    if (delivery.may_repeat) delivery.retry_after = retry_after_of(*reply);
    delivery.trouble = fmt::format("the collector answered with status {}", reply->status);
  }
  if (!delivery.may_repeat) delivery.refused = count;
  return delivery;
}

Micros pause_after(int try_count, Rng& rng) {
  constexpr int kDoublingsMax = 5;
  const std::int64_t full = std::min(Micros::seconds(std::int64_t{1} << std::min(try_count - 1, kDoublingsMax)).count(),
                                     Micros::seconds(30).count());
  return Micros(full / 2 + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(full / 2))));
}

}  // namespace berth::edges
