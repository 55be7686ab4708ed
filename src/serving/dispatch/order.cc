#include "serving/dispatch/order.h"

#include <fmt/format.h>

#include "base/core/overloaded.h"

namespace berth::serving {
namespace {

std::string text_of(const FullQueue& full, const Request& request) {
  switch (full.bound) {
    case QueueBound::kModelRequests:
      return fmt::format("the queue of the model is full: {} requests wait, at most {} may", full.waiting, full.limit);
    case QueueBound::kRequests:
      return fmt::format("the server is full: {} requests wait, at most {} may", full.waiting, full.limit);
    case QueueBound::kBytes:
      break;
  }
  return fmt::format("the server is full: {} bytes of requests wait and this one has {}, at most {} may wait",
                     full.waiting, request.bytes, full.limit);
}

}  // namespace

std::string describe(const Reject& reject) {
  return std::visit(Overloaded{[&](const ExpectedWait& wait) { return describe(wait, reject.request.target); },
                               [&](const FullQueue& full) { return text_of(full, reject.request); },
                               [&](const NotServed&) { return std::string("the model takes no requests now"); }},
                    reject.reason);
}

}  // namespace berth::serving
