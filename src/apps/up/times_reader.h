/// Asks each `berth serve` on a slice for the times of its batches, in a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace berth {
class HttpClient;
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
  std::unique_ptr<HttpClient> http_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_stopping_ = false;  ///< under mutex_
  std::thread thread_;
};

}  // namespace berth::up
