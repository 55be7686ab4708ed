/// Adds the hashes of files to batch times, on a thread of its own: large files take seconds.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "serving/service/figure_service.h"

namespace berth::edges::detail {

class FileHasher {
 public:
  using HashOf = std::function<std::optional<std::string>(const std::string& path)>;
  struct Job {
    serving::TimeFigures times;
    std::function<void(serving::TimeFigures)> done;
  };
  /// Jobs that wait; others are discarded.
  static constexpr std::size_t kJobsMax = 100;

  /// Empty: no hash is known.
  explicit FileHasher(HashOf hash_of) : hash_of_(std::move(hash_of)) {}
  FileHasher(const FileHasher&) = delete;
  FileHasher& operator=(const FileHasher&) = delete;
  /// Discards the jobs that wait.
  ~FileHasher();

  /// Any thread. The thread begins with the first job.
  void post(Job job);

 private:
  void run();
  void add_hashes(serving::TimeFigures& times);

  HashOf hash_of_;
  std::map<serving::ModelIndex, std::optional<std::string>> hashes_;  ///< only the thread uses it
  std::mutex lock_;                                                   ///< of all that follows
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace berth::edges::detail
