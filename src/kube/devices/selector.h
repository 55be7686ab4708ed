/// The subset of CEL with which classes and requests select devices.
///
///   || && ! == != < <= > >= in, parentheses, lists, texts, whole numbers, true, false
///   device.driver  device.attributes["DOMAIN"].NAME  device.capacity["DOMAIN"].NAME
///   TEXT.startsWith(TEXT) .endsWith .contains  QUANTITY.compareTo(quantity("10Gi"))
///
/// As in CEL, an operand of && and || that cannot be evaluated counts only where the other does not decide. An
/// expression that cannot be evaluated for a device, such as one about an attribute that it does not have, does not
/// match it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/core/result.h"
#include "kube/devices/device.h"

namespace berth::kube {

enum class SelectorOp : std::uint8_t {
  kConstant,
  kDriver,
  kAttribute,
  kCapacity,
  kNot,
  kAnd,
  kOr,
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kList,
  kStartsWith,
  kEndsWith,
  kContains,
  kCompareTo,
};

/// A quantity in milli.
struct QuantityValue {
  std::int64_t milli = 0;
  friend bool operator==(const QuantityValue&, const QuantityValue&) = default;
};
using SelectorValue = std::variant<bool, std::int64_t, std::string, QuantityValue, VersionText>;

struct SelectorNode {
  SelectorOp op = SelectorOp::kConstant;
  SelectorValue value = false;  ///< of a constant
  std::string name = {};        ///< "DOMAIN/NAME" of an attribute or a capacity
  std::vector<SelectorNode> operands = {};
};

/// An expression that was understood.
struct Selector {
  std::string text;
  SelectorNode root;
};

/// kInvalidInput for what is outside the subset: the message has the expression, the column and what is there.
[[nodiscard]] Result<Selector> parse_selector(std::string_view text);

[[nodiscard]] bool matches(const Selector& selector, const Device& device, std::string_view driver);

}  // namespace berth::kube
