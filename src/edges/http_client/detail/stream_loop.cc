#include "edges/http_client/detail/stream_loop.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/core/ensure.h"

namespace berth::edges::detail {
namespace {

constexpr std::chrono::milliseconds kSweepInterval{100};
constexpr std::size_t kUnusedHandlesMax = 64;
constexpr long kKeptConnectionsMax = 1024;
constexpr std::size_t kEventsMax = 64;

std::uint32_t epoll_events(int wanted) {
  std::uint32_t events = 0;
  if (wanted == CURL_POLL_IN || wanted == CURL_POLL_INOUT) events |= EPOLLIN;
  if (wanted == CURL_POLL_OUT || wanted == CURL_POLL_INOUT) events |= EPOLLOUT;
  return events;
}

int curl_events(std::uint32_t events) {
  int found = 0;
  if ((events & EPOLLIN) != 0) found |= CURL_CSELECT_IN;
  if ((events & EPOLLOUT) != 0) found |= CURL_CSELECT_OUT;
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) found |= CURL_CSELECT_ERR;
  return found;
}

}  // namespace

OwnedDescriptor::~OwnedDescriptor() {
  if (number_ >= 0) ::close(number_);
}

StreamLoop::StreamLoop(const StreamClientOptions& options)
    : options_(options),
      waited_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      multi_(nullptr, &curl_multi_cleanup),
      next_sweep_(Clock::now()) {
  curl_global_init(CURL_GLOBAL_DEFAULT);  // counts its calls
  multi_.reset(curl_multi_init());
  ENSURE(waited_.number() >= 0 && wake_.number() >= 0 && multi_ != nullptr);
  epoll_event event{.events = EPOLLIN, .data = {.fd = wake_.number()}};
  ENSURE(::epoll_ctl(waited_.number(), EPOLL_CTL_ADD, wake_.number(), &event) == 0);
  CURLM* multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &StreamLoop::on_socket);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &StreamLoop::on_timer);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, kKeptConnectionsMax);
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  thread_ = std::thread([this] { run(); });
}

StreamLoop::~StreamLoop() {
  order({.kind = OrderKind::kStop, .number = 0, .call = nullptr});
  thread_.join();
  orders_.clear();
  unused_.clear();
  multi_.reset();
  curl_global_cleanup();
}

void StreamLoop::start(HttpCall call, std::unique_ptr<HttpReplyReader> reader) {
  const HttpCallNumber number = ++last_number_;
  auto started = std::make_unique<StreamCall>(number, std::move(call), std::move(reader), all_);
  order({.kind = OrderKind::kStart, .number = number, .call = std::move(started)});
}

void StreamLoop::take_guest(StreamClientGuest guest) {
  order({.kind = OrderKind::kGuest, .number = 0, .call = nullptr, .guest = std::move(guest)});
}

void StreamLoop::order(Order order) {
  {
    const std::scoped_lock lock(mutex_);
    orders_.push_back(std::move(order));
    if (std::exchange(is_thread_awake_, true)) return;
  }
  const std::uint64_t one = 1;
  ENSURE(::write(wake_.number(), &one, sizeof(one)) == sizeof(one));
}

void StreamLoop::run() {
  while (!is_stopped_) {
    wait_and_move();
    move_all();
  }
  while (!calls_.empty()) end(calls_.begin()->first, fail(ErrorCode::kInterrupted, "the client stops"));
  is_guest_due_ = true;  // for the answers that those calls were waited for
  turn_guest();
}

/// After this nothing is left that can be done without waiting.
void StreamLoop::move_all() {
  end_complete();
  acknowledge();
  turn_guest();
  carry_out_orders();
  if (timer_ && Clock::now() >= *timer_) {
    timer_.reset();
    move_bytes(CURL_SOCKET_TIMEOUT, 0);
  }
  end_complete();
  end_late();
}

int StreamLoop::wait_ms() const {
  std::optional<Clock::time_point> until = timer_;
  const auto note = [&until](Clock::time_point at) { until = until ? std::min(*until, at) : at; };
  if (!calls_.empty()) note(next_sweep_);
  if (guest_turn_at_) note(*guest_turn_at_);
  if (!until) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1000));
}

void StreamLoop::wait_and_move() {
  int timeout_ms = is_guest_due_ ? 0 : wait_ms();
  {
    const std::scoped_lock lock(mutex_);
    if (!orders_.empty()) timeout_ms = 0;
    is_thread_awake_ = timeout_ms == 0;
  }
  std::array<epoll_event, kEventsMax> events{};
  const int count = ::epoll_wait(waited_.number(), events.data(), static_cast<int>(events.size()), timeout_ms);
  {
    const std::scoped_lock lock(mutex_);
    is_thread_awake_ = true;
  }
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    handle(event.data.fd, event.events);
  }
  if (count > 0 || (guest_turn_at_ && Clock::now() >= *guest_turn_at_)) is_guest_due_ = true;
}

