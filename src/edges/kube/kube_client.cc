#include "edges/kube/kube_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>
#include <utility>

#include "base/core/text.h"
#include "edges/http_client/curl_connection.h"
#include "kube/client/back_off.h"

namespace berth::edges {
namespace {

constexpr Micros kTokenAge = Micros::seconds(60);
constexpr auto kNap = std::chrono::milliseconds(50);  ///< how often a wait checks whether it is stopped
constexpr int kUnauthorized = 401;
constexpr int kTooMany = 429;
constexpr std::size_t kAnswerBytesMax = std::size_t{256} << 20U;
constexpr std::size_t kFrameBytesMax = std::size_t{8} << 20U;
constexpr std::int64_t kRetryAfterMax = 300;

bool is_read(const KubeCall& call) { return call.method == "GET"; }

/// "https://host:6443" split at the authority.
struct ServerParts {
  std::string scheme;
  std::string authority;
  std::string path;
};

ServerParts parts_of(const std::string& server) {
  const std::size_t begin = server.find("://") + 3;
  const std::size_t slash = std::min(server.find('/', begin), server.size());
  return {server.substr(0, begin), server.substr(begin, slash - begin), server.substr(slash)};
}

bool has_port(const std::string& authority) {
  const std::size_t colon = authority.rfind(':');
  return colon != std::string::npos && authority.find(']', colon) == std::string::npos;
}

std::string with_port(const ServerParts& parts) {
  if (has_port(parts.authority)) return parts.authority;
  return parts.authority + (parts.scheme == "https://" ? ":443" : ":80");
}

ServerAccess server_access(const kube::Access& access) {
  return {.authority_pem = access.authority_pem,
          .certificate_pem = access.certificate_pem,
          .key_pem = access.key_pem,
          .verifies_server = access.verifies_server,
          .connect_to = access.server_name.empty() ? std::string() : with_port(parts_of(access.server)),
          .proxy = access.proxy};
}

std::optional<Micros> retry_after(const HttpReply& reply) {
  const auto text = find_header(reply.headers, "Retry-After");
  if (!text) return std::nullopt;
  const auto seconds = parse_count(*text, kRetryAfterMax);
  return seconds ? std::optional(Micros::seconds(*seconds)) : std::nullopt;
}

/// Whether the outcome may be followed by the same request.
bool is_repeatable(const KubeCall& call, const Result<HttpReply>& outcome) {
  if (outcome) return outcome->status == kTooMany || (is_read(call) && outcome->status >= 500);
  const ErrorCode code = outcome.error().code;
  if (code == ErrorCode::kNoServer) return true;
  return is_read(call) && (code == ErrorCode::kTimedOut || code == ErrorCode::kUnavailable);
}

}  // namespace

Instant steady_now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

std::string wall_text() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  const std::time_t seconds = micros / kMicrosPerSecond;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, micros % kMicrosPerSecond);
}

KubeIdentity::KubeIdentity(kube::Access access, const Files& files)
    : access_(std::move(access)), files_(files), token_(access_.token) {}

std::string KubeIdentity::token(Instant now) {
  const std::lock_guard held(lock_);
  if (!access_.token_path.empty() && (!read_at_ || now - *read_at_ >= kTokenAge)) read(now);
  return token_;
}

bool KubeIdentity::renew(Instant now, const std::string& refused) {
  const std::lock_guard held(lock_);
  if (access_.token_path.empty()) return false;
  if (token_ == refused) read(now);
  return token_ != refused;
}

void KubeIdentity::read(Instant now) {
  read_at_ = now;
  auto text = files_.read(access_.token_path);
  if (!text) return;
  while (!text->empty() && is_blank(text->substr(text->size() - 1))) text->pop_back();
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (!text->empty()) token_ = *std::move(text);
}

Instant SharedPace::reserve(Instant now) {
  const std::lock_guard held(lock_);
  return pace_.reserve(now);
}

