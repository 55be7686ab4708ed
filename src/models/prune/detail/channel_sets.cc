#include "models/prune/detail/channel_sets.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/core/ensure.h"

namespace berth::models {
namespace {

template <class T>
void append_all(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  from.clear();
}

template <class T>
void sort_once(std::vector<T>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

}  // namespace

std::size_t ChannelSets::make(std::string name, std::int64_t channels) {
  parents_.push_back(groups_.size());
  groups_.push_back({.name = std::move(name), .channels = channels});
  return groups_.size() - 1;
}

void ChannelSets::join(std::size_t a, std::size_t b) {
  const std::size_t first = std::min(root(a), root(b));
  const std::size_t second = std::max(root(a), root(b));
  if (first == second) return;
  ChannelGroup& to = groups_[first];
  ChannelGroup& from = groups_[second];
  ENSURE(to.channels == from.channels);
  append_all(to.producers, from.producers);
  append_all(to.consumers, from.consumers);
  append_all(to.constants, from.constants);
  append_all(to.entries, from.entries);
  append_all(to.depthwise, from.depthwise);
  append_all(to.values, from.values);
  if (!to.left_out) to.left_out = std::move(from.left_out);
  parents_[second] = first;
}

void ChannelSets::leave_out(std::size_t set, std::string reason) {
  ChannelGroup& group = at(set);
  if (!group.left_out) group.left_out = std::move(reason);
}

std::vector<ChannelGroup> ChannelSets::take() && {
  std::vector<ChannelGroup> taken;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (root(i) != i) continue;
    ChannelGroup& group = groups_[i];
    sort_once(group.producers);
    sort_once(group.consumers);
    sort_once(group.constants);
    sort_once(group.entries);
    sort_once(group.depthwise);
    sort_once(group.values);
    taken.push_back(std::move(group));
  }
  return taken;
}

std::size_t ChannelSets::root(std::size_t set) {
  while (parents_[set] != set) {
    parents_[set] = parents_[parents_[set]];
    set = parents_[set];
  }
  return set;
}

}  // namespace berth::models
