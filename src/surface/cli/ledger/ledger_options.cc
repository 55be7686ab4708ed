#include "surface/cli/ledger/ledger_options.h"

#include "domain/mig/catalogue.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {

OptionTable ledger_report_option_rows(LedgerReportWords& words) {
  return joined_rows({ledger_option_rows(words.ledger), {{"--format", "WORD", "table or json", &words.format}}});
}

OptionTable ledger_weights_option_rows(LedgerWeightsWords& words) {
  return {
      {"--gpu",
       "NAME",
       "The GPU model, or a unique prefix of it: A100-80GB, H200; default: all",
       &words.gpu,
       {.remark = mig::gpu_name_remark}},
      {"--format", "WORD", "table or json", &words.format},
  };
}

Result<LedgerReportRequest> check_ledger_report_words(const LedgerReportWords& words) {
  auto ledger = check_ledger_words(words.ledger);
  if (!ledger) return pass_on(ledger.error());
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  return LedgerReportRequest{.ledger = *std::move(ledger), .format = *format};
}

Result<LedgerWeightsRequest> check_ledger_weights_words(const LedgerWeightsWords& words) {
  const auto format = parse_format(words.format);
  if (!format) return pass_on(format.error());
  if (!words.gpu) return LedgerWeightsRequest{.models = mig::gpu_models(), .format = *format};
  const auto model = mig::find_gpu_model(*words.gpu);
  if (!model) return invalid("--gpu: " + model.error().message);
  return LedgerWeightsRequest{.models = {*model}, .format = *format};
}

}  // namespace berth::cli
