/// The options of `berth advise`: as typed, and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/core/date.h"
#include "base/core/result.h"
#include "surface/cli/shared/offer_words.h"
#include "surface/cli/shared/option_row.h"
#include "surface/cli/shared/verb.h"

namespace berth::cli {

/// As typed.
struct AdviseWords {
  std::string pods;
  OfferWords offers = {.purchase = "on-demand"};
  std::optional<std::string> nodes = std::nullopt;
  std::string format = "table";
  std::optional<std::string> report = std::nullopt;
};

[[nodiscard]] OptionTable advise_option_rows(AdviseWords& words);

/// Checked, as far as possible without the files.
struct AdviseRequest {
  std::string pods_path;
  OfferRequest offers;
  std::optional<std::int64_t> nodes_max;
  OutputFormat format = OutputFormat::kTable;
  std::optional<std::string> report_dir;
};

/// `today` is the default of --at. Refuses empty paths, a --nodes out of range, and whatever check_offer_words refuses.
[[nodiscard]] Result<AdviseRequest> check_advise_options(const AdviseWords& words, Date today);

}  // namespace berth::cli