void StreamLoop::handle(int socket, std::uint32_t events) {
  if (socket == wake_.number()) {
    std::uint64_t wakes = 0;
    [[maybe_unused]] const ssize_t bytes = ::read(wake_.number(), &wakes, sizeof(wakes));
  } else if (guest_ && socket == guest_->descriptor) {
    is_guest_due_ = true;
  } else if (connecting_.contains(socket)) {
    step_connection(socket);
  } else {
    move_bytes(socket, curl_events(events));
  }
}

void StreamLoop::begin_guest(StreamClientGuest guest) {
  guest_ = std::move(guest);
  is_guest_due_ = true;
  epoll_event event{.events = EPOLLIN, .data = {.fd = guest_->descriptor}};
  ENSURE(::epoll_ctl(waited_.number(), EPOLL_CTL_ADD, guest_->descriptor, &event) == 0);
}

void StreamLoop::turn_guest() {
  // Without a guest, too: while a turn is due, the thread does not wait.
  if (!std::exchange(is_guest_due_, false) || !guest_) return;
  guest_turn_at_.reset();
  if (const auto wait = guest_->turn()) guest_turn_at_ = Clock::now() + std::chrono::microseconds(wait->count());
}

void StreamLoop::move_bytes(curl_socket_t socket, int events) {
  int running_count = 0;
  curl_multi_socket_action(multi_.get(), socket, events, &running_count);
}

void StreamLoop::carry_out_orders() {
  std::vector<Order> orders;
  {
    const std::scoped_lock lock(mutex_);
    orders.swap(orders_);
  }
  for (Order& each : orders) carry_out(std::move(each));
}

void StreamLoop::carry_out(Order order) {
  switch (order.kind) {
    case OrderKind::kStart:
      return begin(std::move(order.call));
    case OrderKind::kResume:
      return go_on(order.number);
    case OrderKind::kCancel:
      return end(order.number, fail(ErrorCode::kInterrupted, "the call was cancelled"));
    case OrderKind::kGuest:
      return begin_guest(std::move(order.guest));
    case OrderKind::kStop:
      is_stopped_ = true;
      return;
  }
}

void StreamLoop::go_on(HttpCallNumber number) {
  const auto at = calls_.find(number);
  if (at == calls_.end()) return;
  const CURLcode code = at->second->resume();
  if (code != CURLE_OK) end(number, at->second->outcome(code));
}

void StreamLoop::begin(std::unique_ptr<StreamCall> call) {
  call->reader().on_start(call->number());
  Result<void> ready = call->prepare(take_handle());
  if (ready && curl_multi_add_handle(multi_.get(), call->easy()) != CURLM_OK) ready = pass_on(no_memory());
  if (!ready) return keep(call->end(std::move(ready)));
  const HttpCallNumber number = call->number();
  calls_.emplace(number, std::move(call));
}

void StreamLoop::connect(StreamCall& call) {
  curl_multi_remove_handle(multi_.get(), call.easy());
  if (auto begun = call.connect_to_peer(); !begun) return end(call.number(), std::move(begun));
  connecting_.emplace(call.peer_connection()->socket(), call.number());
  watch_connection(*call.peer_connection(), EPOLL_CTL_ADD);
}

void StreamLoop::watch_connection(const PeerConnection& connection, int change) {
  epoll_event event{.events = connection.wants_to_write() ? EPOLLOUT : EPOLLIN, .data = {.fd = connection.socket()}};
  ::epoll_ctl(waited_.number(), change, connection.socket(), &event);
}

void StreamLoop::step_connection(int socket) {
  StreamCall& call = *calls_.at(connecting_.at(socket));
  PeerConnection& connection = *call.peer_connection();
  const auto progress = connection.step();
  if (!progress) return end(call.number(), pass_on(progress.error()));
  if (*progress == PeerConnection::Progress::kGoesOn) return watch_connection(connection, EPOLL_CTL_MOD);
  // From now on libcurl has the socket, and watches it itself.
  connecting_.erase(socket);
  watch_connection(connection, EPOLL_CTL_DEL);
  Result<void> ready = call.use_peer(take_handle());
  if (ready && curl_multi_add_handle(multi_.get(), call.easy()) != CURLM_OK) ready = pass_on(no_memory());
  if (!ready) end(call.number(), std::move(ready));
}

/// Of a call that ends while its connection is being made.
void StreamLoop::drop_connection(StreamCall& call) {
  if (call.peer_connection() == nullptr || connecting_.erase(call.peer_connection()->socket()) == 0) return;
  watch_connection(*call.peer_connection(), EPOLL_CTL_DEL);
}

