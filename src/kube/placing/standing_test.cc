// What is kept up to date change by change is what a look at everything that stands would find.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/core/rng.h"
#include "base/json/document.h"
#include "kube/devices/testing/toy_cluster.h"
#include "kube/placing/placing.h"

namespace berth::kube {
namespace {

constexpr const char* kStandingWall = "2026-01-01T00:00:00.000000Z";
constexpr int kStandingNames = 6;
constexpr int kStandingChanges = 60;

/// A cluster whose objects come, change and go by seed; a placing follows it, and another one reads it when it is done.
class RandomStanding {
 public:
  explicit RandomStanding(std::uint64_t seed) : rng_(seed) {
    for (const char* profile : {"1g", "2g", "3g"}) put(kDeviceClasses, testing::class_of_profile(profile));
    put(kNodes, testing::ready_node("a"));
    put(kResourceSlices, testing::counters_slice("a"));
    put(kResourceSlices, testing::devices_slice("a"));
  }

  void change() {
    switch (rng_.below(8)) {
      case 0:
        return remove(kPods, name("p"));
      case 1:
        return remove(kResourceClaims, name("c"));
      case 2:
        return change_node();
      case 3:
      case 4:
        return put_claim();
      default:
        return put_pod();
    }
  }
  /// What both decide, now and once the claims that nobody refers to have been so for long enough.
  [[nodiscard]] std::string followed() { return decided(placing_); }
  [[nodiscard]] std::string read_again() const {
    Placing fresh = empty();
    for (const auto& [plural, object] : objects_) take(fresh, plural, ChangeKind::kAdded, object);
    return decided(fresh);
  }

 private:
  static Placing empty() { return Placing({.own = {{testing::kToyDriver, std::nullopt}}}); }
  static void take(Placing& placing, const std::string& plural, ChangeKind kind, const std::string& text) {
    const auto object = json::parse_document(text, "test").value();
    placing.take(plural, {kind, identity_of(object).value(), object});
  }
  static std::string decided(Placing& placing) {
    for (const Resource& resource : followed_resources()) placing.note_listed(resource.plural);
    std::string text;
    for (const int second : {100, 106}) {
      for (const Action& action : placing.decide(Instant::at_second(second), kStandingWall)) {
        if (action.kind != ActionKind::kEvent) text += fmt::format("{} {}\n", word_of(action.kind), action.text);
      }
    }
    for (const auto& [node, room] : placing.used())
      text += fmt::format("{}: {} CPU, {} pods\n", node, room.cpu, room.pods);
    return text;
  }

  std::string name(const char* kind) { return fmt::format("{}{}", kind, rng_.below(kStandingNames)); }

  /// An object that is there stays in its place in the order of arrivals.
  void put(const Resource& resource, const std::string& text) {
    const std::string plural(resource.plural);
    const std::string its_name = identity_of(json::parse_document(text, "test").value()).value().name.name;
    for (auto& [other, object] : objects_) {
      if (other != plural || names_.at(object) != its_name) continue;
      object = text;
      names_[text] = its_name;
      return take(placing_, plural, ChangeKind::kModified, text);
    }
    objects_.emplace_back(plural, text);
    names_[text] = its_name;
    take(placing_, plural, ChangeKind::kAdded, text);
  }
  void remove(const Resource& resource, const std::string& its_name) {
    for (auto each = objects_.begin(); each != objects_.end(); ++each) {
      if (each->first != resource.plural || names_.at(each->second) != its_name) continue;
      const std::string text = each->second;
      objects_.erase(each);
      return take(placing_, std::string(resource.plural), ChangeKind::kDeleted, text);
    }
  }

  void put_pod() {
    std::string text = testing::gated_pod(name("p"), name("c"), ++version_);
    const auto kind = rng_.below(4);
    if (kind == 0) text.insert(text.find(R"("resourceClaims")"), R"("nodeName":"b",)");
    if (kind == 1) text.insert(text.size() - 1, R"(,"status":{"phase":"Succeeded"})");
    put(kPods, text);
  }
  void put_claim() {
    const std::string profile = fmt::format("{}g", 1 + rng_.below(3));
    const std::string node = rng_.below(2) == 0 ? "a" : "b";
    const std::string device = fmt::format("gpu-0-mig-{}-0", profile);
    const auto kind = rng_.below(3);
    std::string rest;
    if (kind == 2) {
      rest = fmt::format(R"(,"status":{{"allocation":{{"devices":{{"results":[{{"request":"slice","driver":"{}",)"
                         R"("pool":"{}","device":"{}"}}]}}}}}})",
                         testing::kToyDriver, node, device);
    }
    std::string text = testing::claim_on(name("c"), profile, ++version_, rest);
    if (kind > 0) {
      text.insert(std::string(R"({"metadata":{)").size(),
                  fmt::format(R"("annotations":{{"berth.dev/intent":"0 slice={}/{}/{}"}},)", testing::kToyDriver, node,
                              device));
    }
    put(kResourceClaims, text);
  }
  /// The node with its pool, or what there is of them.
  void change_node() {
    if (rng_.below(2) == 0) {
      put(kNodes, testing::ready_node("b"));
      put(kResourceSlices, testing::counters_slice("b"));
      return put(kResourceSlices, testing::devices_slice("b"));
    }
    remove(kResourceSlices, rng_.below(2) == 0 ? "b-counters" : "b-devices");
    if (rng_.below(2) == 0) remove(kNodes, "b");
  }

  Rng rng_;
  Placing placing_ = empty();
  std::vector<std::pair<std::string, std::string>> objects_;  ///< resource and text, in the order in which they came
  std::map<std::string, std::string> names_;                  ///< by text
  int version_ = 10;
};

TEST(Standing, IsWhatALookAtEverythingFinds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStanding cluster(seed);
    for (int i = 0; i < kStandingChanges; ++i) cluster.change();
    ASSERT_EQ(cluster.followed(), cluster.read_again()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace berth::kube
