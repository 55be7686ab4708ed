#include "models/fuse/pads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/fuse/detail/operators.h"
#include "models/fuse/detail/sweep.h"

namespace berth::models {
namespace {

using Pads = std::vector<std::int64_t>;

/// First the begin of each dimension, then the end of each, without batch and channels. Nothing: it pads with something
/// else, or these two, or takes away.
std::optional<Pads> spatial_pads(const Sweep& sweep, const Node& pad) {
  if (attribute_or(pad, "mode", std::string("constant")) != "constant" || pad.inputs.size() > 3) return std::nullopt;
  if (pad.inputs.size() == 3 && !pad.inputs[2].empty() && scalar_input(sweep, pad, 2) != 0.0) return std::nullopt;
  const std::optional<Pads> all = int64_input(sweep, pad, 1);
  if (!all || all->size() < 6 || all->size() % 2 != 0) return std::nullopt;
  const std::size_t rank = all->size() / 2;
  Pads pads;
  for (std::size_t i = 0; i < all->size(); ++i) {
    if ((*all)[i] < 0) return std::nullopt;
    if (i % rank >= 2) {
      pads.push_back((*all)[i]);
    } else if ((*all)[i] != 0) {
      return std::nullopt;
    }
  }
  return pads;
}

bool pad_in(Sweep& sweep, std::size_t at) {
  const Node& conv = sweep.node(at);
  if (!is_op(conv, "Conv")) return false;
  const std::string mode = attribute_or(conv, "auto_pad", std::string("NOTSET"));
  if (mode != "NOTSET" && mode != "VALID") return false;
  const std::optional<std::size_t> before = sweep.producer(conv.inputs.front());
  if (!before || !is_op(sweep.node(*before), "Pad")) return false;
  std::optional<Pads> pads = spatial_pads(sweep, sweep.node(*before));
  if (!pads) return false;
  const Pads present = mode == "VALID" ? Pads() : attribute_or(conv, "pads", Pads());
  if (!present.empty() && present.size() != pads->size()) return false;
  for (std::size_t i = 0; i < present.size(); ++i) (*pads)[i] += present[i];
  Node padded = conv;
  padded.inputs.front() = sweep.node(*before).inputs.front();
  padded.attributes.erase("auto_pad");
  padded.attributes.insert_or_assign("pads", std::move(*pads));
  sweep.replace(at, std::move(padded));
  return true;
}

}  // namespace

Result<bool> pad_in_conv(Model& model, const PassContext& context) {
  return sweep_model(model, context.shapes, pad_in);
}

}  // namespace berth::models
