// Secret<T>: a value that is cleared when it goes out of scope and cannot be printed or copied by accident.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace cuzk {

// Overwrites memory in a way that the compiler may not remove.
void secure_clear(void* data, size_t size_bytes);

template <class T>
class Secret {
  static_assert(std::is_trivially_copyable_v<T>, "a Secret's bytes are overwritten");

 public:
  Secret() = default;
  explicit Secret(const T& value) : value_(value) {}
  Secret(Secret&& other) noexcept : value_(other.value_) { other.clear(); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      value_ = other.value_;
      other.clear();
    }
    return *this;
  }
  Secret(const Secret&) = delete;
  Secret& operator=(const Secret&) = delete;
  ~Secret() { clear(); }

  const T& expose() const { return value_; }
  T& expose() { return value_; }
  void clear() { secure_clear(&value_, sizeof value_); }

 private:
  T value_{};
};

}  // namespace cuzk
