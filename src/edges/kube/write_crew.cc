#include "edges/kube/write_crew.h"

#include <utility>

namespace berth::edges {

WriteCrew::WriteCrew(const std::shared_ptr<KubeIdentity>& identity, const std::shared_ptr<SharedPace>& pace,
                     const KubeClientOptions& options, std::size_t thread_count) {
  for (std::size_t i = 0; i < thread_count; ++i) {
    KubeClientOptions own = options;
    own.seed += i;
    clients_.push_back(std::make_unique<KubeClient>(identity, pace, std::move(own)));
  }
  for (const auto& client : clients_) threads_.emplace_back([this, &each = *client] { work(each); });
}

WriteCrew::~WriteCrew() {
  {
    const std::lock_guard held(lock_);
    is_stopped_ = true;
    begun_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void WriteCrew::work(KubeClient& client) {
  std::unique_lock held(lock_);
  while (true) {
    begun_.wait(held, [this] { return is_stopped_ || next_ < writes_.size(); });
    if (is_stopped_) return;
    const std::size_t index = next_++;
    const kube::Write& write = *writes_[index];
    held.unlock();
    auto outcome = kube::write_carefully(client, write);
    held.lock();
    outcomes_[index] = std::move(outcome);
    if (--open_ == 0) done_.notify_all();
  }
}

std::vector<Result<kube::WriteOutcome>> WriteCrew::carry_out(std::span<const kube::Write* const> writes) {
  std::vector<Result<kube::WriteOutcome>> outcomes;
  if (writes.empty()) return outcomes;
  std::unique_lock held(lock_);
  writes_ = writes;
  outcomes_.assign(writes.size(), std::nullopt);
  next_ = 0;
  open_ = writes.size();
  begun_.notify_all();
  done_.wait(held, [this] { return open_ == 0; });
  writes_ = {};
  next_ = 0;
  for (auto& outcome : outcomes_) outcomes.push_back(*std::move(outcome));
  outcomes_.clear();
  return outcomes;
}

}  // namespace berth::edges
