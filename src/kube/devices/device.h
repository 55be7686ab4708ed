/// Devices, and pools of them, as drivers publish them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth::kube {

/// "1.2.3" of a device; not a text.
struct VersionText {
  std::string text;
  friend bool operator==(const VersionText&, const VersionText&) = default;
};
using AttributeValue = std::variant<std::int64_t, bool, std::string, VersionText>;

struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;
  friend bool operator==(const DeviceTaint&, const DeviceTaint&) = default;
};

/// Tolerates taints: of a request, or of a pod.
struct Toleration {
  std::string key = {};  ///< empty with "Exists": every taint
  std::string value = {};
  std::string effect = {};  ///< empty: every effect
  bool is_any_value = false;
};

[[nodiscard]] bool tolerates(const Toleration& toleration, std::string_view key, std::string_view value,
                             std::string_view effect);

/// A counter that a device consumes, by its place in the pool's list of counters.
struct CounterUse {
  std::size_t counter = 0;
  std::int64_t amount = 0;  ///< milli
};

struct Device {
  std::string name;
  std::map<std::string, AttributeValue> attributes = {};  ///< by "DOMAIN/NAME"
  std::map<std::string, std::int64_t> capacity = {};      ///< by "DOMAIN/NAME", milli
  std::vector<CounterUse> uses = {};
  std::vector<DeviceTaint> taints = {};
  std::string node = {};   ///< the one node on which it is
  bool is_offered = true;  ///< false: something about it is not understood
};

struct PoolName {
  std::string driver;
  std::string pool;
  friend auto operator<=>(const PoolName&, const PoolName&) = default;

  [[nodiscard]] std::string text() const { return driver + "/" + pool; }
};

/// A complete pool.
struct Pool {
  PoolName name;
  std::int64_t generation = 0;
  std::vector<std::string> counter_names = {};  ///< "SET/COUNTER"
  std::vector<std::int64_t> counters = {};      ///< what there is in all, milli
  std::vector<Device> devices = {};
};

/// Names a device anywhere.
struct DeviceName {
  PoolName pool;
  std::string device;
  friend auto operator<=>(const DeviceName&, const DeviceName&) = default;

  [[nodiscard]] std::string text() const { return pool.text() + "/" + device; }
};

}  // namespace berth::kube