EasyPointer StreamLoop::take_handle() {
  if (unused_.empty()) {
    EasyPointer easy(curl_easy_init(), &curl_easy_cleanup);
    if (easy == nullptr) return easy;
    prepare_for_streams(easy.get(), options_);
    curl_easy_setopt(easy.get(), CURLOPT_CLOSESOCKETFUNCTION, &StreamLoop::on_close);
    curl_easy_setopt(easy.get(), CURLOPT_CLOSESOCKETDATA, this);
    return easy;
  }
  EasyPointer easy = std::move(unused_.back());
  unused_.pop_back();
  return easy;
}

void StreamLoop::end_complete() {
  int left_count = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_.get(), &left_count)) {
    if (message->msg != CURLMSG_DONE) continue;
    StreamCall* call = nullptr;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
    if (call->wants_peer()) {
      connect(*call);
    } else {
      end(call->number(), call->outcome(message->data.result));
    }
  }
}

/// Of answers that go on. One that has come as a whole, as most do, costs no call of the system.
void StreamLoop::acknowledge() {
  for (const HttpCallNumber number : all_.unacknowledged) {
    if (const auto at = calls_.find(number); at != calls_.end()) at->second->acknowledge();
  }
  all_.unacknowledged.clear();
}

void StreamLoop::end_late() {
  const Clock::time_point now = Clock::now();
  if (calls_.empty() || now < next_sweep_) return;
  next_sweep_ = now + kSweepInterval;
  std::vector<HttpCallNumber> late;
  for (const auto& [number, call] : calls_) {
    if (call->is_over_time(now, options_.silence_max)) late.push_back(number);
  }
  std::ranges::sort(late);
  for (const HttpCallNumber number : late) end(number, pass_on(calls_.at(number)->timeout_error(options_.silence_max)));
  std::vector<HttpCallNumber> unanswered;
  for (const auto& [socket, number] : connecting_) {
    if (calls_.at(number)->is_over_connect_time(now, options_.connect_timeout)) unanswered.push_back(number);
  }
  std::ranges::sort(unanswered);
  for (const HttpCallNumber number : unanswered) {
    end(number, fail(ErrorCode::kNoServer, "the server did not say in time who it is"));
  }
}

void StreamLoop::end(HttpCallNumber number, Result<void> outcome) {
  auto node = calls_.extract(number);
  if (node.empty()) return;
  is_guest_due_ = true;  // it may have been waiting for this answer
  drop_connection(*node.mapped());
  // Before the answer is complete this closes its connection.
  curl_multi_remove_handle(multi_.get(), node.mapped()->easy());
  const bool is_clean = outcome.has_value();
  EasyPointer easy = node.mapped()->end(std::move(outcome));
  // After a failure libcurl (7.88) keeps in its handle that a body is to be sent again, and fails at the next one.
  if (is_clean) keep(std::move(easy));
}

void StreamLoop::keep(EasyPointer easy) {
  if (easy != nullptr && unused_.size() < kUnusedHandlesMax) unused_.push_back(std::move(easy));
}

int StreamLoop::on_socket(CURL* easy, curl_socket_t socket, int wanted, void* loop, void* mark) noexcept {
  auto& self = *static_cast<StreamLoop*>(loop);
  epoll_event event{.events = epoll_events(wanted), .data = {.fd = socket}};
  if (wanted == CURL_POLL_REMOVE) {
    ::epoll_ctl(self.waited_.number(), EPOLL_CTL_DEL, socket, &event);
    return 0;
  }
  StreamCall* call = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
  if (call != nullptr) call->set_socket(socket);
  if (mark == nullptr) {
    ::epoll_ctl(self.waited_.number(), EPOLL_CTL_ADD, socket, &event);
    curl_multi_assign(self.multi_.get(), socket, loop);  // any address that is not null will do
  } else {
    ::epoll_ctl(self.waited_.number(), EPOLL_CTL_MOD, socket, &event);
  }
  return 0;
}

int StreamLoop::on_close(void* loop, curl_socket_t socket) noexcept {
  auto& self = *static_cast<StreamLoop*>(loop);
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  if (!self.all_.peers.empty() && ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) == 0) {
    self.all_.peers.erase(ntohs(own.sin_port));
  }
  return ::close(socket);
}

int StreamLoop::on_timer(CURLM* /*multi*/, long after_ms, void* loop) noexcept {
  auto& self = *static_cast<StreamLoop*>(loop);
  self.timer_.reset();
  if (after_ms >= 0) self.timer_ = Clock::now() + std::chrono::milliseconds(after_ms);
  return 0;
}

}  // namespace berth::edges::detail
