#include "models/optimize/method_calls.h"

namespace berth::models {

Result<MadeVariant> make_pruned(const MethodInputs&) { return MadeVariant{.why_none = "not available"}; }
Result<MadeVariant> make_int8(const MethodInputs&) { return MadeVariant{.why_none = "not available"}; }
Result<MadeVariant> make_fp16(const MethodInputs&) { return MadeVariant{.why_none = "not available"}; }

}  // namespace berth::models
