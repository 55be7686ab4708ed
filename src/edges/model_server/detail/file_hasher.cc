#include "edges/model_server/detail/file_hasher.h"

#include <utility>

namespace berth::edges::detail {

FileHasher::~FileHasher() {
  {
    const std::scoped_lock hold(lock_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FileHasher::post(Job job) {
  if (!hash_of_ || job.times.items.empty()) return job.done(std::move(job.times));
  const std::scoped_lock hold(lock_);
  if (jobs_.size() >= kJobsMax || is_stopping_) return;
  jobs_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_all();
}

void FileHasher::run() {
  std::unique_lock lock(lock_);
  while (true) {
    changed_.wait(lock, [this] { return is_stopping_ || !jobs_.empty(); });
    if (is_stopping_) return;
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    add_hashes(job.times);
    job.done(std::move(job.times));
    lock.lock();
  }
}

void FileHasher::add_hashes(serving::TimeFigures& times) {
  for (serving::BatchTimes& item : times.items) {
    std::optional<std::string>& hash = hashes_[item.index];
    if (!hash) hash = hash_of_(item.path);
    item.sha256 = hash;
  }
}

}  // namespace berth::edges::detail
