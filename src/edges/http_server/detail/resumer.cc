#include "edges/http_server/detail/resumer.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace berth::edges::detail {

Resumer::~Resumer() {
  if (waited_ >= 0) ::close(waited_);
  if (wake_ >= 0) ::close(wake_);
}

bool Resumer::wake_whoever_turns(int server_descriptor) {
  waited_ = ::epoll_create1(EPOLL_CLOEXEC);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (waited_ < 0 || wake_ < 0) return false;
  for (const int each : {server_descriptor, wake_}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = each}};
    if (::epoll_ctl(waited_, EPOLL_CTL_ADD, each, &event) != 0) return false;
  }
  return true;
}

void Resumer::begin_turn() {
  turning_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (!is_woken_.load()) return;
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t bytes = ::read(wake_, &count, sizeof(count));
  // After the read: a thread that finds it still set has resumed its connection before this turn looks for those.
  is_woken_.store(false);
}

void Resumer::resume(MHD_Connection& connection) {
  MHD_resume_connection(&connection);
  // The thread that turns the server does so after everything else that it does.
  if (wake_ < 0 || turning_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  if (is_woken_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(wake_, &one, sizeof(one));
}

}  // namespace berth::edges::detail
