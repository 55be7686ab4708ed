/// Other processes for tests: forks of the test that can be stopped and killed.
#pragma once

#include <sys/types.h>

#include <functional>

namespace berth::edges::testing {

/// A process that runs `work` and exits with its result. It is killed and reaped at the latest when this object is
/// destroyed or the test itself dies. `work` must not use expectations of GoogleTest: their failures would be lost
/// fail.
class Child {
 public:
  explicit Child(const std::function<int()>& work);
  Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  Child& operator=(Child&& other) noexcept;
  ~Child();

  /// SIGKILL; returns when the process is gone.
  void kill();
  /// Waits until it exits. Returns its status, or 128 + the signal that ended it.
  [[nodiscard]] int finish();

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

/// Runs `work` in another process until it exits, and returns its status.
[[nodiscard]] int run_in_child(const std::function<int()>& work);

/// A flag that one process sets and another waits for.
class Mark {
 public:
  Mark();
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  ~Mark();

  void set() const;
  /// Whether it is set within 30 s. Resets it: the next call waits for the next `set`.
  [[nodiscard]] bool wait() const;

 private:
  int pipe_[2] = {-1, -1};
};

}  // namespace berth::edges::testing
