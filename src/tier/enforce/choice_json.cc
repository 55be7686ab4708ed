#include "tier/enforce/choice_json.h"

namespace berth::tier {

void put_choice(json::Writer& json, const TierChoice& choice) {
  json.member("model", choice.gpu).member("predicted", choice.is_predicted);
  json.member("probability", choice.probability).member("usd_per_hour", choice.usd_per_hour);
  json.member("reason", choice.reason).open_list("rejected");
  for (const RejectedTier& rejected : choice.rejected) {
    json.open_object().member("model", rejected.gpu).member("why", rejected.why).close_object();
  }
  json.close_list();
}

}  // namespace berth::tier
