#include "models/prune/channel_groups.h"

#include "models/prune/detail/channel_walk.h"

namespace berth::models {

std::vector<ChannelGroup> channel_groups(const Model& model, const ValueShapes& shapes) {
  return ChannelWalk(model.graph, shapes).groups();
}

}  // namespace berth::models
