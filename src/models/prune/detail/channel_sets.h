/// Sets of channels that are found to be coupled, one after another.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "models/prune/channel_groups.h"

namespace berth::models {

/// Union-find over groups of channels. A set is named by any index that `make` gave for one of its parts.
class ChannelSets {
 public:
  /// A set of its own.
  [[nodiscard]] std::size_t make(std::string name, std::int64_t channels);
  /// The group to add to.
  [[nodiscard]] ChannelGroup& at(std::size_t set) { return groups_[root(set)]; }
  /// Makes one set of two. Requires: as many channels.
  void join(std::size_t a, std::size_t b);
  /// The channels have to stay; the first reason counts.
  void leave_out(std::size_t set, std::string reason);
  /// In the order of make.
  [[nodiscard]] std::vector<ChannelGroup> take() &&;

 private:
  [[nodiscard]] std::size_t root(std::size_t set);

  std::vector<std::size_t> parents_;
  std::vector<ChannelGroup> groups_;
};

}  // namespace berth::models
