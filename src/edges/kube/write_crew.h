/// Threads that carry out writes side by side.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "edges/kube/kube_client.h"
#include "kube/client/write.h"

namespace berth::edges {

/// One caller at a time.
class WriteCrew {
 public:
  /// Each thread has a client with these options.
  WriteCrew(const std::shared_ptr<KubeIdentity>& identity, const std::shared_ptr<SharedPace>& pace,
            const KubeClientOptions& options, std::size_t thread_count);
  WriteCrew(const WriteCrew&) = delete;
  WriteCrew& operator=(const WriteCrew&) = delete;
  ~WriteCrew();

  /// Carries all of them out, each as `kube::write_carefully`, in any order; their outcomes in the order given.
  /// Requires: each is about another object.
  [[nodiscard]] std::vector<Result<kube::WriteOutcome>> carry_out(std::span<const kube::Write* const> writes);

 private:
  void work(KubeClient& client);

  std::mutex lock_;
  std::condition_variable begun_;
  std::condition_variable done_;
  std::span<const kube::Write* const> writes_;
  std::vector<std::optional<Result<kube::WriteOutcome>>> outcomes_;
  std::size_t next_ = 0;  ///< the write that is taken next
  std::size_t open_ = 0;  ///< writes without an outcome
  bool is_stopped_ = false;
  std::vector<std::unique_ptr<KubeClient>> clients_;
  std::vector<std::thread> threads_;
};

}  // namespace berth::edges
