#include "surface/cli/tier/tier_predict_json.h"

#include <string_view>

#include "base/json/writer.h"
#include "tier/choose/verdict.h"

namespace berth::cli {
namespace {

using tier::ChangeOf;
using tier::TierAnswer;
using tier::TierChange;
using tier::TierProspect;

bool is_for_jobs(const TierAnswer& answer) { return answer.call.kind == tier::TierKind::kJobs; }

std::string_view rate_key(const TierAnswer& answer) {
  return is_for_jobs(answer) ? "samples_per_second" : "requests_per_second";
}

std::string_view cost_key(const TierAnswer& answer) {
  return is_for_jobs(answer) ? "usd_per_million_samples" : "cost_usd_per_hour";
}

std::string_view basis_of(const TierProspect& prospect) {
  if (prospect.is_measured) return "measured";
  return prospect.per_second ? "predicted" : "unknown";
}

void write_target(json::Writer& out, const TierAnswer& answer) {
  out.open_object("target").member(rate_key(answer), answer.call.target.per_second);
  if (!is_for_jobs(answer)) out.member("latency_ms", answer.call.target.latency_ms);
  out.close_object();
}

void write_spreads(json::Writer& out, const TierProspect& prospect) {
  out.key("per_second");
  if (prospect.per_second) {
    out.open_object()
        .member("median", prospect.per_second->median)
        .member("p10", prospect.per_second->p10)
        .member("p90", prospect.per_second->p90)
        .close_object();
  } else {
    out.value(nullptr);
  }
  out.key("latency_ms");
  if (prospect.latency_ms) {
    out.open_object()
        .member("median", prospect.latency_ms)
        .member("p10", prospect.latency_ms_p10)
        .member("p90", prospect.latency_ms_p90)
        .close_object();
  } else {
    out.value(nullptr);
  }
}

void write_hardware(json::Writer& out, const tier::Tier& tier) {
  out.member("name", tier.name).key("gpu");
  if (tier.gpu.empty()) {
    out.value(nullptr).member("profile", nullptr);
  } else {
    out.value(tier.gpu).member("profile", tier.profile);
  }
  out.member("usd_per_hour", tier.usd_per_hour)
      .member("memory_mib", tier.memory_mib)
      .member("tflops", tier.tflops)
      .member("gb_per_second", tier.gb_per_second);
}

void write_offer(json::Writer& out, const tier::PriceSource& offer) {
  out.open_object("offer")
      .member("provider", offer.provider)
      .member("instance_type", offer.instance_type)
      .member("region", offer.region)
      .member("usd_per_gpu_hour", offer.usd_per_gpu_hour)
      .member("share", offer.share)
      .close_object();
}

void write_tier(json::Writer& out, const TierPredictView& view, std::size_t i) {
  const TierAnswer& answer = view.answer;
  const TierProspect& prospect = answer.prospects[i];
  out.open_object();
  write_hardware(out, answer.call.tiers[i]);
  if (!view.offers.empty()) write_offer(out, view.offers[i]);
  out.member("basis", basis_of(prospect)).member("excluded", prospect.excluded);
  write_spreads(out, prospect);
  if (!is_for_jobs(answer)) out.member("slices", prospect.units);
  out.member(cost_key(answer), cost_shown(answer, i))
      .member("cost_mean", mean_cost_shown(answer, i))
      .member("probability", prospect.probability);
  out.list("features", answer.shares[i], [](json::Writer& list, const tier::FeatureShare& share) {
    list.open_object().member("feature", share.feature).member("share", share.share).close_object();
  });
  out.close_object();
}

void write_choice(json::Writer& out, const TierAnswer& answer) {
  out.key("choice");
  if (!answer.choice) {
    out.value(nullptr);
    return;
  }
  const tier::TierChoice& choice = *answer.choice;
  const tier::Saving saving = saving_of(answer);
  const bool is_rule = choice.by == tier::ChosenBy::kRule;
  out.open_object()
      .member("tier", answer.call.tiers[choice.tier].name)
      .member("by", is_rule ? "rule" : "probability")
      .member("rule", is_rule ? std::optional(choice.rule.empty() ? "otherwise" : choice.rule) : std::nullopt)
      .member("is_sure", choice.is_sure)
      .member("probability", answer.prospects[choice.tier].probability)
      .member(cost_key(answer), cost_shown(answer, choice.tier))
      .member("biggest", answer.call.tiers[biggest_tier(answer)].name)
      .member("saves_share", saving.share)
      .member("saves_by", saving.is_of_prices ? "price" : "cost")
      .close_object();
}

void write_change(json::Writer& out, const TierAnswer& answer, const TierChange& change) {
  out.open_object();
  switch (change.of) {
    case ChangeOf::kPrice:
      out.member("of", "usd_per_hour").member("tier", answer.call.tiers[change.tier].name);
      break;
    case ChangeOf::kPerSecond:
      out.member("of", rate_key(answer));
      break;
    case ChangeOf::kLatency:
      out.member("of", "latency_ms");
      break;
  }
  out.member("from", change.from)
      .member("to", change.to)
      .member("winner", answer.call.tiers[change.winner].name)
      .member("is_sure", change.is_sure)
      .close_object();
}

void write_next(json::Writer& out, const TierAnswer& answer) {
  out.key("measure_next");
  if (!answer.next) {
    out.value(nullptr);
    return;
  }
  out.open_object()
      .member("tier", answer.call.tiers[answer.next->tier].name)
      .member("probability", answer.next->probability)
      .member("saves", shown_cost(answer, answer.next->saves))
      .member("saves_share", answer.next->saves_share)
      .close_object();
}

}  // namespace

std::string tier_predict_json(const TierPredictView& view) {
  const TierAnswer& answer = view.answer;
  json::Writer out;
  out.open_object()
      .member("berth", 1)
      .member("kind", is_for_jobs(answer) ? "jobs" : "services")
      .member("group", answer.call.known.group)
      .member("workload", answer.call.known.name);
  write_target(out, answer);
  out.member("sure", answer.call.sure).open_list("tiers");
  for (std::size_t i = 0; i < answer.prospects.size(); ++i) write_tier(out, view, i);
  out.close_list();
  write_choice(out, answer);
  out.list("changes", answer.changes,
           [&](json::Writer& list, const TierChange& change) { write_change(list, answer, change); });
  write_next(out, answer);
  out.member("verdict", tier_verdict(answer)).close_object();
  return out.take_line();
}

}  // namespace berth::cli
