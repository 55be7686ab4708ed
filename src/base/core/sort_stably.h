/// Sorting by a key, where equal keys keep their order. Not std::stable_sort: libstdc++ 12 implements it with a
/// function that C++17 deprecates, which clang reports and -Werror turns into an error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace berth {

/// Sorts ascending by `less` of the keys. O(n log n), one key per value. Requires: `less` is a strict weak order.
template <class T, class Key, class Less = std::less<>>
void sort_stably(std::vector<T>& values, const Key& key, const Less& less = {}) {
  using KeyOf = std::decay_t<std::invoke_result_t<const Key&, const T&>>;
  std::vector<std::pair<KeyOf, std::size_t>> order;
  order.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) order.emplace_back(std::invoke(key, values[i]), i);
  std::ranges::sort(order, [&](const auto& a, const auto& b) {
    if (less(a.first, b.first)) return true;
    return !less(b.first, a.first) && a.second < b.second;
  });
  std::vector<T> sorted;
  sorted.reserve(values.size());
  for (const auto& [unused, index] : order) sorted.push_back(std::move(values[index]));
  values = std::move(sorted);
}

}  // namespace berth
