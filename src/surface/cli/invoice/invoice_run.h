/// From the request of `berth invoice` to the text for stdout.
#pragma once

#include <string>

#include "base/core/result.h"
#include "surface/cli/invoice/invoice_options.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

[[nodiscard]] Result<std::string> run_invoice(const InvoiceVerbRequest& request, const VerbContext& context);

}  // namespace berth::cli
