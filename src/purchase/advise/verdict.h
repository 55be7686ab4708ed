/// The summary of an advice, in words that the table and the page share.
#pragma once

#include <span>
#include <string>

#include "base/core/date.h"
#include "domain/lists/pod_list.h"
#include "purchase/advise/advice.h"

namespace berth::purchase::advise {

/// An answer with its question, borrowed from the caller.
struct AdviceCase {
  std::string pods_name;
  std::span<const Pod> pods;
  Date at;  ///< the day of the prices' ages
  const Advice& advice;
};

/// The recommendation, its saving, and whether a cheaper answer is possible.
[[nodiscard]] std::string advise_verdict(const Advice& advice);
/// The assumption behind it. Requires: at least one instance.
[[nodiscard]] std::string advise_assumption(const Advice& advice, Date at);

}  // namespace berth::purchase::advise
