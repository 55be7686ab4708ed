#include "one_gpu/detail/joint_states.h"

#include <algorithm>
#include <utility>

namespace berth::planner {

bool may_be_neighbours(const ServiceTerms& a, const ServiceTerms& b) {
  return !a.is_alone_on_gpu && !b.is_alone_on_gpu && a.trust_domain == b.trust_domain;
}

JointStates::JointStates(const GpuCase& gpu_case, Variants variants, int states_max)
    : case_(gpu_case),
      variants_(variants),
      services_(static_cast<int>(gpu_case.problem.services.size())),
      kinds_(gpu_case.rooms.kinds()) {
  for (int service = 0; service < services_; ++service) add_holdings(service);
  steps_begin_.push_back(static_cast<int>(steps_.size()));
  if (!count_states(states_max)) return;
  is_usable_ = true;
  make_states();
  make_edges();
}

void JointStates::add_holdings(int service) {
  const Bundles& bundles = case_.bundles[ix(service)];
  const std::size_t labels = bundles.labels.size();
  Holdings holdings;
  std::vector<int> bundle_of;  // [holding], the first
  for (int bundle = 0; bundle < bundles.count(); ++bundle) {
    const auto begin = bundles.counts.begin() + static_cast<std::ptrdiff_t>(ix(bundle) * labels);
    std::vector<std::uint8_t> counts(begin, begin + static_cast<std::ptrdiff_t>(labels));
    if (variants_ == Variants::kFree) counts = counts_by_kind(bundles, counts);
    const char keeps = case_.keeps_floor(service, bundles.rate[ix(bundle)]) ? 1 : 0;
    const auto [place, is_new] = holdings.of_counts.try_emplace(counts, holdings.count());
    holdings.of_bundle.push_back(place->second);
    holdings.bundles.resize(holdings.of_counts.size());
    holdings.bundles[ix(place->second)].push_back(bundle);
    if (!is_new) {
      char& keeps_already = holdings.keeps_floor[ix(place->second)];
      keeps_already = std::max(keeps_already, keeps);
      continue;
    }
    holdings.counts.push_back(std::move(counts));
    holdings.room.push_back(bundles.room[ix(bundle)]);
    holdings.keeps_floor.push_back(keeps);
    bundle_of.push_back(bundle);
  }
  steps_begin_.push_back(static_cast<int>(steps_.size()));
  for (int from = 0; from < holdings.count(); ++from) {
    holdings.steps_begin.push_back(static_cast<int>(steps_.size()));
    for (int label = 0; ix(label) < labels; ++label) {
      const int more = bundles.plus(bundle_of[ix(from)], label);
      if (more == kNoBundle) continue;
      const Step step{
          .service = service, .from = from, .to = holdings.of_bundle[ix(more)], .kind = bundles.labels[ix(label)].kind};
      const bool is_new = ix(holdings.steps_begin.back()) == steps_.size() || steps_.back().to != step.to;
      if (is_new) steps_.push_back(step);
    }
  }
  holdings.steps_begin.push_back(static_cast<int>(steps_.size()));
  holdings.common.resize(ix(holdings.count()));
  holdings_.push_back(std::move(holdings));
}

std::vector<std::uint8_t> JointStates::counts_by_kind(const Bundles& bundles,
                                                      const std::vector<std::uint8_t>& by_label) const {
  std::vector<std::uint8_t> counts(ix(kinds_));
  for (std::size_t label = 0; label < by_label.size(); ++label) {
    std::uint8_t& count = counts[ix(bundles.labels[label].kind)];
    count = static_cast<std::uint8_t>(count + by_label[label]);
  }
  return counts;
}

bool JointStates::count_states(int states_max) {
  const Rooms& rooms = case_.rooms;
  std::vector<std::int64_t> of_room(ix(rooms.count()));
  of_room.front() = 1;
  std::int64_t all = 1;
  for (const Holdings& holdings : holdings_) {
    std::vector<std::int64_t> next(ix(rooms.count()));
    all = 0;
    for (int room = 0; room < rooms.count(); ++room) {
      for (int holding = 0; holding < holdings.count() && of_room[ix(room)] > 0; ++holding) {
        const int joined = rooms.join(room, holdings.room[ix(holding)]);
        if (joined == kNoRoom) continue;
        next[ix(joined)] += of_room[ix(room)];
        all += of_room[ix(room)];
      }
    }
    of_room = std::move(next);
    if (all > states_max) return false;
  }
  count_ = static_cast<int>(all);
  return true;
}

/// Service by service, so that a piece more leads to a larger number.
void JointStates::make_states() {
  const Rooms& rooms = case_.rooms;
  std::vector<int> room_of = {0};
  std::vector<std::uint16_t> held;
  std::vector<std::uint16_t> held_before;
  for (int service = 0; service < services_; ++service) {
    Holdings& holdings = holdings_[ix(service)];
    holdings.rank.assign(ix(rooms.count()), {});
    std::vector<int> rooms_before = std::move(room_of);
    room_of.clear();
    std::swap(held, held_before);
    held.clear();
    for (std::size_t before = 0; before < rooms_before.size(); ++before) {
      holdings.first_child.push_back(static_cast<int>(room_of.size()));
      std::vector<int>& rank = holdings.rank[ix(rooms_before[before])];
      const bool is_new = rank.empty();
      int fitting = 0;
      for (int holding = 0; holding < holdings.count(); ++holding) {
        const int joined = rooms.join(rooms_before[before], holdings.room[ix(holding)]);
        if (is_new) rank.push_back(joined == kNoRoom ? -1 : fitting);
        if (joined == kNoRoom) continue;
        ++fitting;
        room_of.push_back(joined);
        const auto parent = held_before.begin() + static_cast<std::ptrdiff_t>(before) * service;
        held.insert(held.end(), parent, parent + service);
        held.push_back(static_cast<std::uint16_t>(holding));
      }
    }
  }
  held_ = std::move(held);
  rooms_ = std::move(room_of);
}

int JointStates::number_of(const std::uint16_t* holdings) const {
  int number = 0;
  int room = 0;
  for (int service = 0; service < services_; ++service) {
    const Holdings& all = holdings_[ix(service)];
    const int holding = holdings[service];
    number = all.first_child[ix(number)] + all.rank[ix(room)][ix(holding)];
    room = case_.rooms.join(room, all.room[ix(holding)]);
  }
  return number;
}

int JointStates::state_of(const std::vector<int>& bundles) const {
  std::vector<std::uint16_t> holdings;
  holdings.reserve(bundles.size());
  for (std::size_t service = 0; service < bundles.size(); ++service) {
    holdings.push_back(static_cast<std::uint16_t>(holdings_[service].of_bundle[ix(bundles[service])]));
  }
  return number_of(holdings.data());
}

bool JointStates::may_stand(int state) const {
  const std::uint16_t* held = held_.data() + ix(state) * ix(services_);
  for (int a = 0; a < services_; ++a) {
    for (int b = a + 1; b < services_ && held[a] != 0; ++b) {
      if (held[b] != 0 && !may_be_neighbours(case_.problem.services[ix(a)], case_.problem.services[ix(b)]))
        return false;
    }
  }
  return true;
}

void JointStates::make_edges() {
  std::vector<std::uint16_t> held(ix(services_));
  edges_begin_.push_back(0);
  may_begin_.reserve(ix(count_));
  for (int state = 0; state < count_; ++state) {
    const std::uint16_t* now = held_.data() + ix(state) * ix(services_);
    std::copy_n(now, services_, held.begin());
    for (int kind = 0; kind < kinds_; ++kind) {
      if (case_.rooms.add(rooms_[ix(state)], kind) == kNoRoom) continue;
      const std::size_t first = edges_.size();
      for (int service = 0; service < services_; ++service) {
        const std::vector<int>& begin = holdings_[ix(service)].steps_begin;
        for (int i = begin[ix(now[service])]; i < begin[ix(now[service]) + 1]; ++i) {
          if (steps_[ix(i)].kind != kind) continue;
          held[ix(service)] = static_cast<std::uint16_t>(steps_[ix(i)].to);
          edges_.push_back({.to = number_of(held.data()), .step = static_cast<std::int16_t>(i)});
        }
        held[ix(service)] = now[service];
      }
      if (edges_.size() > first) edges_.back().is_last_of_kind = 1;
    }
    edges_begin_.push_back(static_cast<int>(edges_.size()));
    may_begin_.push_back(may_stand(state) ? 1 : 0);
  }
}

const std::vector<int>& JointStates::common_with(int service, int old) {
  Holdings& holdings = holdings_[ix(service)];
  std::vector<int>& common = holdings.common[ix(old)];
  if (!common.empty()) return common;
  std::vector<std::uint8_t> counts;
  common.reserve(ix(holdings.count()));
  for (int other = 0; other < holdings.count(); ++other) {
    counts = holdings.counts[ix(other)];
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = std::min(counts[i], holdings.counts[ix(old)][i]);
    common.push_back(holdings.of_counts.find(counts)->second);
  }
  return common;
}

const std::vector<int>& JointStates::bundles_of(int state, int service) const {
  const Holdings& holdings = holdings_[ix(service)];
  return holdings.bundles[held(state)[service]];
}

}  // namespace berth::planner
