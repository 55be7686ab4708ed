/// A list of values that copies of the list share: a copy costs a pointer per value, and changing a value of one list
/// copies only that value. For large specifications that are read often and changed seldom.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace berth {

/// Behaves like std::vector<T> with the functions below. Reading through a const list never copies a value; access
/// through a list that is not const counts as a change. Two threads may use two lists that share values, as with any
/// other values. Not for concurrent use of one list.
template <class T>
class SharedList {
  struct Place {
    std::shared_ptr<T> value;
    bool is_changeable = true;  ///< made by a list; otherwise the value may be a constant
    friend bool operator==(const Place& a, const Place& b) { return a.value == b.value; }
  };

  template <bool kIsConst>
  class Iterator {
    using List = std::conditional_t<kIsConst, const SharedList, SharedList>;

   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using reference = std::conditional_t<kIsConst, const T&, T&>;
    using pointer = std::conditional_t<kIsConst, const T*, T*>;

    Iterator() = default;
    Iterator(List* list, difference_type at) : list_(list), at_(at) {}

    reference operator*() const { return (*list_)[static_cast<std::size_t>(at_)]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type by) const { return *(*this + by); }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return std::exchange(*this, *this + 1); }
    Iterator operator--(int) { return std::exchange(*this, *this - 1); }
    Iterator& operator+=(difference_type by) {
      at_ += by;
      return *this;
    }
    Iterator& operator-=(difference_type by) { return *this += -by; }
    friend Iterator operator+(Iterator it, difference_type by) { return it += by; }
    friend Iterator operator+(difference_type by, Iterator it) { return it += by; }
    friend Iterator operator-(Iterator it, difference_type by) { return it += -by; }
    friend difference_type operator-(const Iterator& a, const Iterator& b) { return a.at_ - b.at_; }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }
    friend auto operator<=>(const Iterator& a, const Iterator& b) { return a.at_ <=> b.at_; }

   private:
    List* list_ = nullptr;
    difference_type at_ = 0;
  };

 public:
  using value_type = T;
  using iterator = Iterator<false>;
  using const_iterator = Iterator<true>;

  SharedList() = default;
  SharedList(std::initializer_list<T> values) : SharedList(std::vector<T>(values)) {}
  SharedList(std::vector<T> values) {  // NOLINT(google-explicit-constructor): a list of the same values
    values_.reserve(values.size());
    for (T& value : values) push_back(std::move(value));
  }

  [[nodiscard]] std::size_t size() const { return values_.size(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const T& operator[](std::size_t index) const { return *values_[index].value; }
  [[nodiscard]] T& operator[](std::size_t index) {
    Place& place = values_[index];
    if (!place.is_changeable || place.value.use_count() > 1) {
      place = {.value = std::make_shared<T>(std::as_const(*place.value))};
    } else {
      // Another thread may just have released it: its reads must happen before our writes.
      std::atomic_thread_fence(std::memory_order_acquire);
    }
    return *place.value;
  }
  [[nodiscard]] const T& front() const { return (*this)[0]; }
  [[nodiscard]] T& front() { return (*this)[0]; }
  [[nodiscard]] const T& back() const { return (*this)[size() - 1]; }
  [[nodiscard]] T& back() { return (*this)[size() - 1]; }

  [[nodiscard]] const_iterator begin() const { return {this, 0}; }
  [[nodiscard]] const_iterator end() const { return {this, std::ssize(values_)}; }
  [[nodiscard]] iterator begin() { return {this, 0}; }
  [[nodiscard]] iterator end() { return {this, std::ssize(values_)}; }

  /// The value itself, which lives as long as a pointer or a list shares it.
  [[nodiscard]] std::shared_ptr<const T> share(std::size_t index) const { return values_[index].value; }
  /// Replaces the value at `index`. Lists that share the old value keep it unchanged.
  void set(std::size_t index, T value) { values_[index] = {.value = std::make_shared<T>(std::move(value))}; }
  /// Likewise, sharing the value with its other owners instead of copying it. Requires: not null. If `index` is the
  /// size, the list grows by one.
  void set_shared(std::size_t index, std::shared_ptr<const T> value) {
    if (index == values_.size()) values_.emplace_back();
    // Never changed through this pointer.
    values_[index] = {.value = std::const_pointer_cast<T>(std::move(value)), .is_changeable = false};
  }
  void push_back(T value) { values_.push_back({.value = std::make_shared<T>(std::move(value))}); }
  T& emplace_back() {
    push_back(T());
    return back();
  }
  void pop_back() { values_.pop_back(); }
  void clear() { values_.clear(); }
  /// New values are copies of `value`.
  void resize(std::size_t size, const T& value = T()) {
    if (size < values_.size()) values_.resize(size);
    while (values_.size() < size) push_back(value);
  }

  /// Whether two lists share the value at an index: it was changed in neither since one was copied from the other.
  [[nodiscard]] bool shares(const SharedList& other, std::size_t index) const {
    return values_[index] == other.values_[index];
  }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t index = 0; index < a.size(); ++index) {
      if (!a.shares(b, index) && !(a[index] == b[index])) return false;
    }
    return true;
  }

 private:
  std::vector<Place> values_;
};

}  // namespace berth
