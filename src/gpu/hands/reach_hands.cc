#include "gpu/hands/reach_hands.h"

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "gpu/hands/capabilities.h"
#include "gpu/hands/packet_socket.h"
#include "gpu/hands/plain_end.h"

namespace berth::edges {
namespace {

Result<HandsFound> find(const HandsWish& wish) {
  if (wish.socket_path) {
    const auto checked = check_hands_socket(*wish.socket_path);
    if (!checked && checked.error().code != ErrorCode::kNotFound) return invalid("--hands: " + checked.error().message);
    return HandsFound(*wish.socket_path);
  }
  if (!may_change_gpus()) return HandsFound(NoHands{"berth up is not root, and --hands names no socket"});
  if (wish.config_path.empty()) return HandsFound(NoHands{"no --config says which GPUs may be changed"});
  std::vector<std::string> arguments = {"hands", "--config", wish.config_path};
  if (wish.nvml_path) arguments.insert(arguments.end(), {"--nvml", *wish.nvml_path});
  auto process = start_hands(wish.program, std::move(arguments));
  if (!process) return pass_on(process.error());
  return HandsFound(std::move(*process));
}

class RefusingHands final : public GpuHands {
 public:
  explicit RefusingHands(std::string reason) : reason_(std::move(reason)) {}

  void submit(const std::vector<DeviceOrder>& orders) override {
    const std::scoped_lock hold(mutex_);
    for (const DeviceOrder& order : orders) ended_.push_back(plain_end(order, DeviceOutcome::kRefused, reason_));
  }
  [[nodiscard]] std::vector<DeviceEnd> take_ended() override {
    const std::scoped_lock hold(mutex_);
    return std::exchange(ended_, {});
  }
  [[nodiscard]] std::vector<DeviceEnd> take_delayed() override { return {}; }
  [[nodiscard]] std::optional<std::string> why_not(const std::string&) const override { return reason_; }
  [[nodiscard]] std::optional<std::string> why_gone() const override { return std::nullopt; }

 private:
  const std::string reason_;
  std::mutex mutex_;
  std::vector<DeviceEnd> ended_;  ///< under mutex_
};

}  // namespace

Result<HandsFound> reach_hands(const HandsWish& wish) {
  auto found = find(wish);
  if (!found) return found;
  if (auto dropped = drop_capabilities(); !dropped) return pass_on(dropped.error());
  return found;
}

HandsInUse use_hands(HandsFound found, HandsClientOptions options) {
  if (const auto* none = std::get_if<NoHands>(&found)) {
    return {.gpus = std::make_unique<RefusingHands>(none->reason), .why_no_programs = none->reason};
  }
  auto* process = std::get_if<HandsProcess>(&found);
  HandsClient::Way way;
  if (process != nullptr) {
    way = std::move(*process);
  } else {
    way = std::move(std::get<std::string>(found));
  }
  auto client = std::make_unique<HandsClient>(std::move(way), std::move(options));
  constexpr std::chrono::seconds kPatience{5};
  static_cast<void>(client->wait_until_known(kPatience));  // a later answer is fine, too
  ProcessHands* const programs = client.get();
  return {.gpus = std::move(client), .programs = programs};
}

}  // namespace berth::edges
