/// The client of the GPU agent: sends orders to the privileged process, and returns their outcomes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "domain/ports/gpu_hands.h"
#include "domain/ports/process_hands.h"
#include "gpu/hands/hands_process.h"

namespace berth::edges {

struct HandsClientOptions {
  std::string world;                           ///< the name of the journal
  std::chrono::milliseconds deadline{60'000};  ///< of an order
  /// Pauses before a busy order is sent again; after the last one it ends as kBusy.
  std::vector<std::chrono::milliseconds> busy_pauses = {
      std::chrono::milliseconds{500}, std::chrono::milliseconds{1'000}, std::chrono::milliseconds{2'000},
      std::chrono::milliseconds{4'000}, std::chrono::milliseconds{8'000}};
  std::chrono::milliseconds reconnect_every{500};  ///< for an agent at a path that does not answer
  /// A started agent that ended is started again after `restart_pause`, each time twice as long, up to
  /// `restart_pause_max`; from the beginning once it has answered for `healthy_after`.
  std::chrono::milliseconds restart_pause{1'000};
  std::chrono::milliseconds restart_pause_max{60'000};
  std::chrono::milliseconds healthy_after{600'000};
  /// Called by the client's thread when an order has ended, a program changed, or when an answer of `why_not` may
  /// have changed. May be empty.
  std::function<void()> on_news = {};
  /// Called by the client's thread with each new answer of `why_gone`. May be empty.
  std::function<void(const std::optional<std::string>& why_gone)> on_agent = {};
};

/// A thread sends and receives. It sends one order per GPU at a time, in the order of submission.
///
/// - An order without an outcome at its deadline ends as kFailed, "no end after 60 s", and those that wait for the same
///   GPU as kRefused; until the outstanding call returns, `why_not` of the GPU names it. Its real outcome is then
///   reported as a second one for the same order.
/// - If the agent ends, so do all orders: those already sent as kFailed (their effect is unknown), the others as
///   kRefused. An agent at a path is reconnected to; one that was started is started again, by its standby.
/// - Programs (ProcessHands) use the same connection. Over each new one the list of all is taken first.
/// - Orders of an earlier process of the same world that an agent at a path finished are reported here, too.
class HandsClient final : public GpuHands, public ProcessHands {
 public:
  /// A started process, or the path of a socket.
  using Way = std::variant<HandsProcess, std::string>;
  HandsClient(Way way, HandsClientOptions options);
  HandsClient(const HandsClient&) = delete;
  HandsClient& operator=(const HandsClient&) = delete;
  /// The agent finishes the orders under way; their outcomes are discarded.
  ~HandsClient() override;

  /// Waits until the agent has answered for the first time, with its GPUs, offers and programs, or cannot be reached,
  /// for at most `at_most`; returns whether either has happened. Until then orders wait.
  [[nodiscard]] bool wait_until_known(std::chrono::milliseconds at_most) const;

  void submit(const std::vector<DeviceOrder>& orders) override;
  [[nodiscard]] std::vector<DeviceEnd> take_ended() override;
  [[nodiscard]] std::vector<DeviceEnd> take_delayed() override;
  [[nodiscard]] std::optional<std::string> why_not(const std::string& uuid) const override;
  [[nodiscard]] std::optional<std::string> why_gone() const override;

  [[nodiscard]] Result<void> check(const ProcessOrder& order) const override;
  void start(const ProcessOrder& order) override;
  void stop(const std::string& slice, std::uint64_t generation) override;
  [[nodiscard]] std::vector<ProcessReport> take_reports() override;
  [[nodiscard]] bool knows_all() const override;
  [[nodiscard]] bool separates_users() const override;
  /// Waits for at most two seconds.
  [[nodiscard]] std::optional<std::string> read_log(const std::string& slice, std::uint64_t generation,
                                                    std::size_t bytes_max) override;

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace berth::edges
