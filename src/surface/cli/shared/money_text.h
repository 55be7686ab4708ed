/// Money and GPU time for people, in exact decimals.
#pragma once

#include <string>

#include "ledger/billing/corrections.h"
#include "ledger/books/amount.h"

namespace berth::cli {

/// Micro-dollars as dollars with two decimals, half to even: "12,345.68".
[[nodiscard]] std::string dollars_text(ledger::MicroUsd micro_usd);
/// The same with all six decimals: "12,345.678901".
[[nodiscard]] std::string exact_dollars_text(ledger::MicroUsd micro_usd);
/// What later months add and take back: "+13.71 -13.71", with all six decimals if both are below a cent; a dash for
/// none.
[[nodiscard]] std::string corrections_text(const ledger::LaterCorrection& correction);
/// GPU-hours with two decimals, half to even.
[[nodiscard]] std::string gpu_hours_text(ledger::GpuMicros gpu_us);
/// `part` of `whole` in percent with one decimal, half to even; "-" if `whole` is 0.
[[nodiscard]] std::string percent_text(Int128 part, Int128 whole);

}  // namespace berth::cli