KubeClient::KubeClient(std::shared_ptr<KubeIdentity> identity, std::shared_ptr<SharedPace> pace,
                       KubeClientOptions options)
    : identity_(std::move(identity)), pace_(std::move(pace)), options_(std::move(options)), rng_(options_.seed) {
  const kube::Access& access = identity_->access();
  base_ = access.server;
  if (!access.server_name.empty()) {
    const ServerParts parts = parts_of(access.server);
    base_ = parts.scheme + access.server_name + parts.path;
    host_ = parts.authority;
  }
  http_ = std::make_unique<CurlConnection>(server_access(access));
}

KubeClient::~KubeClient() = default;

HttpCall KubeClient::http_call(const KubeCall& call, const std::string& token) const {
  HttpCall http{.method = call.method,
                .url = base_ + call.target,
                .headers = {{"Accept", "application/json"}, {"User-Agent", options_.user_agent}},
                .body = call.body,
                .timeout = std::min(call.timeout, options_.timeout_max.value_or(call.timeout)),
                .bytes_max = kAnswerBytesMax,
                .is_stopped = options_.is_stopped};
  if (!host_.empty()) http.headers.push_back({"Host", host_});
  if (!token.empty()) http.headers.push_back({"Authorization", "Bearer " + token});
  if (!call.content_type.empty()) http.headers.push_back({"Content-Type", call.content_type});
  return http;
}

Result<HttpReply> KubeClient::send_known(const KubeCall& call) {
  const auto is_refused = [&] { return !is_read(call) && options_.may_write && !options_.may_write(); };
  const auto refusal = [&] {
    return fail(ErrorCode::kInterrupted, fmt::format("{} {}: the lease is not held", call.method, call.target));
  };
  if (is_refused()) return refusal();
  const std::string token = identity_->token(steady_now());
  auto reply = http_->send(http_call(call, token));
  if (!reply || reply->status != kUnauthorized || !identity_->renew(steady_now(), token)) return reply;
  if (is_refused()) return refusal();
  return http_->send(http_call(call, identity_->token(steady_now())));
}

bool KubeClient::rest_until(Instant until) const {
  while (steady_now() < until) {
    if (options_.is_stopped && options_.is_stopped()) return false;
    const std::chrono::microseconds left((until - steady_now()).count());
    std::this_thread::sleep_for(std::clamp<std::chrono::microseconds>(left, std::chrono::microseconds(1), kNap));
  }
  return true;
}

Result<KubeAnswer> KubeClient::ask(const KubeCall& call) {
  const Instant end = steady_now() + options_.patience;
  kube::BackOff back_off;
  while (true) {
    if (!rest_until(pace_->reserve(steady_now()))) return fail(ErrorCode::kInterrupted, call.target + ": stopped");
    auto reply = send_known(call);
    if (!is_repeatable(call, reply)) {
      if (!reply) return pass_on(reply.error());
      return KubeAnswer{reply->status, std::move(reply->body)};
    }
    Micros pause = back_off.next(rng_);
    if (reply) pause = std::max(pause, retry_after(*reply).value_or(pause));
    if (steady_now() + pause > end) {
      if (!reply) return pass_on(reply.error());
      return KubeAnswer{reply->status, std::move(reply->body)};
    }
    if (!rest_until(steady_now() + pause)) return fail(ErrorCode::kInterrupted, call.target + ": stopped");
  }
}

Result<KubeAnswer> KubeClient::watch(const KubeCall& call, const KubeReading& reading) {
  if (!rest_until(pace_->reserve(steady_now()))) return fail(ErrorCode::kInterrupted, call.target + ": stopped");
  const HttpLineReading lines{.take = reading.take,
                              .is_stopped = reading.is_stopped,
                              .silence_max = reading.silence_max,
                              .line_bytes_max = kFrameBytesMax};
  std::string token = identity_->token(steady_now());
  auto reply = http_->read_lines(http_call(call, token), lines);
  if (reply && reply->status == kUnauthorized && identity_->renew(steady_now(), token)) {
    reply = http_->read_lines(http_call(call, identity_->token(steady_now())), lines);
  }
  if (!reply) return pass_on(reply.error());
  return KubeAnswer{reply->status, std::move(reply->body)};
}

}  // namespace berth::edges
