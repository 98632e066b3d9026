// ls, get, set, rm, df.

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "client/folder_backend.h"
#include "client/store_backend.h"
#include "efi/attributes_text.h"
#include "tools/arguments.h"
#include "tools/json.h"
#include "tools/output.h"

namespace efivarium::tools {
namespace {

using client::Backend;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;

struct Request {
  std::string where;
  std::string name;
  bool json = false;
  bool raw = false;
  bool append = false;
  std::string attributes = "nv,bs,rt";
  std::optional<std::string> data;
  std::optional<std::string> file;
};

// A folder holds files of efivarfs; anything else is a store.
Result<std::unique_ptr<Backend>> open_backend(const std::string& where, base::Access access) {
  struct stat status {};
  if (::stat(where.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    EFIVARIUM_TRY(std::unique_ptr<Backend> folder, client::FolderBackend::open(where));
    return folder;
  }
  EFIVARIUM_TRY(std::unique_ptr<Backend> store, client::StoreBackend::open(where, access));
  return store;
}

// Runs action(Backend&, const VariableKey&) and tells what went wrong with which.
template <typename Action>
int with_variable(const Request& request, base::Access access, const Action& action) {
  const Result<VariableKey> key = VariableKey::parse(request.name);
  if (!key) return complain(request.name, key.error());
  const auto backend = open_backend(request.where, access);
  if (!backend) return complain(request.where, backend.error());
  const Result<void> done = action(**backend, *key);
  return done ? kDone : complain(request.where + ": " + request.name, done.error());
}

int list(const Request& request) {
  const auto backend = open_backend(request.where, base::Access::kReadOnly);
  if (!backend) return complain(request.where, backend.error());
  Result<client::Listing> listing = (*backend)->list();
  if (!listing) return complain(request.where, listing.error());
  std::ranges::sort(listing->variables, {}, [](const Variable& variable) {
    return std::tie(variable.key.name, variable.key.vendor);
  });
  std::string text;
  if (request.json) {
    text = to_json(listing->variables);
  } else {
    for (const Variable& variable : listing->variables) text += to_line(variable);
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  for (const std::string& problem : listing->problems) complain(request.where, problem);
  return listing->problems.empty() ? kDone : kFailed;
}

int get(const Request& request) {
  return with_variable(request, base::Access::kReadOnly,
                       [&](Backend& backend, const VariableKey& key) -> Result<void> {
                         EFIVARIUM_TRY(const Variable variable, backend.read(key));
                         std::string text;
                         if (request.raw) {
                           text.assign(variable.data.begin(), variable.data.end());
                         } else if (request.json) {
                           text = to_json(variable);
                         } else {
                           text = to_line(variable) + hex_dump(variable.data);
                         }
                         std::fwrite(text.data(), 1, text.size(), stdout);
                         return {};
                       });
}

Result<Bytes> data_of(const Request& request) {
  if (request.data) return Bytes(request.data->begin(), request.data->end());
  const std::string& file = request.file.value_or("-");
  return base::read_file(file == "-" ? "/dev/stdin" : file, kLargestFile);
}

int set(const Request& request) {
  const Result<Attributes> attributes = efi::parse_attributes(request.attributes);
  if (!attributes) return complain("--attributes " + request.attributes, attributes.error());
  const Result<Bytes> data = data_of(request);
  if (!data) return complain(request.file.value_or("--data"), data.error());
  if (data->empty() && !request.append) {
    return complain(request.name,
                    std::string("no data: a variable is never empty, and rm removes it"));
  }
  return with_variable(
      request, base::Access::kReadWrite, [&](Backend& backend, const VariableKey& key) {
        return backend.write(
            key, *attributes, *data,
            request.append ? client::WriteMode::kAppend : client::WriteMode::kReplace);
      });
}

int remove(const Request& request) {
  return with_variable(
      request, base::Access::kReadWrite,
      [](Backend& backend, const VariableKey& key) { return backend.remove(key); });
}

int show_capacity(const Request& request) {
  const auto backend = open_backend(request.where, base::Access::kReadOnly);
  if (!backend) return complain(request.where, backend.error());
  const Result<client::Capacity> capacity = (*backend)->capacity();
  if (!capacity) return complain(request.where, capacity.error());
  if (request.json) {
    const Json object = {{"total", capacity->total},
                         {"used", capacity->used},
                         {"unreclaimed", capacity->unreclaimed},
                         {"free", capacity->free}};
    std::fputs(dump(object).c_str(), stdout);
  } else {
    fmt::print("{:>9} {:>9} {:>12} {:>9}  bytes\n{:>9} {:>9} {:>12} {:>9}  {}\n", "total", "used",
               "unreclaimed", "free", capacity->total, capacity->used, capacity->unreclaimed,
               capacity->free, request.where);
  }
  return kDone;
}

}  // namespace

void add_variable_verbs(CLI::App& app, Job& job) {
  const auto request = std::make_shared<Request>();
  const auto verb = [&](const char* name, const char* text, int (*run)(const Request&)) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->add_option("STORE", request->where,
                    "a store's file or block device, or a folder in efivarfs form, mounted or not")
        ->required();
    sub->callback([&job, request, run] { job = [request, run] { return run(*request); }; });
    return sub;
  };
  const auto named = [&](CLI::App* sub) {
    sub->add_option("NAME", request->name, "NAME-GUID of the variable")->required();
    return sub;
  };
  const auto with_json = [&](CLI::App* sub) {
    sub->add_flag("--json", request->json, "print JSON");
    return sub;
  };
  with_json(verb("ls", "list the variables: attributes, size, name", list));
  CLI::App* get_verb = with_json(named(verb("get", "print a variable", get)));
  get_verb->add_flag("--raw", request->raw, "print the data alone, as it is")->excludes("--json");
  CLI::App* set_verb = named(verb("set", "create or change a variable", set));
  set_verb->add_option("--attributes", request->attributes,
                       "of nv, bs, rt, hr, aw, at, ap, ea, 0x..., with commas (default: nv,bs,rt)");
  set_verb->add_flag("--append", request->append, "add the data to what is there");
  CLI::Option_group* source = set_verb->add_option_group("data");
  source->add_option("--data", request->data, "the text, as it is");
  source->add_option("--file", request->file, "what the file holds; - is standard input");
  source->require_option(1);
  named(verb("rm", "remove a variable", remove));
  with_json(verb("df", "show the space: total, used, waiting for reclaim, free", show_capacity));
}

}  // namespace efivarium::tools
