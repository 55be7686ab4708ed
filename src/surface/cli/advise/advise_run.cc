#include "surface/cli/advise/advise_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "domain/lists/pod_list.h"
#include "purchase/advise/advise.h"
#include "surface/cli/advise/advise_json.h"
#include "surface/cli/advise/advise_table.h"
#include "surface/cli/shared/progress_bar.h"
#include "surface/cli/shared/run_outputs.h"
#include "surface/pages/advise_report.h"

namespace berth::cli {
namespace {

using pricing::Offer;
using purchase::advise::Advice;

Result<std::vector<Pod>> read_pod_file(const std::string& path, const Files& files) {
  const auto text = files.read(path);
  if (!text) return pass_on(text.error());
  return read_pods(*text, path);
}

Result<std::vector<Offer>> read_selected_offers(const OfferRequest& request, const Files& files) {
  const auto all = read_all_offers(request, files);
  if (!all) return pass_on(all.error());
  auto selected = select_offers(*all, request.filter);
  if (!selected) return pass_on(selected.error());
  if (std::ranges::none_of(*selected, pricing::is_buyable)) {
    return invalid(
        fmt::format("--offers: wanted one that can be bought, with a price and whole GPUs of NVIDIA, found "
                    "none among {}",
                    selected->size()));
  }
  return selected;
}

/// Searches and shows progress; an interrupt stops the search.
Result<Advice> searched(const AdviseRequest& request, const std::vector<Pod>& pods, const std::vector<Offer>& offers,
                        ProgressOutput progress, const RunOutputs& outputs) {
  ProgressBar bar(progress, 1, steady_now);
  auto advice = purchase::advise::advise_instances(pods, offers,
                                                   {.nodes_max = request.nodes_max,
                                                    .progress =
                                                        [&](double used) {
                                                          bar.show("advise", 0, used);
                                                          return outputs.may_continue();
                                                        },
                                                    .file = request.pods_path});
  if (outputs.is_interrupted()) return pass_on(interrupted_error());
  return advice;
}

}  // namespace

Result<std::string> run_advise(const AdviseRequest& request, const VerbContext& context) {
  RunOutputs outputs;
  const auto pods = read_pod_file(request.pods_path, *context.files);
  if (!pods) return pass_on(pods.error());
  const auto offers = read_selected_offers(request.offers, *context.files);
  if (!offers) return pass_on(offers.error());
  outputs.begin();
  if (auto opened = outputs.open_report(request.report_dir); !opened) return pass_on(opened.error());
  const auto advice = searched(request, *pods, *offers, context.progress(), outputs);
  if (!advice) return pass_on(advice.error());
  const purchase::advise::AdviceCase advice_case = {
      .pods_name = request.pods_path, .pods = *pods, .at = request.offers.filter.at, .advice = *advice};
  return outputs.finish({.text =
                             [&] {
                               return request.format == OutputFormat::kJson
                                          ? advise_json(*advice)
                                          : advise_table(advice_case, context.has_colour());
                             },
                         .page = [&] { return report::render_advise_report(advice_case); }});
}

}  // namespace berth::cli
