/// Tokens and requests by tenant and model.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "surface/openai_api/proxied_request.h"

namespace berth::openai {

struct ModelUsage {
  serving::TenantIndex tenant = {};
  std::string model;
  std::uint64_t requests = 0;  ///< that were sent to the backend
  TokenUsage tokens = {};      ///< sums of what answers stated; nothing while none did
};

/// Since the start. Any thread.
class UsageBook {
 public:
  void add(const ProxiedRequest& request);
  /// In the order of tenants, then of the models' names.
  [[nodiscard]] std::vector<ModelUsage> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<serving::TenantIndex, std::string>, ModelUsage> usage_;
};

}  // namespace berth::openai
