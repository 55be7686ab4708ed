#include "gpu/nvml_sim_program/child.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/core/ensure.h"
#include "gpu/nvml_sim_program/files.h"

namespace berth::nvml_sim_cli {
namespace {

constexpr std::array kPassedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
constexpr int kStatusNotFound = 127;
constexpr int kStatusNotExecutable = 126;
constexpr int kStatusOfSignal = 128;

tl::unexpected<Error> system_failure(const std::string& what) {
  return fail(ErrorCode::kUnavailable, what + ": " + text_of_errno());
}

/// A message of the child before it executes the program; none follows afterwards.
struct ChildWord {
  enum Kind : int { kRefused, kNotExecuted, kDescriptor };
  int kind = kRefused;
  int number = 0;        ///< kRefused: the ErrorCode; kNotExecuted: errno
  char message[2000]{};  ///< kRefused
};

/// A message with a descriptor or, if it is negative, without one.
void say(int socket, const ChildWord& word, int descriptor = -1) {
  ChildWord copy = word;
  iovec part = {&copy, sizeof(copy)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/// The child's next message and descriptor, or nothing once the program has begun (or the child has died).
struct Heard {
  ChildWord word;
  int descriptor = -1;
};
std::optional<Heard> hear(int socket) {
  Heard heard;
  iovec part = {&heard.word, sizeof(heard.word)};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof(heard.word)) return std::nullopt;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr) std::memcpy(&heard.descriptor, CMSG_DATA(header), sizeof(int));
  return heard;
}

/// Why the program could not be executed. A folder of PATH that we may not enter counts as not having the program.
int reason_of(int number, const std::string& program) {
  if (number != EACCES || program.find('/') != std::string::npos) return number;
  const char* const path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + program;
    if (::access(candidate.c_str(), F_OK) == 0) return number;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return ENOENT;
}

/// In the child: the preparation, then the program. Returns only to die.
void become_program(const ChildOptions& options, int socket, const sigset_t& signals_before) {
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (options.prepare) {
    const auto prepared = options.prepare();
    if (!prepared) {
      ChildWord word{.kind = ChildWord::kRefused, .number = static_cast<int>(prepared.error().code)};
      std::snprintf(word.message, sizeof(word.message), "%s", prepared.error().message.c_str());
      return say(socket, word);
    }
    if (*prepared) {
      say(socket, ChildWord{.kind = ChildWord::kDescriptor}, **prepared);
      ::close(**prepared);
    }
  }
  std::vector<char*> words;
  words.reserve(options.command.size() + 1);
  for (const std::string& word : options.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::sigprocmask(SIG_SETMASK, &signals_before, nullptr);
  ::execvp(words.front(), words.data());
  say(socket, ChildWord{.kind = ChildWord::kNotExecuted, .number = reason_of(errno, options.command.front())});
}

/// A child that is starting.
struct Started {
  pid_t pid = 0;
  int socket = -1;  ///< our end of the pair
};

Result<Started> start(const ChildOptions& options, const sigset_t& signals_before) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) return system_failure("socketpair");
  const pid_t parent = ::getpid();
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) return system_failure("fork");
  if (pid == 0) {
    ::close(pair[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent) become_program(options, pair[1], signals_before);
    ::_exit(kStatusNotFound);
  }
  ::close(pair[1]);
  return Started{pid, pair[0]};
}

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) ENSURE(errno == EINTR);
  return WIFSIGNALED(status) ? kStatusOfSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Passes a signal on, unless the terminal sent it: then the child, which is in our group, has it already.
void pass_on_signal(const signalfd_siginfo& signal, pid_t pid) {
  if (signal.ssi_code == SI_KERNEL) return;
  ::kill(pid, static_cast<int>(signal.ssi_signo));
}

/// Waits until the program has ended, and serves meanwhile.
int attend(pid_t pid, int signals, int descriptor, const ChildOptions& options) {
  for (;;) {
    std::array<pollfd, 2> sources = {
        {{.fd = signals, .events = POLLIN, .revents = 0},
         {.fd = descriptor, .events = POLLIN, .revents = 0}}};  // poll skips a negative one
    if (::poll(sources.data(), sources.size(), -1) < 0) {
      ENSURE(errno == EINTR);
      continue;
    }
    if ((sources[1].revents & POLLIN) != 0) options.serve(descriptor);
    if ((sources[1].revents & POLLIN) == 0 && sources[1].revents != 0) descriptor = -1;  // no process is left to serve
    if ((sources[0].revents & POLLIN) == 0) continue;
    signalfd_siginfo signal = {};
    if (::read(signals, &signal, sizeof(signal)) != sizeof(signal)) continue;
    if (signal.ssi_signo != SIGCHLD) {
      pass_on_signal(signal, pid);
      continue;
    }
    siginfo_t ended = {};
    if (::waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == pid) {
      return wait_for(pid);
    }
  }
}

/// The exit status of a shell for a program that cannot be executed.
int status_of_errno(const std::string& program, int number) {
  const bool is_missing = number == ENOENT || number == ENOTDIR;
  const std::string why = is_missing ? "not found" : text_of_errno(number);
  std::fprintf(stderr, "berth-nvml-sim: %s: %s\n", program.c_str(), why.c_str());
  return is_missing ? kStatusNotFound : kStatusNotExecutable;
}

Result<int> attend_from_start(const Started& child, int signals, const ChildOptions& options) {
  int descriptor = -1;
  while (const auto heard = hear(child.socket)) {
    if (heard->word.kind == ChildWord::kDescriptor) {
      descriptor = heard->descriptor;
      continue;
    }
    wait_for(child.pid);
    if (heard->word.kind == ChildWord::kNotExecuted)
      return status_of_errno(options.command.front(), heard->word.number);
    return fail(static_cast<ErrorCode>(heard->word.number), heard->word.message);
  }
  const int status = attend(child.pid, signals, descriptor, options);
  if (descriptor >= 0) ::close(descriptor);
  return status;
}

}  // namespace

HeldSignals::HeldSignals() {
  sigset_t held;
  ::sigemptyset(&held);
  for (const int signal : kPassedOn) ::sigaddset(&held, signal);
  ::sigaddset(&held, SIGCHLD);
  ::signal(SIGCHLD, SIG_DFL);  // our parent may ignore it, and then we could not wait for a child
  ::sigprocmask(SIG_BLOCK, &held, &before_);
  descriptor_ = ::signalfd(-1, &held, SFD_CLOEXEC);
  ENSURE(descriptor_ >= 0);
}

HeldSignals::~HeldSignals() { ::close(descriptor_); }

Result<int> run_child(const ChildOptions& options, const HeldSignals& signals) {
  const auto child = start(options, signals.mask_before());
  if (!child) return pass_on(child.error());
  Result<int> status = attend_from_start(*child, signals.descriptor(), options);
  ::close(child->socket);
  return status;
}

}  // namespace berth::nvml_sim_cli
