#include "edges/http_server/detail/late_answers.h"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/core/ensure.h"

namespace berth::edges::detail {
namespace {

// The watching thread sleeps only when there was nothing to watch for so many turns: requests seldom have to wake it.
constexpr int kIdleTurnsMax = 10;

}  // namespace

LateHub::Rest LateHub::rest(LateAnswer& answer, MHD_Connection& connection) {
  std::function<void()> gone;
  {
    const std::scoped_lock lock(mutex_);
    ENSURE(answer.connection == nullptr);
    if (answer.is_given) return Rest::kGiven;
    if (!is_closed_ && !answer.is_gone) {
      suspend(answer, connection);
      return Rest::kSuspended;
    }
    gone = std::exchange(answer.on_gone, nullptr);
  }
  if (gone) gone();
  return Rest::kClosed;
}

void LateHub::suspend(LateAnswer& answer, MHD_Connection& connection) {
  answer.place = waiting_.size();
  waiting_.push_back(&answer);
  answer.connection = &connection;
  answer.socket = socket_of(connection);
  MHD_suspend_connection(&connection);
}

void LateHub::give(LateAnswer& answer, std::optional<HttpResponse> response) {
  std::function<void()> unused;  // destroyed without the lock
  const std::scoped_lock lock(mutex_);
  unused = std::exchange(answer.on_gone, nullptr);
  answer.response = std::move(response);
  answer.is_given = true;
  resume(answer);
}

std::shared_ptr<LateBody> LateHub::begin(LateAnswer& answer, HttpBodyHead head, std::function<void()> on_room) {
  std::shared_ptr<LateBody> body;
  {
    const std::scoped_lock lock(mutex_);
    body = std::make_shared<LateBody>(std::exchange(head.first, {}), std::move(on_room),
                                      std::exchange(answer.on_gone, nullptr), resumer_);
    answer.is_given = true;
    if (!is_closed_ && !answer.is_gone) {
      answer.head = std::move(head);
      answer.body = body;
      bodies_.push_back(body);
      start_watching();
      resume(answer);
      return body;
    }
  }
  body->close();
  return body;
}

void LateHub::watch(LateAnswer& answer, std::function<void()> gone) {
  {
    const std::scoped_lock lock(mutex_);
    if (answer.is_given) return;
    if (!is_closed_ && !answer.is_gone) {
      answer.on_gone = std::move(gone);
      return start_watching();
    }
  }
  gone();
}

void LateHub::resume(LateAnswer& answer) {
  if (answer.connection == nullptr) return;
  waiting_.back()->place = answer.place;
  std::swap(waiting_[answer.place], waiting_.back());
  waiting_.pop_back();
  resumer_->resume(*std::exchange(answer.connection, nullptr));
}

void LateHub::close() {
  std::vector<std::function<void()>> all_gone;
  std::vector<std::shared_ptr<LateBody>> bodies;
  {
    const std::scoped_lock lock(mutex_);
    is_closed_ = true;
    while (!waiting_.empty()) {
      all_gone.push_back(std::exchange(waiting_.back()->on_gone, nullptr));
      resume(*waiting_.back());
    }
    bodies = open_bodies();
    bodies_.clear();
    changed_.notify_one();
  }
  for (const auto& body : bodies) body->close();
  for (const auto& gone : all_gone) {
    if (gone) gone();
  }
  if (watch_.joinable()) watch_.join();
}

void LateHub::start_watching() {
  if (!watch_.joinable()) watch_ = std::thread([this] { watch_clients(); });
  if (std::exchange(is_watch_asleep_, false)) changed_.notify_one();
}

void LateHub::watch_clients() {
  int idle_turns = 0;
  std::unique_lock lock(mutex_);
  while (!is_closed_) {
    idle_turns = waiting_.empty() && bodies_.empty() ? idle_turns + 1 : 0;
    if (idle_turns > kIdleTurnsMax) {
      is_watch_asleep_ = true;
      changed_.wait(lock, [this] { return is_closed_ || !is_watch_asleep_; });
      idle_turns = 0;
    }
    changed_.wait_for(lock, kClientCheckInterval, [this] { return is_closed_; });
    if (is_closed_) return;
    lock.unlock();
    check_clients();
    lock.lock();
  }
}

void LateHub::check_clients() {
  std::vector<std::function<void()>> all_gone;
  std::vector<std::shared_ptr<LateBody>> bodies;
  {
    const std::scoped_lock lock(mutex_);
    all_gone = take_gone();
    bodies = open_bodies();
  }
  for (const auto& gone : all_gone) gone();
  for (const auto& body : bodies) body->check_client();
}

std::vector<std::function<void()>> LateHub::take_gone() {
  std::vector<LateAnswer*> watched;
  std::vector<pollfd> sockets;
  for (LateAnswer* each : waiting_) {
    if (!each->on_gone) continue;
    watched.push_back(each);
    sockets.push_back({.fd = each->socket, .events = POLLRDHUP, .revents = 0});
  }
  std::vector<std::function<void()>> all_gone;
  if (sockets.empty() || ::poll(sockets.data(), sockets.size(), 0) <= 0) return all_gone;
  for (std::size_t i = 0; i < watched.size(); ++i) {
    if (sockets[i].revents == 0) continue;
    watched[i]->is_gone = true;
    all_gone.push_back(std::exchange(watched[i]->on_gone, nullptr));
    resume(*watched[i]);
  }
  return all_gone;
}

std::vector<std::shared_ptr<LateBody>> LateHub::open_bodies() {
  std::vector<std::shared_ptr<LateBody>> open;
  std::erase_if(bodies_, [&](const std::weak_ptr<LateBody>& each) {
    auto body = each.lock();
    if (body == nullptr) return true;
    open.push_back(std::move(body));
    return false;
  });
  return open;
}

LateReply::LateReply(std::shared_ptr<LateHub> hub, std::shared_ptr<LateAnswer> answer)
    : hub_(std::move(hub)), answer_(std::move(answer)) {}

LateReply::~LateReply() { give(std::nullopt); }

void LateReply::send(HttpResponse response) { give(std::move(response)); }

void LateReply::give(std::optional<HttpResponse> response) {
  if (const auto answer = std::exchange(answer_, nullptr)) hub_->give(*answer, std::move(response));
}

std::unique_ptr<HttpBodyWriter> LateReply::begin(HttpBodyHead head, std::function<void()> on_room) {
  ENSURE(answer_ != nullptr);
  body_ = hub_->begin(*std::exchange(answer_, nullptr), std::move(head), std::move(on_room));
  return std::make_unique<LateBodyWriter>(body_);
}

void LateReply::on_gone(std::function<void()> gone) {
  if (answer_ != nullptr) return hub_->watch(*answer_, std::move(gone));
  if (body_ != nullptr) body_->set_on_gone(std::move(gone));
}

}  // namespace berth::edges::detail
