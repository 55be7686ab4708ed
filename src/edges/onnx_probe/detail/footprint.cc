#include "edges/onnx_probe/detail/footprint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/core/archive.h"
#include "base/core/ensure.h"
#include "edges/onnx_probe/detail/footprint_answer.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): not every header declares it

namespace berth::edges::detail {
namespace {

constexpr std::chrono::milliseconds kAnswerPause{20};
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 16U;

tl::unexpected<Error> no_process(std::string_view what, int error) {
  return fail(ErrorCode::kUnavailable,
              fmt::format("a process that loads the model: {}: {}", what, std::generic_category().message(error)));
}

/// An open descriptor, not inherited.
class OwnDescriptor {
 public:
  explicit OwnDescriptor(int number) : number_(number) {}
  OwnDescriptor(OwnDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  OwnDescriptor& operator=(OwnDescriptor&&) = delete;
  ~OwnDescriptor() { close(); }

  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

/// A file in memory with these bytes, which is read from its beginning.
Result<OwnDescriptor> file_with(std::string_view bytes) {
  OwnDescriptor file(::memfd_create("berth-inputs", MFD_CLOEXEC));
  if (file.number() < 0) return no_process("a file for the inputs", errno);
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t count = ::write(file.number(), bytes.data() + written, bytes.size() - written);
    if (count < 0 && errno != EINTR) return no_process("a file for the inputs", errno);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  ::lseek(file.number(), 0, SEEK_SET);
  return file;
}

/// A running process, which ends with the object.
class ChildProcess {
 public:
  explicit ChildProcess(pid_t id) : id_(id) {}
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    wait();
  }

  /// Its status, when it has ended.
  int wait() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
    return status;
  }

 private:
  pid_t id_;
};

/// With `input` as its standard input, `answer` at the descriptor of answers, and no output.
Result<pid_t> spawn(const std::vector<std::string>& words, int input, int answer) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, answer, kAnswerDescriptor);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t id = -1;
  const int error = ::posix_spawn(&id, pointers[0], &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return no_process(words[0], error);
  return id;
}

/// All that the process writes, up to its end.
Result<std::string> read_answer(int answer, const FootprintCall& call) {
  std::string bytes;
  while (true) {
    if (call.is_stopped && call.is_stopped()) return fail(ErrorCode::kInterrupted, "the measurement was stopped");
    if (std::chrono::steady_clock::now() >= call.deadline) {
      return fail(ErrorCode::kTimedOut, "a process that loads the model: no answer in time");
    }
    pollfd waiting{.fd = answer, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, static_cast<int>(kAnswerPause.count())) <= 0) continue;
    std::array<char, 4096> block{};
    const ssize_t count = ::read(answer, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || bytes.size() > kAnswerBytesMax) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(count));
  }
}

Result<ModelFootprint> footprint_in(std::string_view bytes, int status) {
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    return fail(ErrorCode::kUnavailable, fmt::format("a process that loads the model was ended by the signal SIG{}",
                                                     name != nullptr ? name : "?"));
  }
  auto answer = from_bytes<FootprintAnswer>(bytes);
  if (!answer) {
    return fail(ErrorCode::kUnavailable, fmt::format("a process that loads the model: wanted an answer, found the exit "
                                                     "status {}",
                                                     WEXITSTATUS(status)));
  }
  if (!answer->is_measured) return fail(answer->error, std::move(answer->message));
  return ModelFootprint{.load = std::chrono::microseconds(answer->load_us),
                        .loaded_bytes = answer->loaded_bytes,
                        .run_bytes = answer->run_bytes};
}

}  // namespace

Result<ModelFootprint> footprint_by(const FootprintCall& call, std::span<const Tensor> inputs) {
  ENSURE(!call.words.empty());
  const auto input = file_with(bytes_of(std::vector<Tensor>(inputs.begin(), inputs.end())));
  if (!input) return pass_on(input.error());
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return no_process("a pipe", errno);
  const OwnDescriptor reading(ends[0]);
  // Away from the numbers that the child has: an equal number would stay closed in it.
  OwnDescriptor low(ends[1]);
  OwnDescriptor writing(::fcntl(ends[1], F_DUPFD_CLOEXEC, kAnswerDescriptor + 1));
  low.close();
  if (writing.number() < 0) return no_process("a pipe", errno);
  const auto id = spawn(call.words, input->number(), writing.number());
  if (!id) return pass_on(id.error());
  ChildProcess child(*id);
  writing.close();  // now the child's end is the only one
  const auto bytes = read_answer(reading.number(), call);
  if (!bytes) return pass_on(bytes.error());
  return footprint_in(*bytes, child.wait());
}

}  // namespace berth::edges::detail
