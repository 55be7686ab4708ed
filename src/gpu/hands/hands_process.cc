#include "gpu/hands/hands_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "gpu/hands/packet_socket.h"

namespace berth::edges {
namespace {

constexpr int kFirstOwn = 3;  // after the standard streams
constexpr int kNotExecuted = 127;

/// In the child: only calls that are safe after a fork.
[[noreturn]] void become(const std::string& program, const std::vector<char*>& words, int socket) {
  ::setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A copy without close-on-exec at the number that the arguments name, and no descriptor above it.
  if (socket == kFirstOwn) {
    ::fcntl(socket, F_SETFD, 0);
  } else {
    ::dup2(socket, kFirstOwn);
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(kFirstOwn + 1), ~0U, 0U);
  ::execv(program.c_str(), words.data());
  ::_exit(kNotExecuted);
}

}  // namespace

Result<HandsProcess> start_hands(const std::string& program, std::vector<std::string> arguments) {
  auto sockets = make_socket_pair();
  if (!sockets) return pass_on(sockets.error());
  arguments.insert(arguments.begin(), "berth");
  arguments.insert(arguments.end(), {"--fd", std::to_string(kFirstOwn)});
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  const pid_t pid = ::fork();
  if (pid == 0) become(program, words, sockets->theirs.number());
  if (pid < 0) return fail(ErrorCode::kUnavailable, fmt::format("no process for the hands: {}", std::strerror(errno)));
  return HandsProcess{.socket = std::move(sockets->ours), .pid = pid};
}

std::string how_it_ended(pid_t pid, std::chrono::milliseconds at_most) {
  constexpr std::chrono::milliseconds kPiece{10};
  int status = 0;
  for (auto waited = kPiece; ::waitpid(pid, &status, WNOHANG) != pid; waited += kPiece) {
    if (waited > at_most) return "the hands closed the connection";
    std::this_thread::sleep_for(kPiece);
  }
  return WIFSIGNALED(status) ? fmt::format("the hands ended (signal {})", WTERMSIG(status))
                             : fmt::format("the hands ended (status {})", WEXITSTATUS(status));
}

}  // namespace berth::edges
