/// How many series a scrape may have, and which label sets have series of their own.
#pragma once

#include <cstddef>
#include <set>

namespace berth::metrics {

class SeriesBudget {
 public:
  explicit SeriesBudget(std::size_t series_max) : left_(series_max) {}

  /// Takes so many series, if as many are left. They never come back: what did not fit once does not fit later.
  [[nodiscard]] bool take(std::size_t count) {
    if (count > left_) return false;
    left_ -= count;
    return true;
  }
  [[nodiscard]] std::size_t left() const { return left_; }

 private:
  std::size_t left_;
};

/// The label sets that have series of their own: those that came first. None changes sides.
template <class Key>
class ListedKeys {
 public:
  /// Whether the key is listed; one that is new takes so many series, if it can. Requires: `series` is always the same
  /// for these keys.
  [[nodiscard]] bool admit(const Key& key, SeriesBudget& budget, std::size_t series) {
    if (keys_.contains(key)) return true;
    if (!budget.take(series)) return false;
    keys_.insert(key);
    return true;
  }
  [[nodiscard]] const std::set<Key, std::less<>>& keys() const { return keys_; }

 private:
  std::set<Key, std::less<>> keys_;
};

}  // namespace berth::metrics
