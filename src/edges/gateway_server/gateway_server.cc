#include "edges/gateway_server/gateway_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "base/core/overloaded.h"
#include "edges/gateway_server/detail/own_answers.h"
#include "edges/gateway_server/detail/passed_call.h"
#include "edges/gateway_server/detail/passed_request.h"
#include "edges/gateway_server/gateway_target.h"
#include "serving/gateway/repeat_rules.h"

namespace berth::edges {
namespace {

using detail::error_answer;

constexpr Micros kStopPause = Micros(20'000);

Instant steady_instant() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return Instant(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

std::int64_t wall_micros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::int64_t wall_second() { return wall_micros() / kMicrosPerSecond; }

bool is_method(std::string_view method) {
  return !method.empty() && std::ranges::all_of(method, [](char each) { return each >= 'A' && each <= 'Z'; });
}

}  // namespace

GatewayServer::GatewayServer(GatewayServerOptions options)
    : options_(std::move(options)), gateway_(options_.name, options_.terms) {}

GatewayServer::~GatewayServer() { stop(Micros(0)); }

void GatewayServer::start(HttpStreamClient& client) {
  client_ = &client;
  thread_ = std::thread([this] { run(); });
}

void GatewayServer::stop(Micros at_most) {
  {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(at_most.count());
    while (!passed_.empty() && std::chrono::steady_clock::now() < until) {
      changed_.wait_for(lock, std::chrono::microseconds(kStopPause.count()));
    }
    std::vector<serving::GatewayRequestId> left;
    for (const auto& [id, passed] : passed_) left.push_back(id);
    std::ranges::sort(left);
    for (const serving::GatewayRequestId id : left) {
      // Counted as dropped. An answer that has begun breaks off with its call.
      (void)gateway_.client_left(id, steady_instant());
      cancel({id});
      refuse({.request = id, .status = 503, .message = "the gateway is about to end"});
    }
    is_ended_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void GatewayServer::take_table(const EndpointTable& table) {
  std::vector<Start> starts;
  {
    const std::scoped_lock lock(mutex_);
    starts = carry_out(gateway_.take_table(table, steady_instant()));
  }
  start_calls(starts);
}

RequestReport GatewayServer::report() {
  const std::scoped_lock lock(mutex_);
  gateway_.close_seconds(wall_second(), steady_instant());
  return gateway_.report();
}

void GatewayServer::acknowledge(std::uint64_t until) {
  const std::scoped_lock lock(mutex_);
  gateway_.acknowledge(until);
}

void GatewayServer::close_all_seconds() {
  const std::scoped_lock lock(mutex_);
  gateway_.close_seconds(wall_second() + 1, steady_instant());
}

HttpAnswer GatewayServer::answer(const HttpRequest& request) {
  HttpRequest copy = request;
  return answer_taking(copy);
}

HttpAnswer GatewayServer::answer_taking(HttpRequest& request) {
  if (detail::is_own_path(request.path)) return own_answer(request);
  auto target = gateway_target(request);
  if (!target) return error_answer(404, "wanted a path /TENANT/SERVICE/.., found another one");
  if (!is_method(request.method)) return error_answer(501, "wanted a method in upper-case letters");
  auto passed = std::make_shared<detail::PassedRequest>();
  passed->method = request.is_head ? "HEAD" : request.method;
  passed->is_head = request.is_head;
  passed->headers = std::move(request.headers);
  passed->body = std::make_shared<const std::string>(std::move(request.body));
  passed->rest = std::move(target->rest);
  const bool is_repeatable = serving::is_repeatable(passed->method, passed->rest, passed->headers);
  return HttpLater{.start = [this, passed = std::move(passed), is_repeatable,
                             target = *std::move(target)](std::unique_ptr<HttpLateReply> reply) {
    passed->reply = std::move(reply);
    // Without the lock, as it may call back at once.
    passed->reply->on_gone([this, weak = std::weak_ptr(passed)] {
      if (const auto gone = weak.lock()) leave(gone);
    });
    pass(passed, {.tenant = target.tenant,
                  .service = target.service,
                  .bytes = passed->body->size(),
                  .is_repeatable = is_repeatable,
                  .second = wall_second()});
  }};
}

void GatewayServer::pass(const Passed& passed, const serving::GatewayArrival& arrival) {
  std::vector<Start> starts;
  std::optional<HttpResponse> refusal;
  {
    const std::scoped_lock lock(mutex_);
    refusal = accept(passed, arrival, starts);
  }
  if (refusal) return passed->reply->send(*std::move(refusal));
  start_calls(starts);
}

std::optional<HttpResponse> GatewayServer::accept(const Passed& passed, const serving::GatewayArrival& arrival,
                                                  std::vector<Start>& starts) {
  if (is_stopping_) return error_answer(503, "the gateway is about to end");
  if (!gateway_.has_table()) {
    return error_answer(503, "no table of endpoints has come from berth up yet", Micros::seconds(1));
  }
  if (passed->is_gone) return std::nullopt;
  const Instant now = steady_instant();
  const auto entry = gateway_.arrive(arrival, now);
  if (!entry) {
    return error_answer(
        404, fmt::format("wanted a tenant and service of the table, found {}/{}", arrival.tenant, arrival.service));
  }
  passed->id = entry->request;
  passed_.emplace(entry->request, passed);
  starts = carry_out(entry->orders);
  if (gateway_.next_tick(now) < wake_at_) changed_.notify_all();
  return std::nullopt;
}

void GatewayServer::leave(const Passed& passed) {
  std::vector<Start> starts;
  {
    const std::scoped_lock lock(mutex_);
    passed->is_gone = true;
    if (!passed_.contains(passed->id)) return;
    starts = carry_out(gateway_.client_left(passed->id, steady_instant()));
    passed_.erase(passed->id);
  }
  start_calls(starts);
}

void GatewayServer::note_start(detail::PassedRequest& passed, HttpCallNumber number) {
  passed.call = number;
  if (passed.is_cancelled) client_->cancel(number);
}

bool GatewayServer::begin_answer(detail::PassedRequest& passed, bool has_length) {
  const std::scoped_lock lock(mutex_);
  passed.has_begun = gateway_.begin_answer(passed.id);
  if (passed.has_begun && has_length) passed.end_by = steady_instant() + options_.whole_answer_max;
  return passed.has_begun;
}

void GatewayServer::end_call(detail::PassedRequest& passed, serving::GatewayEnd how) {
  if (passed.is_cancelled) return;
  passed.call = 0;
  std::vector<Start> starts;
  {
    const std::scoped_lock lock(mutex_);
    const bool is_done = how == serving::GatewayEnd::kAnswered || how == serving::GatewayEnd::kRefused;
    if (is_done) passed_.erase(passed.id);
    const Instant now = steady_instant();
    starts = carry_out(gateway_.end(passed.id, how, now));
    if (gateway_.next_tick(now) < wake_at_) changed_.notify_all();  // it waits for another try
    if (is_stopping_ && passed_.empty()) changed_.notify_all();
  }
  start_calls(starts);
}

std::vector<GatewayServer::Start> GatewayServer::carry_out(const std::vector<serving::GatewayOrder>& orders) {
  std::vector<Start> starts;
  for (const serving::GatewayOrder& order : orders) {
    std::visit(Overloaded{[&](const serving::GatewaySend& each) {
                            const auto at = passed_.find(each.request);
                            if (at != passed_.end()) starts.push_back({at->second, each.replica});
                          },
                          [this](const serving::GatewayRefuse& each) { refuse(each); },
                          [this](const serving::GatewayCancel& each) { cancel(each); }},
               order);
  }
  return starts;
}

void GatewayServer::start_calls(const std::vector<Start>& starts) {
  for (const auto& [passed, replica] : starts) {
    client_->start(detail::call_to(*passed, replica), std::make_unique<detail::PassedCall>(*this, passed, replica));
  }
}

void GatewayServer::refuse(const serving::GatewayRefuse& order) {
  const auto at = passed_.find(order.request);
  if (at == passed_.end()) return;
  // An answer that has begun belongs to the thread of its call, which breaks it off.
  if (!at->second->has_begun) at->second->reply->send(error_answer(order.status, order.message, order.retry_after));
  passed_.erase(at);
}

void GatewayServer::cancel(const serving::GatewayCancel& order) {
  const auto at = passed_.find(order.request);
  if (at == passed_.end()) return;
  at->second->is_cancelled = true;
  if (const HttpCallNumber call = at->second->call; call != 0) client_->cancel(call);
}

/// The call ends as one whose answer broke off.
void GatewayServer::break_off_late(Instant now) {
  for (const auto& [id, passed] : passed_) {
    if (passed->end_by > now) continue;
    if (const HttpCallNumber call = passed->call; call != 0) client_->cancel(call);
  }
}

std::vector<MetricFamily> GatewayServer::metrics() const {
  const std::scoped_lock lock(mutex_);
  return gateway_.metrics(steady_instant());
}

void GatewayServer::run() {
  std::unique_lock lock(mutex_);
  std::int64_t second = wall_second();
  gateway_.close_seconds(second, steady_instant());
  while (!is_ended_) {
    const std::vector<Start> starts = carry_out(gateway_.tick(steady_instant()));
    lock.unlock();
    start_calls(starts);
    lock.lock();
    if (is_ended_) return;
    const Instant now = steady_instant();
    if (const std::int64_t current = wall_second(); current != second) {
      second = current;
      gateway_.close_seconds(second, now);
      break_off_late(now);
    }
    const Micros to_next_second = Micros(kMicrosPerSecond - wall_micros() % kMicrosPerSecond);
    wake_at_ = std::min(gateway_.next_tick(now), now + to_next_second);
    changed_.wait_for(lock, std::chrono::microseconds(std::max<std::int64_t>((wake_at_ - now).count(), 1'000)));
  }
}

std::optional<std::size_t> GatewayServer::body_bytes_max(const HttpRequest& request) {
  return detail::is_own_path(request.path) ? std::nullopt : std::optional(options_.body_bytes_max);
}

std::string GatewayServer::share_of(const HttpRequest& request) {
  return request.path.empty() ? std::string() : request.path.front();
}

HttpResponse GatewayServer::render(const HttpRefusal& refusal) { return error_answer(refusal.status, refusal.message); }

HttpResponse GatewayServer::own_answer(const HttpRequest& request) const {
  if (request.method != "GET") return error_answer(405, "wanted GET");
  const std::scoped_lock lock(mutex_);
  return detail::own_answer(request.path, options_.name, gateway_, steady_instant());
}

}  // namespace berth::edges
