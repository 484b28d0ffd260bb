// Result<T>: a value or an Error. L0-L3 must build with a compiler alone, so this is not tl::expected.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/assert.hpp"
#include "base/error.hpp"

namespace cuzk {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & {
    CUZK_ASSERT(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    CUZK_ASSERT(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    CUZK_ASSERT(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() & {
    CUZK_ASSERT(!ok());
    return *std::get_if<1>(&state_);
  }
  const Error& error() const& {
    CUZK_ASSERT(!ok());
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    CUZK_ASSERT(!ok());
    return std::move(*std::get_if<1>(&state_));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  Error& error() & {
    CUZK_ASSERT(!ok());
    return *error_;
  }
  const Error& error() const& {
    CUZK_ASSERT(!ok());
    return *error_;
  }
  Error&& error() && {
    CUZK_ASSERT(!ok());
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace cuzk

// Returns the error of a Result or Status expression from the enclosing function.
#define CUZK_TRY(expression)                                              \
  do {                                                                    \
    auto cuzk_try_result = (expression);                                  \
    if (!cuzk_try_result.ok()) return std::move(cuzk_try_result).error(); \
  } while (0)

#define CUZK_CONCAT_INNER(a, b) a##b
#define CUZK_CONCAT(a, b) CUZK_CONCAT_INNER(a, b)
// CUZK_ASSIGN(auto x, f()): x is f()'s value, or the enclosing function returns f()'s error.
#define CUZK_ASSIGN(declaration, expression) \
  CUZK_ASSIGN_INNER(declaration, expression, CUZK_CONCAT(cuzk_result_, __LINE__))
#define CUZK_ASSIGN_INNER(declaration, expression, name) \
  auto name = (expression);                              \
  if (!name.ok()) return std::move(name).error();        \
  declaration = std::move(name).value()
