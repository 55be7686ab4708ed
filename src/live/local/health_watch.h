/// The health of a local world's GPUs (gpu/health), as the session gets it: errors become events, and what follows from
/// them becomes orders to cordon or drain.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/core/instant.h"
#include "domain/values/slice.h"
#include "gpu/health/gpu_health.h"
#include "gpu/health/xid_policy.h"
#include "live/local/health_view.h"

namespace berth::live {

class Session;

/// `health` of the configuration.
struct HealthOptions {
  health::XidPolicy policy = health::built_in_xid_policy();
  bool is_dry_run = false;  ///< what would be done is only recorded
};

/// The reason of a cordon or drain that follows from errors begins with this.
inline constexpr std::string_view kUnhealthy = "health: ";

class HealthWatch {
 public:
  HealthWatch(HealthOptions options, std::uint32_t gpu_count)
      : options_(std::move(options)), gpu_count_(gpu_count), book_(options_.policy, gpu_count) {}
  HealthWatch(const HealthWatch&) = delete;
  HealthWatch& operator=(const HealthWatch&) = delete;

  /// GPUs that an earlier process cordoned or drained.
  void adopt(const Session& session);
  void on_xid(Session& session, const health::XidSeen& seen);
  void on_recovery_action(Session& session, GpuId gpu, const std::string& action);
  /// To be called from time to time: ends of drains, uncordoned GPUs, suspects that had no more errors, bursts.
  void serve(Session& session);

  /// Starts the program of a slice again, by the slice's name; returns why it cannot, or nothing. Without it no
  /// programs run.
  void use_programs(std::function<std::string(const std::string& slice)> restart) { restart_ = std::move(restart); }

  [[nodiscard]] HealthView view(GpuId gpu) const;

 private:
  void carry_out(Session& session, const std::optional<health::HealthDecision>& decision);
  /// Orders what was decided; why it did not, or nothing.
  [[nodiscard]] std::string order(Session& session, const health::HealthDecision& decision) const;

  HealthOptions options_;
  std::uint32_t gpu_count_;
  health::HealthBook book_;
  health::XidBursts bursts_;
  std::map<GpuId, std::string> reasons_;
  std::function<std::string(const std::string& slice)> restart_;
};

}  // namespace berth::live
