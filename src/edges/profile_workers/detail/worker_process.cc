#include "edges/profile_workers/detail/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/core/archive.h"
#include "edges/profile_workers/detail/frames.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every header declares it

namespace berth::edges::detail {
namespace {

tl::unexpected<Error> no_worker(std::string_view what, int error) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("a process that runs the model: {}: {}", what, std::generic_category().message(error)));
}

/// With its socket at the descriptor of workers, and no other input or output.
Result<pid_t> spawn_worker(const std::vector<std::string>& words, int socket) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, socket, kWorkerDescriptor);
  pid_t id = -1;
  const int error = ::posix_spawn(&id, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return no_worker(words[0], error);
  return id;
}

int wait_for(pid_t id) {
  int status = 0;
  while (::waitpid(id, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

Result<std::unique_ptr<WorkerChild>> WorkerChild::start(const std::vector<std::string>& words) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return no_worker("a socket", errno);
  // Away from the number that the child has: an equal one would stay closed in it.
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kWorkerDescriptor + 1);
  const int error = errno;
  ::close(ends[1]);
  const auto id = theirs < 0 ? Result<pid_t>(no_worker("a socket", error)) : spawn_worker(words, theirs);
  if (theirs >= 0) ::close(theirs);
  if (!id) {
    ::close(ends[0]);
    return pass_on(id.error());
  }
  return std::make_unique<WorkerChild>(*id, ends[0]);
}

WorkerChild::~WorkerChild() {
  ::close(socket_);
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  wait_for(id_);
}

void WorkerChild::send(const WorkerOrder& order) { static_cast<void>(write_frame(socket_, bytes_of(order))); }

Result<WorkerReply> WorkerChild::reply(const std::function<bool()>& is_stopped) {
  const auto bytes = read_frame(socket_, is_stopped);
  if (!bytes && bytes.error().code == ErrorCode::kInterrupted) return pass_on(bytes.error());
  if (!bytes) return reply_of_ended();
  auto reply = from_bytes<WorkerReply>(*bytes);
  if (!reply) return fail(ErrorCode::kUnavailable, "a process that runs the model: wanted a reply, found other bytes");
  return *std::move(reply);
}

Result<WorkerReply> WorkerChild::reply_of_ended() {
  if (id_ < 0) return fail(ErrorCode::kUnavailable, "a process that runs the model has ended");
  const int status = wait_for(std::exchange(id_, -1));
  if (!WIFSIGNALED(status)) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("a process that runs the model ended with the status {}", WEXITSTATUS(status)));
  }
  if (WTERMSIG(status) == SIGKILL) return WorkerReply{.fits = false, .message = "the system ended the process"};
  const char* const name = ::sigabbrev_np(WTERMSIG(status));
  return fail(ErrorCode::kUnavailable,
              fmt::format("a process that runs the model was ended by the signal SIG{}", name != nullptr ? name : "?"));
}

}  // namespace berth::edges::detail
