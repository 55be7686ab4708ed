#include "planner/one_gpu/detail/joint_states.h"

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
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) add_holdings(service);
  additions_begin_.push_back(AdditionIndex(additions_.size()));
  if (!count_states(states_max)) return;
  is_usable_ = true;
  make_states();
  make_edges();
}

void JointStates::add_holdings(ServiceIndex service) {
  const Bundles& bundles = case_.bundles[service];
  const std::size_t items = bundles.items.size();
  Holdings holdings;
  std::vector<BundleIndex> bundle_of;  // [holding], the first
  for (const BundleIndex bundle : Indices<BundleIndex>(bundles.count())) {
    const auto begin = bundles.counts.begin() + static_cast<std::ptrdiff_t>(ix(bundle) * items);
    std::vector<std::uint8_t> counts(begin, begin + static_cast<std::ptrdiff_t>(items));
    if (variants_ == Variants::kFree) counts = counts_by_kind(bundles, counts);
    const char keeps = case_.keeps_floor(service, bundles.rate[bundle]) ? 1 : 0;
    const auto [place, is_new] = holdings.of_counts.try_emplace(counts, HoldingIndex(holdings.count()));
    holdings.of_bundle.push_back(place->second);
    holdings.bundles.resize(holdings.of_counts.size());
    holdings.bundles[place->second].push_back(bundle);
    if (!is_new) {
      char& keeps_already = holdings.keeps_floor[place->second];
      keeps_already = std::max(keeps_already, keeps);
      continue;
    }
    holdings.counts.push_back(std::move(counts));
    holdings.room.push_back(bundles.room[bundle]);
    holdings.keeps_floor.push_back(keeps);
    bundle_of.push_back(bundle);
  }
  additions_begin_.push_back(AdditionIndex(additions_.size()));
  for (const HoldingIndex from : Indices<HoldingIndex>(holdings.count())) {
    holdings.additions_begin.push_back(AdditionIndex(additions_.size()));
    for (ItemIndex item(0); ix(item) < items; ++item) {
      const BundleIndex more = bundles.plus(bundle_of[from], item);
      if (more == kNoBundle) continue;
      const Addition addition{
          .service = service, .from = from, .to = holdings.of_bundle[more], .kind = bundles.items[item].kind};
      const bool is_new =
          ix(holdings.additions_begin.back()) == additions_.size() || additions_.back().to != addition.to;
      if (is_new) additions_.push_back(addition);
    }
  }
  holdings.additions_begin.push_back(AdditionIndex(additions_.size()));
  holdings.common.resize(ix(holdings.count()));
  holdings_.push_back(std::move(holdings));
}

std::vector<std::uint8_t> JointStates::counts_by_kind(const Bundles& bundles,
                                                      const std::vector<std::uint8_t>& by_label) const {
  std::vector<std::uint8_t> counts(ix(kinds_));
  for (const ItemIndex item : indices_of<ItemIndex>(by_label)) {
    std::uint8_t& count = counts[bundles.items[item].kind];
    count = static_cast<std::uint8_t>(count + by_label[item]);
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
    for (const RoomIndex room : Indices<RoomIndex>(rooms.count())) {
      for (HoldingIndex holding(0); holding < holdings.count() && of_room[room] > 0; ++holding) {
        const RoomIndex joined = rooms.join(room, holdings.room[holding]);
        if (joined == kNoRoom) continue;
        next[joined] += of_room[room];
        all += of_room[room];
      }
    }
    of_room = std::move(next);
    if (all > states_max) return false;
  }
  count_ = static_cast<int>(all);
  return true;
}

