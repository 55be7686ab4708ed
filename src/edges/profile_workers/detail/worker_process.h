/// A running worker, as its parent sees it.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/core/result.h"
#include "edges/profile_workers/detail/worker_messages.h"

namespace berth::edges::detail {

/// Ends with the object.
class WorkerChild {
 public:
  /// Errors: kUnavailable.
  [[nodiscard]] static Result<std::unique_ptr<WorkerChild>> start(const std::vector<std::string>& words);
  WorkerChild(pid_t id, int socket) : id_(id), socket_(socket) {}
  WorkerChild(const WorkerChild&) = delete;
  WorkerChild& operator=(const WorkerChild&) = delete;
  ~WorkerChild();

  /// Errors are those of the next `reply`.
  void send(const WorkerOrder& order);
  /// A process that the system killed replies that the memory was not enough. Errors: kUnavailable if it has ended in
  /// another way, with its signal or status; kInterrupted.
  [[nodiscard]] Result<WorkerReply> reply(const std::function<bool()>& is_stopped);
  [[nodiscard]] bool has_ended() const { return id_ < 0; }

 private:
  [[nodiscard]] Result<WorkerReply> reply_of_ended();

  pid_t id_;
  int socket_;
};

}  // namespace berth::edges::detail
