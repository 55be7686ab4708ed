#include "live/whatif/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace berth::whatif {
namespace {

struct IncidentWords {
  IncidentKind kind;
  std::string_view words;
};

/// Omitted incidents, by kind; {} is their number in the window.
constexpr std::array kIncidentWords = {
    IncidentWords{.kind = IncidentKind::kGpuLost, .words = "GPUs were lost ({}): only recorded loses them"},
    IncidentWords{.kind = IncidentKind::kFault, .words = "faults were injected ({}): only recorded has them"},
    IncidentWords{.kind = IncidentKind::kScheduled,
                  .words = "GPUs were cordoned or drained ({}): the policies use them all the time"},
    IncidentWords{.kind = IncidentKind::kPaused, .words = "planning was paused ({}): the policies plan all the time"},
    IncidentWords{.kind = IncidentKind::kNoChanges,
                  .words = "windows without changes were in force ({}): the policies do not keep them"},
    IncidentWords{.kind = IncidentKind::kApproval,
                  .words = "plans waited for approval ({}): those of the policies take effect at once"},
    IncidentWords{.kind = IncidentKind::kResumed,
                  .words =
                      "the engine was stopped and went on ({}): requests that waited then were lost, and are served "
                      "here"},
    IncidentWords{.kind = IncidentKind::kUnobserved,
                  .words = "the engine did not run for a while ({}): nothing was observed then"},
};

bool touches(const Span& span, const Span& window) {
  const bool is_instant = span.from == span.until;
  return span.from < window.until && (is_instant ? window.from <= span.from : window.from < span.until);
}

std::string label_of(const ServicePast& service) {
  return fmt::format("{}.{}", service.name.tenant, service.name.name);
}

/// The remarks on one service.
class ServiceRemarks {
 public:
  ServiceRemarks(const ServicePast& service, const Span& window, const std::function<std::string(Instant)>& words,
                 std::vector<std::string>& remarks)
      : service_(service), window_(window), words_(words), remarks_(remarks) {}

  void add() {
    add_lives();
    add_specs();
    add_gaps();
    add_arrivals();
  }

 private:
  void remark(const std::string& text) { remarks_.push_back(fmt::format("{}: {}", label_of(service_), text)); }

  void add_lives() {
    for (const Span& life : service_.lives) {
      if (window_.from < life.from && life.from < window_.until) {
        remark(fmt::format("added at {}: it has no requests before, and the policies know it from the beginning",
                           words_(life.from)));
      }
      if (window_.from < life.until && life.until < window_.until) {
        remark(fmt::format("removed at {}: it has no requests after that", words_(life.until)));
      }
    }
  }

  void add_specs() {
    std::int64_t count = 0;
    Instant latest;
    const SpecPast* before = nullptr;
    for (const SpecPast& spec : service_.specs) {
      const bool is_in = window_.from < spec.at && spec.at < window_.until;
      if (is_in && before != nullptr && !is_same_but_arrivals(*before->spec, *spec.spec)) {
        ++count;
        latest = spec.at;
      }
      before = &spec;
    }
    const bool is_gone = !service_.is_there_at(window_.until - Micros(1));
    if (is_gone && !service_.spec_before(window_.until).spec->pins.empty()) remark("it has no pins");
    if (count == 0) return;
    remark(fmt::format("its spec was changed ({}): the policies have that of {} all the time", count, words_(latest)));
  }

  /// Adds the seconds in which it existed throughout, and of which nothing is recorded.
  void add_gaps() {
    std::int64_t missing = 0;
    for (const Span& life : service_.lives) {
      const bool is_first = life.from == Instant();
      const std::int64_t from = std::max(window_.from.second(), life.from.second() + (is_first ? 0 : 1));
      const std::int64_t to = std::min(window_.until, life.until).second();
      if (from >= to) continue;
      const auto known = std::distance(service_.arrivals.lower_bound(from), service_.arrivals.lower_bound(to));
      missing += to - from - known;
    }
    if (missing > 0) remark(fmt::format("{} seconds are not recorded: they have no requests", missing));
  }

  void add_arrivals() {
    const auto is_timed = [](const SpecPast& spec) {
      return std::holds_alternative<TimedTrace>(spec.spec->arrivals.source) && spec.spec->arrivals.is_given();
    };
    if (std::ranges::any_of(service_.specs, is_timed)) {
      remark("its requests are recorded by second: within each they are spread at random");
    }
  }

  const ServicePast& service_;
  const Span& window_;
  const std::function<std::string(Instant)>& words_;
  std::vector<std::string>& remarks_;
};

}  // namespace

std::vector<std::string> remarks_on(const Chronicle& chronicle, const Span& window,
                                    const std::function<std::string(Instant)>& words) {
  std::vector<std::string> remarks;
  for (const auto& [kind, text] : kIncidentWords) {
    const auto count = std::ranges::count_if(chronicle.incidents, [&, wanted = kind](const Incident& incident) {
      return incident.kind == wanted && touches(incident.span, window);
    });
    if (count > 0) remarks.push_back(fmt::format(fmt::runtime(text), count));
  }
  if (window.from > Instant()) {
    remarks.push_back(
        "the policies begin with a layout of their own and with models that are fresh; recorded begins with what "
        "stood");
  }
  for (const ServicePast& service : chronicle.services) {
    if (service.is_there_in(window)) ServiceRemarks(service, window, words, remarks).add();
  }
  return remarks;
}

}  // namespace berth::whatif
