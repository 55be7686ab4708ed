#include "edges/gateway_server/gateway_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/core/text.h"
#include "serving/gateway_wire/gateway_wire.h"

namespace berth::edges {
namespace {

constexpr Micros kSilenceMax = Micros::seconds(15);  // a line comes every 5 s
constexpr Micros kReconnectMin = Micros(100'000);
constexpr Micros kReconnectMax = Micros::seconds(2);
/// So long after a second has ended its requests are reported. A gateway that is killed loses what came since.
constexpr std::chrono::milliseconds kReportDelay{30};
constexpr Micros kReportTimeout = Micros::seconds(5);
constexpr std::size_t kAnswerBytesMax = 4'096;
constexpr std::size_t kShownBytesMax = 200;

/// The time from now until the next second of the wall clock has been over for kReportDelay.
std::chrono::system_clock::duration until_next_report() {
  const auto now = std::chrono::system_clock::now() - kReportDelay;
  return std::chrono::ceil<std::chrono::seconds>(now + std::chrono::milliseconds(1)) - now;
}

std::chrono::microseconds chrono_of(Micros time) { return std::chrono::microseconds(time.count()); }

Result<void> refusal_of(const HttpReply& reply, const std::string& url) {
  return fail(ErrorCode::kUnavailable, fmt::format("{}: wanted status 200, found {} {}", url, reply.status,
                                                   in_quotes(reply.body.substr(0, kShownBytesMax))));
}

}  // namespace

GatewayLink::GatewayLink(GatewayLinkOptions options, GatewayServer& server)
    : options_(std::move(options)), server_(server) {
  reading_ = std::thread([this] { read_tables(); });
  sending_ = std::thread([this] { send_reports(); });
}

GatewayLink::~GatewayLink() { stop(Micros(0)); }

void GatewayLink::stop(Micros at_most) {
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(is_stopped_, true)) return;
    changed_.notify_all();
  }
  reading_.join();
  sending_.join();
  if (at_most <= Micros(0)) return;
  if (const auto sent = send_report(at_most); !sent) options_.report("records are lost: " + sent.error().message);
}

void GatewayLink::read_tables() {
  std::string last;
  Micros wait = kReconnectMin;
  while (!is_stopped()) {
    const auto began = std::chrono::steady_clock::now();
    const Result<void> outcome = read_stream();
    if (is_stopped()) return;
    say(last, outcome);
    const bool was_long = std::chrono::steady_clock::now() - began > chrono_of(kReconnectMax);
    wait = was_long ? kReconnectMin : std::min(wait * 2, kReconnectMax);
    if (pause(wait)) return;
  }
}

Result<void> GatewayLink::read_stream() {
  const auto call = call_of("GET", "/v1/gateway/endpoints");
  if (!call) return pass_on(call.error());
  Result<void> failure;
  const auto reply =
      options_.tables->read_lines(*call, {.take = [&](std::string_view line) { return take_line(line, failure); },
                                          .is_stopped = [this] { return is_stopped(); },
                                          .silence_max = kSilenceMax,
                                          .line_bytes_max = serving::kTableBytesMax});
  if (!failure) return failure;
  if (!reply) return pass_on(reply.error());
  if (reply->status != 200) return refusal_of(*reply, call->url);
  return fail(ErrorCode::kUnavailable, call->url + ": the stream of tables ended");
}

bool GatewayLink::take_line(std::string_view line, Result<void>& failure) {
  if (line.empty()) return true;
  const auto table = serving::read_endpoint_table(line, options_.url + "/v1/gateway/endpoints");
  if (!table) {
    failure = pass_on(table.error());
    return false;
  }
  // It takes effect even if the disk is full: what is leaving must get nothing new.
  server_.take_table(*table);
  failure = options_.table->write(*table);
  if (!failure) return false;
  const std::scoped_lock lock(mutex_);
  has_news_ = true;
  changed_.notify_all();
  return true;
}

void GatewayLink::send_reports() {
  std::string last;
  auto next = std::chrono::steady_clock::now();
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, next, [this] { return is_stopped_ || has_news_; });
      if (is_stopped_) return;
      has_news_ = false;
    }
    next = std::chrono::steady_clock::now() + until_next_report();
    say(last, send_report(kReportTimeout));
  }
}

Result<void> GatewayLink::send_report(Micros timeout) {
  auto call = call_of("POST", "/v1/gateway/records");
  if (!call) return pass_on(call.error());
  call->timeout = timeout;
  call->bytes_max = kAnswerBytesMax;
  call->headers.push_back({"Content-Type", "application/json"});
  const bool is_last = is_stopped();
  if (!is_last) call->is_stopped = [this] { return is_stopped(); };
  while (true) {
    const RequestReport report = server_.report();
    call->body = serving::request_report_json(report);
    const auto reply = options_.posts->send(*call);
    if (!reply) return pass_on(reply.error());
    if (reply->status != 200) return refusal_of(*reply, call->url);
    const auto until = serving::read_records_answer(reply->body, call->url);
    if (!until) return pass_on(until.error());
    server_.acknowledge(*until);
    // More than one report is left after a time without berth up.
    const bool is_done =
        report.records.empty() || *until < report.records.back().number || server_.report().records.empty();
    if (is_done || (!is_last && is_stopped())) return {};
  }
}

Result<HttpCall> GatewayLink::call_of(const std::string& method, const std::string& path) const {
  const auto text = options_.files->read(options_.key_file);
  if (!text) return pass_on(text.error());
  const std::string key = text->substr(0, text->find_first_of("\r\n"));
  return HttpCall{.method = method,
                  .url = options_.url + path,
                  .headers = {{"Authorization", "Bearer " + key}},
                  .body = "",
                  .timeout = Micros::seconds(10)};
}

bool GatewayLink::pause(Micros time) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, chrono_of(time), [this] { return is_stopped_; });
}

bool GatewayLink::is_stopped() const {
  const std::scoped_lock lock(mutex_);
  return is_stopped_;
}

void GatewayLink::say(std::string& last, const Result<void>& outcome) const {
  const std::string message = outcome ? "" : outcome.error().message;
  if (message == last) return;
  last = message;
  if (!message.empty() && options_.report) options_.report(message);
}

}  // namespace berth::edges
