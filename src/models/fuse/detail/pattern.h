/// Several nodes that are to become one.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "models/fuse/detail/sweep.h"

namespace berth::models {

/// The nodes found so far, from the last one up.
class Pattern {
 public:
  Pattern(const Sweep& sweep, std::size_t last) : sweep_(sweep), last_(last), nodes_{last} {}

  /// The free node that makes the value, if it is `op`; it belongs to the pattern from then on.
  [[nodiscard]] const Node* maker(const std::string& value, std::string_view op);
  /// Whether nothing outside the pattern takes a value of its nodes, the last node's aside.
  [[nodiscard]] bool is_closed() const;
  /// Puts `replacement` in the place of the last node, and erases the others.
  void replace(Sweep& sweep, Node replacement) const;

 private:
  const Sweep& sweep_;
  std::size_t last_;
  std::set<std::size_t> nodes_;
};

}  // namespace berth::models
