// What the verbs print.
#pragma once

#include <string>
#include <vector>

#include "base/byte_reader.h"
#include "efivarium/variable.h"

namespace efivarium::tools {

enum class Form : std::uint8_t { kText, kJson };

// Exit codes that scripts may rely on.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUsage = 2;

// One line on stderr: "efivarium: WHAT: WHY". Returns kFailed.
int complain(const std::string& what, const Error& error);
int complain(const std::string& what, const std::string& why);

// The same for a wrong command line. Returns kWrongUsage.
int complain_usage(const std::string& why);

// A line a variable: attributes, size of the data, NAME-GUID. Control characters are escaped.
std::string to_line(const Variable& variable);
// 16 bytes a line: offset, hex, text.
std::string hex_dump(ByteView bytes);

enum class Detail : std::uint8_t { kSummary, kWithData };
// docs/json.md: the array of `ls --json`, and the object of `get --json`.
std::string to_json(const std::vector<Variable>& variables);
std::string to_json(const Variable& variable);

// name as it may stand on a terminal.
std::string printable(const std::string& text);

}  // namespace efivarium::tools
