/// What instances come to, in words that the table and the page share.
#pragma once

#include <span>
#include <string>

#include "base/core/date.h"
#include "domain/lists/pod_list.h"
#include "purchase/advise/advice.h"

namespace berth::purchase::advise {

/// An answer with its question, borrowed from who asked.
struct AdviceCase {
  std::string pods_name;
  std::span<const Pod> pods;
  Date at;  ///< the day of the prices' ages
  const Advice& advice;
};

/// What to do, what it saves and whether less is possible.
[[nodiscard]] std::string advise_verdict(const Advice& advice);
/// By which assumption. Requires: an instance at least.
[[nodiscard]] std::string advise_assumption(const Advice& advice, Date at);

}  // namespace berth::purchase::advise
