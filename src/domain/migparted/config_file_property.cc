#include "domain/migparted/config_file.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "domain/mig/catalogue.h"
#include "domain/migparted/import.h"

namespace berth::migparted {
namespace {

// A state written as a file and imported again has the same instances, placed at least as well.
RC_GTEST_PROP(ConfigFile, AStateComesBackAsTheSameInstances, ()) {
  const GpuModel model = *rc::gen::suchThat(rc::gen::elementOf(mig::gpu_models()),
                                            [](const GpuModel& any) { return any.is_mig_capable(); });
  mig::State state;
  for (int left = *rc::gen::inRange(0, 9); left > 0; --left) {
    const auto fitting = mig::placements_that_fit(model, state, mig::all_rules(model));
    if (fitting.empty()) break;
    state.push_back(*rc::gen::elementOf(fitting));
    std::ranges::sort(state);
  }
  const auto label = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange<char>(' ', '~')));
  RC_PRE(label.size() <= 200U);
  const std::vector<Config> configs = {{label, {entry_of(model, mig::multiset_of(state))}}};
  const auto read = import_config_file(write_config_file(configs), "state.yaml",
                                       {.gpu = model, .label = label, .skips_other_gpus = false});
  RC_ASSERT(read.has_value());
  RC_ASSERT(read->front().label == label);
  const PlacedEntry& entry = read->front().entries.front();
  RC_ASSERT(entry.entry == configs[0].entries[0]);
  RC_ASSERT(mig::multiset_of(entry.layouts.front().state) == mig::multiset_of(state));
}

}  // namespace
}  // namespace berth::migparted
