// EFIVARIUM_TRY: go on with the value, or return the error to the caller.
#pragma once

#include <utility>

#include "efivarium/result.h"

#define EFIVARIUM_CONCAT_(a, b) a##b
#define EFIVARIUM_CONCAT(a, b) EFIVARIUM_CONCAT_(a, b)

#define EFIVARIUM_TRY_2(result, declaration, expression)          \
  auto result = (expression);                                     \
  if (!result) return std::unexpected(std::move(result).error()); \
  declaration = *std::move(result)
#define EFIVARIUM_TRY_1(result, expression) \
  if (auto result = (expression); !result) return std::unexpected(std::move(result).error())
#define EFIVARIUM_TRY_PICK(_1, _2, name, ...) name

// EFIVARIUM_TRY(auto value, expression); or, for Result<void>, EFIVARIUM_TRY(expression);
#define EFIVARIUM_TRY(...)                                                    \
  EFIVARIUM_TRY_PICK(__VA_ARGS__, EFIVARIUM_TRY_AND_BIND, EFIVARIUM_TRY_ONLY) \
  (__VA_ARGS__)
#define EFIVARIUM_TRY_AND_BIND(declaration, expression) \
  EFIVARIUM_TRY_2(EFIVARIUM_CONCAT(try_result_, __COUNTER__), declaration, expression)
#define EFIVARIUM_TRY_ONLY(expression) \
  EFIVARIUM_TRY_1(EFIVARIUM_CONCAT(try_result_, __COUNTER__), expression)
