#include "surface/cli/advise/advise_options.h"

#include "base/core/first_error.h"
#include "surface/cli/shared/option_words.h"

namespace berth::cli {

OptionTable advise_option_rows(AdviseWords& words) {
  return {
      {"--pods", "FILE", "What pods need: name, CPU, memory, GPUs", &words.pods, kRequired},
      {"--offers", "FILE,..", "Catalogues as CSV; default: the built-in one", &words.offers.offers},
      {"--region,--regions", "A,B", "Only in these regions", &words.offers.regions},
      {"--purchase", "WORD", "on-demand, spot or committed; default: on-demand", &words.offers.purchase},
      {"--at", "DATE", "The prices of this day; default: today (UTC)", &words.offers.at},
      {"--stamp", "DATE", "The day of catalogues without dates; default: that of --at", &words.offers.stamp},
      {"--nodes", "N", "Budget of the search, in nodes; default: grows with the pods", &words.nodes},
      {"--format", "WORD", "table or json", &words.format},
      {"--report", "DIR", "Write a page with pictures, DIR/index.html", &words.report},
  };
}

Result<AdviseRequest> check_advise_options(const AdviseWords& words, Date today) {
  if (words.pods.empty()) return invalid("--pods: wanted a file, found an empty path");
  if (words.report == "") return invalid("--report: wanted a folder, found an empty path");
  FirstError first;
  AdviseRequest request{.pods_path = words.pods,
                        .offers = first.take(check_offer_words(words.offers, today)),
                        .nodes_max = std::nullopt,
                        .format = first.take(parse_format(words.format)),
                        .report_dir = words.report};
  if (words.nodes) request.nodes_max = first.take(whole_option("--nodes", *words.nodes, 1, kNodesAskedMax));
  if (!first.is_clear()) return first.passed_on();
  return request;
}

}  // namespace berth::cli
