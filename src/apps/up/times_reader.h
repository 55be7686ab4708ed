/// Asks each `berth serve` on a slice, once it has proved who it is, for the times of its batches; in its own thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace berth {
class HttpStreamClient;
}

namespace berth::live {
class LocalPrograms;
}

namespace berth::up {

class TimesReader {
 public:
  /// `programs` is borrowed.
  explicit TimesReader(live::LocalPrograms& programs);
  ~TimesReader();
  TimesReader(const TimesReader&) = delete;
  TimesReader& operator=(const TimesReader&) = delete;

 private:
  void run();
  [[nodiscard]] bool is_stopping();

  live::LocalPrograms& programs_;
  const std::unique_ptr<HttpStreamClient> client_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;  ///< under mutex_
  std::thread thread_;
};

}  // namespace berth::up
