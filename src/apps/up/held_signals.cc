#include "apps/up/held_signals.h"

#include <ctime>

namespace berth::up {
namespace {

std::optional<int> take(const sigset_t& signals) {
  const timespec now{};
  const int signal = sigtimedwait(&signals, nullptr, &now);
  return signal > 0 ? std::optional(signal) : std::nullopt;
}

}  // namespace

HeldSignals::HeldSignals() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGTERM);
  sigemptyset(&reload_);
  sigaddset(&reload_, SIGHUP);
  // Under nohup SIGHUP would be ignored, and never arrive.
  sigaction(SIGHUP, nullptr, &on_reload_before_);
  signal(SIGHUP, SIG_DFL);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  pthread_sigmask(SIG_BLOCK, &reload_, nullptr);
}

HeldSignals::~HeldSignals() {
  while (taken() || is_reload_asked()) continue;  // signals that arrive during shutdown have no effect
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  sigaction(SIGHUP, &on_reload_before_, nullptr);
}

std::optional<int> HeldSignals::taken() const { return take(signals_); }

bool HeldSignals::is_reload_asked() const { return take(reload_).has_value(); }

}  // namespace berth::up
