#include "surface/cli/shared/interrupt.h"

#include <csignal>
#include <cstddef>
#include <string_view>

#include <unistd.h>

namespace berth::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int kInterruptedStatus = 130;

// A signal handler can use only static variables.
volatile std::sig_atomic_t is_deferred = 0;
volatile std::sig_atomic_t is_noted = 0;
struct sigaction previous[std::size(kSignals)];

extern "C" void note_signal(int) {
  if (is_deferred != 0 && is_noted == 0) {
    is_noted = 1;
    return;
  }
  constexpr std::string_view kMessage = "berth: interrupted\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(kInterruptedStatus);
}

}  // namespace

InterruptWatch::InterruptWatch() {
  is_deferred = 0;
  is_noted = 0;
  struct sigaction action = {};
  action.sa_handler = note_signal;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &previous[i]);
    if (kSignals[i] == SIGHUP && previous[i].sa_handler == SIG_IGN) continue;
    sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptWatch::~InterruptWatch() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &previous[i], nullptr);
}

void InterruptWatch::defer() { is_deferred = 1; }

bool InterruptWatch::is_interrupted() const { return is_noted != 0; }

Error interrupted_error() { return {ErrorCode::kInterrupted, "interrupted; nothing was written"}; }

}  // namespace berth::cli
