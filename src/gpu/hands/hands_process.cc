#include "gpu/hands/hands_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "gpu/hands/packet_socket.h"

namespace berth::edges {
namespace {

constexpr int kFirstOwn = 3;             // after the standard streams: the agent's connection
constexpr int kControl = kFirstOwn + 1;  // of a standby
constexpr int kNotExecuted = 127;
constexpr int kPauseMillis = 500;  // of a standby, before it takes a request

/// What to execute; the words end with a null pointer.
struct Program {
  const std::string& path;
  const std::vector<char*>& words;
};

void close_from(int first) { ::syscall(SYS_close_range, static_cast<unsigned>(first), ~0U, 0U); }

/// A process group of its own, and signals as if nothing had been set.
void lead_own_group() {
  ::setpgid(0, 0);
  for (const int each : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) ::signal(each, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// In a child: only calls that are safe after a fork.
[[noreturn]] void become_agent(const Program& program, int socket) {
  // A copy without close-on-exec at the number that the arguments name, and no descriptor above it.
  if (socket == kFirstOwn) {
    ::fcntl(socket, F_SETFD, 0);
  } else {
    ::dup2(socket, kFirstOwn);
  }
  close_from(kFirstOwn + 1);
  ::execv(program.path.c_str(), program.words.data());
  ::_exit(kNotExecuted);
}

/// Space for the control message that carries one descriptor.
union DescriptorMessage {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

/// Waits for a packet with a descriptor, and returns it; -1: the other side is gone.
int receive_descriptor(int control) {
  char byte = 0;
  iovec part{.iov_base = &byte, .iov_len = 1};
  DescriptorMessage carried{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = carried.bytes.data();
  message.msg_controllen = carried.bytes.size();
  ssize_t count = -1;
  do {
    count = ::recvmsg(control, &message, 0);
  } while (count < 0 && errno == EINTR);
  const cmsghdr* const header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof(descriptor));
  return descriptor;
}

bool send_descriptor(const Descriptor& control, const Descriptor& sent) {
  char byte = 1;
  iovec part{.iov_base = &byte, .iov_len = 1};
  DescriptorMessage carried{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = carried.bytes.data();
  message.msg_controllen = carried.bytes.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = sent.number();
  std::memcpy(CMSG_DATA(header), &number, sizeof(number));
  return ::sendmsg(control.number(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

/// In a child of an agent: becomes the next agent on request, after it has left its place to a child of its own.
[[noreturn]] void stand_by(const Program& program, int control) {
  lead_own_group();
  if (control != kControl) ::dup2(control, kControl);
  ::close(kFirstOwn);
  close_from(kControl + 1);
  ::fcntl(kControl, F_SETFL, ::fcntl(kControl, F_GETFL) & ~O_NONBLOCK);
  while (true) {
    const pid_t self = ::getpid();
    ::send(kControl, &self, sizeof(self), MSG_NOSIGNAL);  // if nobody reads it, nobody asks, either
    ::poll(nullptr, 0, kPauseMillis);
    const int socket = receive_descriptor(kControl);
    if (socket < 0) ::_exit(0);
    if (::fork() != 0) become_agent(program, socket);  // without a standby, if there can be no process
    ::setpgid(0, 0);
    ::close(socket);
  }
}

/// The pid of the standby at the other end, as it announced itself; 0: it has not yet. Error: it has ended.
Result<pid_t> find_standby(const Descriptor& standby) {
  pid_t pid = 0;
  while (true) {
    pid_t announced = 0;
    const ssize_t count = ::recv(standby.number(), &announced, sizeof(announced), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return pid;
    if (count != sizeof(announced)) return fail(ErrorCode::kUnavailable, "its standby has ended");
    pid = announced;
  }
}

}  // namespace

Result<HandsProcess> start_hands(const std::string& program, std::vector<std::string> arguments) {
  auto sockets = make_socket_pair();
  if (!sockets) return pass_on(sockets.error());
  auto control = make_socket_pair();
  if (!control) return pass_on(control.error());
  arguments.insert(arguments.begin(), "berth");
  arguments.insert(arguments.end(), {"--fd", std::to_string(kFirstOwn)});
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  // Not fatal: without it the standby has another parent, so that it is not known how a later agent ended.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    lead_own_group();
    if (::fork() == 0) stand_by({.path = program, .words = words}, control->theirs.number());
    become_agent({.path = program, .words = words}, sockets->theirs.number());
  }
  if (pid < 0)
    return fail(ErrorCode::kUnavailable, fmt::format("no process for the GPU agent: {}", std::strerror(errno)));
  return HandsProcess{.socket = std::move(sockets->ours), .pid = pid, .standby = std::move(control->ours)};
}

Result<HandsProcess> restart_hands(const Descriptor& standby) {
  const auto pid = find_standby(standby);
  if (!pid) return pass_on(pid.error());
  auto sockets = make_socket_pair();
  if (!sockets) return pass_on(sockets.error());
  if (!send_descriptor(standby, sockets->theirs)) return fail(ErrorCode::kUnavailable, "its standby does not answer");
  return HandsProcess{.socket = std::move(sockets->ours), .pid = *pid};
}

void reap_keepers() {
  std::error_code trouble;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", trouble)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t pid = 0; children >> pid;) {
      std::ifstream file(fmt::format("/proc/{}/stat", pid));
      std::string stat;
      std::getline(file, stat);
      if (stat.find(" (berth-keeper) Z ") != std::string::npos) ::waitpid(pid, nullptr, WNOHANG);
    }
  }
}

std::optional<std::string> how_it_ended(pid_t pid, std::chrono::milliseconds at_most) {
  constexpr std::chrono::milliseconds kPiece{10};
  int status = 0;
  for (auto waited = kPiece; ::waitpid(pid, &status, WNOHANG) != pid; waited += kPiece) {
    if (waited > at_most) return std::nullopt;
    std::this_thread::sleep_for(kPiece);
  }
  return WIFSIGNALED(status) ? fmt::format("the GPU agent ended (signal {})", WTERMSIG(status))
                             : fmt::format("the GPU agent ended (status {})", WEXITSTATUS(status));
}

}  // namespace berth::edges
