// Result<T>: a value, or the Error that stands in its way.
#pragma once

#include <expected>
#include <utility>

#include "efivarium/error.h"

namespace efivarium {

template <typename T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, const char* text) {
  return std::unexpected(Error(code, text));
}
inline std::unexpected<Error> fail_at(Code code, const char* text, std::uint64_t offset) {
  return std::unexpected(Error(code, text).at(offset));
}

}  // namespace efivarium
