#include "edges/http_client/curl_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/core/ensure.h"
#include "edges/http_client/detail/transfer.h"

namespace berth::edges {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenTries = std::chrono::milliseconds(50);
constexpr const char* kKeyName = "Idempotency-Key";
constexpr std::size_t kKeyBytes = 16;

bool is_write(const HttpCall& call) { return call.method == "PUT" || call.method == "POST" || call.method == "DELETE"; }

/// Empty if the system has no randomness.
std::string random_key() {
  std::array<unsigned char, kKeyBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// The call, with a key if it is a write; nothing if a write has no key and none can be made.
std::optional<HttpCall> repeatable(HttpCall call) {
  if (!is_write(call) || find_header(call.headers, kKeyName)) return call;
  std::string key = random_key();
  if (key.empty()) return std::nullopt;
  call.headers.push_back({kKeyName, std::move(key)});
  return call;
}

}  // namespace

// libcurl counts these calls, so several objects may exist.
CurlClient::CurlClient(Micros patience) : patience_(patience) { curl_global_init(CURL_GLOBAL_DEFAULT); }

CurlClient::~CurlClient() { curl_global_cleanup(); }

Result<HttpReply> CurlClient::send(const HttpCall& call) const {
  const auto sent = patience_ > Micros(0) ? repeatable(call) : std::nullopt;
  if (!sent) return detail::Transfer(call, nullptr).run();
  const auto patience = std::chrono::microseconds(std::min(patience_, call.timeout).count());
  std::optional<Clock::time_point> end;
  while (true) {
    detail::Transfer transfer(*sent, nullptr);
    auto reply = transfer.run();
    if (!transfer.is_server_away()) return reply;
    if (!end) end = Clock::now() + patience;
    if (Clock::now() >= *end) return reply;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

Result<HttpReply> CurlClient::read_lines(const HttpCall& call, const HttpLineReading& reading) const {
  ENSURE(reading.take);
  return detail::Transfer(call, &reading).run();
}

}  // namespace berth::edges