/// Service by service, so that one more piece leads to a larger number.
void JointStates::make_states() {
  const Rooms& rooms = case_.rooms;
  std::vector<RoomIndex> room_of = {kEmptyRoom};
  std::vector<std::uint16_t> held;
  std::vector<std::uint16_t> held_before;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    Holdings& holdings = holdings_[service];
    holdings.rank.assign(ix(rooms.count()), {});
    std::vector<RoomIndex> rooms_before = std::move(room_of);
    room_of.clear();
    std::swap(held, held_before);
    held.clear();
    for (std::size_t before = 0; before < rooms_before.size(); ++before) {
      holdings.first_child.push_back(static_cast<int>(room_of.size()));
      std::vector<int>& rank = holdings.rank[rooms_before[before]];
      const bool is_new = rank.empty();
      int fitting = 0;
      for (const HoldingIndex holding : Indices<HoldingIndex>(holdings.count())) {
        const RoomIndex joined = rooms.join(rooms_before[before], holdings.room[holding]);
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

StateIndex JointStates::number_of(const std::uint16_t* holdings) const {
  int number = 0;
  RoomIndex room = kEmptyRoom;
  for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
    const Holdings& all = holdings_[service];
    const HoldingIndex holding(holdings[service]);
    number = all.first_child[number] + all.rank[room][holding];
    room = case_.rooms.join(room, all.room[holding]);
  }
  return StateIndex(number);
}

StateIndex JointStates::state_of(const std::vector<BundleIndex>& bundles) const {
  std::vector<std::uint16_t> holdings;
  holdings.reserve(bundles.size());
  for (const ServiceIndex service : indices_of<ServiceIndex>(bundles)) {
    holdings.push_back(static_cast<std::uint16_t>(holdings_[service].of_bundle[bundles[service]]));
  }
  return number_of(holdings.data());
}

bool JointStates::may_stand(StateIndex state) const {
  const std::uint16_t* held = held_.data() + ix(state) * ix(services_);
  for (const ServiceIndex a : Indices<ServiceIndex>(services_)) {
    for (ServiceIndex b = a + 1; b < services_ && held[a] != 0; ++b) {
      if (held[b] != 0 && !may_be_neighbours(case_.problem.services[a], case_.problem.services[b])) return false;
    }
  }
  return true;
}

void JointStates::make_edges() {
  std::vector<std::uint16_t> held(ix(services_));
  edges_begin_.push_back(0);
  may_begin_.reserve(ix(count_));
  for (const StateIndex state : Indices<StateIndex>(count_)) {
    const std::uint16_t* now = held_.data() + ix(state) * ix(services_);
    std::copy_n(now, services_, held.begin());
    for (const KindIndex kind : Indices<KindIndex>(kinds_)) {
      if (case_.rooms.add(rooms_[state], kind) == kNoRoom) continue;
      const std::size_t first = edges_.size();
      for (const ServiceIndex service : Indices<ServiceIndex>(services_)) {
        const std::vector<AdditionIndex>& begin = holdings_[service].additions_begin;
        for (AdditionIndex i = begin[now[service]]; i < begin[now[service] + 1]; ++i) {
          if (additions_[i].kind != kind) continue;
          held[service] = static_cast<std::uint16_t>(additions_[i].to);
          edges_.push_back({.to = number_of(held.data()), .addition = static_cast<std::int16_t>(i)});
        }
        held[service] = now[service];
      }
      if (edges_.size() > first) edges_.back().is_last_of_kind = 1;
    }
    edges_begin_.push_back(static_cast<int>(edges_.size()));
    may_begin_.push_back(may_stand(state) ? 1 : 0);
  }
}

const std::vector<HoldingIndex>& JointStates::common_with(ServiceIndex service, HoldingIndex old) {
  Holdings& holdings = holdings_[service];
  std::vector<HoldingIndex>& common = holdings.common[old];
  if (!common.empty()) return common;
  std::vector<std::uint8_t> counts;
  common.reserve(ix(holdings.count()));
  for (const HoldingIndex other : Indices<HoldingIndex>(holdings.count())) {
    counts = holdings.counts[other];
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = std::min(counts[i], holdings.counts[old][i]);
    common.push_back(holdings.of_counts.find(counts)->second);
  }
  return common;
}

const std::vector<BundleIndex>& JointStates::bundles_of(StateIndex state, ServiceIndex service) const {
  const Holdings& holdings = holdings_[service];
  return holdings.bundles[held(state)[service]];
}

}  // namespace berth::planner
