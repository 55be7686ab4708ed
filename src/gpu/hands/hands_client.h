/// The hands of this process: orders go to a privileged one, and how they ended comes back.
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
#include "gpu/hands/hands_process.h"

namespace berth::edges {

struct HandsClientOptions {
  std::string world;                           ///< what the journal is called
  std::chrono::milliseconds deadline{60'000};  ///< of an order
  /// Before an order that was busy is given again; after the last one it ends as kBusy.
  std::vector<std::chrono::milliseconds> busy_pauses = {
      std::chrono::milliseconds{500}, std::chrono::milliseconds{1'000}, std::chrono::milliseconds{2'000},
      std::chrono::milliseconds{4'000}, std::chrono::milliseconds{8'000}};
  std::chrono::milliseconds reconnect_every{500};  ///< hands at a path that do not answer
  /// Called by the client's thread when an order has ended, or an answer of `why_not` may be another one. May be empty.
  std::function<void()> on_news = {};
};

/// A thread sends and receives. It gives one order per GPU at a time, in the order in which they came.
///
/// - An order that does not end until its deadline ends as kFailed, "no end after 60 s", and those that wait for the
///   same GPU as kRefused; `why_not` of the GPU names the call that has not returned, until it does. How it
///   ended is told then: a second end of the same order.
/// - If the hands end, so do all orders: those that were given as kFailed (nobody knows what became of them), the
///   others as kRefused. Hands at a path are looked for again; those that were started are not, as that takes
///   privileges.
/// - Orders of an earlier process of the same world, which hands at a path finished, end here, too.
class HandsClient final : public GpuHands {
 public:
  /// A started process, or the path of a socket.
  using Way = std::variant<HandsProcess, std::string>;
  HandsClient(Way way, HandsClientOptions options);
  HandsClient(const HandsClient&) = delete;
  HandsClient& operator=(const HandsClient&) = delete;
  /// The hands finish what they do; nobody hears how it ended.
  ~HandsClient() override;

  /// Waits until the hands have answered for the first time, or cannot be reached; at most so long. Until then orders
  /// wait.
  [[nodiscard]] bool wait_until_known(std::chrono::milliseconds at_most) const;

  void submit(const std::vector<DeviceOrder>& orders) override;
  [[nodiscard]] std::vector<DeviceEnd> take_ended() override;
  [[nodiscard]] std::vector<DeviceEnd> take_delayed() override;
  [[nodiscard]] std::optional<std::string> why_not(const std::string& uuid) const override;

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace berth::edges
