/// A value that readers may keep while its owner continues to change it: a copy costs a pointer.
#pragma once

#include <memory>
#include <utility>

namespace berth {

/// Copies share the value until one of them is changed; that one then gets a value of its own first. Two threads may
/// use two copies, as with any other values. Not for concurrent use of one copy, and making a copy is a use of the
/// original.
template <class T>
class SharedValue {
 public:
  explicit SharedValue(T value = T()) : value_(std::make_shared<T>(std::move(value))) {}
  SharedValue(const SharedValue& other) : value_(other.value_), is_shared_(true) { other.is_shared_ = true; }
  SharedValue(SharedValue&& other) noexcept = default;
  SharedValue& operator=(const SharedValue& other) {
    if (this == &other) return *this;
    value_ = other.value_;
    is_shared_ = true;
    other.is_shared_ = true;
    return *this;
  }
  SharedValue& operator=(SharedValue&& other) noexcept = default;
  ~SharedValue() = default;

  [[nodiscard]] const T& operator*() const { return *value_; }
  [[nodiscard]] const T* operator->() const { return value_.get(); }

  /// Write access to the value. O(1); the first call after it was shared copies the value.
  [[nodiscard]] T& change() {
    if (is_shared_) value_ = std::make_shared<T>(std::as_const(*value_));
    is_shared_ = false;
    return *value_;
  }

 private:
  std::shared_ptr<T> value_;
  // True once shared, even if no copy is left: the release of a copy by a reader cannot be observed safely.
  mutable bool is_shared_ = false;
};

}  // namespace berth
