#include "ledger/events/event.h"

#include "base/core/ensure.h"

namespace berth::ledger {

std::string_view name_of(Role role) {
  switch (role) {
    case Role::kIdle:
      return "idle";
    case Role::kInference:
      return "inference";
    case Role::kJob:
      return "job";
    case Role::kReconfiguration:
      return "reconfiguration";
    case Role::kReserved:
      return "reserved";
    case Role::kRetraining:
      return "retraining";
    case Role::kShared:
      return "shared";
    case Role::kStranded:
      return "stranded";
  }
  ENSURE(false);
}

std::string_view name_of(CreditReason reason) {
  switch (reason) {
    case CreditReason::kSlo:
      return "slo";
    case CreditReason::kPrepaid:
      return "prepaid";
    case CreditReason::kFree:
      return "free";
    case CreditReason::kGoodwill:
      return "goodwill";
  }
  ENSURE(false);
}

}  // namespace berth::ledger
