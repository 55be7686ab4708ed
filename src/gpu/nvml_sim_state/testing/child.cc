#include "gpu/nvml_sim_state/testing/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/core/ensure.h"

namespace berth::edges::testing {

Child::Child(const std::function<int()>& work) {
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  ENSURE(pid_ >= 0);
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it died before
  ::_exit(work());
}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  return *this;
}

Child::~Child() { kill(); }

void Child::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(finish());
}

int Child::finish() {
  constexpr int kBySignal = 128;
  const pid_t pid = std::exchange(pid_, -1);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) ENSURE(errno == EINTR);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

int run_in_child(const std::function<int()>& work) { return Child(work).finish(); }

Mark::Mark() { ENSURE(::pipe2(pipe_, O_CLOEXEC) == 0); }

Mark::~Mark() {
  ::close(pipe_[0]);
  ::close(pipe_[1]);
}

void Mark::set() const {
  const char byte = 'x';
  ENSURE(::write(pipe_[1], &byte, 1) == 1);
}

bool Mark::wait() const {
  constexpr int kMillisMax = 30'000;
  pollfd wanted = {pipe_[0], POLLIN, 0};
  if (::poll(&wanted, 1, kMillisMax) != 1) return false;
  char byte = 0;
  return ::read(pipe_[0], &byte, 1) == 1;
}

}  // namespace berth::edges::testing
