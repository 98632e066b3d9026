// create, check, repair, compact.

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "store/edk2_check.h"
#include "store/edk2_create.h"
#include "store/image_lock.h"
#include "store/open_store.h"
#include "tools/arguments.h"
#include "tools/json.h"
#include "tools/output.h"

namespace efivarium::tools {
namespace {

struct Request {
  std::string store;
  std::string layout = "ovmf-4m";
  bool json = false;
};

int create(const Request& request) {
  const store::Edk2Layout* layout = store::layout_by_name(request.layout);
  if (layout == nullptr) {
    std::string names;
    for (const store::Edk2Layout& known : store::kEdk2Layouts)
      names += fmt::format(" {}", known.name);
    return complain("--layout " + request.layout, "unknown; there are" + names);
  }
  const Result<void> done = store::create_store(request.store, *layout);
  return done ? kDone : complain(request.store, done.error());
}

void print(const Request& request, const store::Report& report) {
  if (request.json) {
    Json findings = Json::array();
    for (const store::Finding& finding : report.findings) {
      findings.push_back({{"kind", store::to_text(finding.kind)},
                          {"offset", finding.offset},
                          {"text", json_text(finding.text)}});
    }
    const Json object = {{"format", report.format},
                         {"layout", report.layout},
                         {"sound", report.sound()},
                         {"findings", findings}};
    std::fputs(dump(object).c_str(), stdout);
    return;
  }
  for (const store::Finding& finding : report.findings) {
    fmt::print("{}: {:#x}: {}: {}\n", request.store, finding.offset, store::to_text(finding.kind),
               printable(finding.text));
  }
}

Result<std::unique_ptr<base::FileDevice>> open_locked(const std::string& path,
                                                      base::Access access) {
  EFIVARIUM_TRY(auto device, base::FileDevice::open(path, access));
  EFIVARIUM_TRY(store::lock_image(device->fd(), access));
  return device;
}

int check(const Request& request) {
  const auto device = open_locked(request.store, base::Access::kReadOnly);
  if (!device) return complain(request.store, device.error());
  const Result<store::Report> report = store::check_store(**device);
  if (!report) return complain(request.store, report.error());
  print(request, *report);
  if (report->sound() && !request.json)
    fmt::print("{}: sound, {}\n", request.store, report->layout);
  return report->sound() ? kDone : kFailed;
}

// The whole file as it was, beside it, durable; never over another.
Result<void> back_up(base::FileDevice& device, const std::string& path) {
  EFIVARIUM_TRY(const auto copy, base::FileDevice::create(path, device.size()));
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  for (std::uint64_t at = 0; at < device.size(); at += kPiece) {
    EFIVARIUM_TRY(const Bytes piece, device.read_bytes(at, std::min(kPiece, device.size() - at)));
    EFIVARIUM_TRY(copy->write(at, piece));
  }
  return copy->sync();
}

int repair(const Request& request) {
  const auto device = open_locked(request.store, base::Access::kReadWrite);
  if (!device) return complain(request.store, device.error());
  const Result<store::Report> before = store::check_store(**device);
  if (!before) return complain(request.store, before.error());
  const std::string backup = request.store + ".before-repair";
  const auto kind_of = &store::Finding::kind;
  const bool writes =
      !before->sound() && std::ranges::find(before->findings, store::FindingKind::kUnreadable,
                                            kind_of) == before->findings.end();
  if (writes) {
    const auto kept = back_up(**device, backup);
    if (!kept && kept.error().to_errno() == EEXIST) {
      return complain(backup,
                      Error(Code::kExists, "an earlier repair left it: move it away first"));
    }
    if (!kept) return complain(backup, kept.error());
  }
  const Result<store::Report> mended = store::repair_store(**device);
  if (!mended) return complain(request.store, mended.error());
  print(request, *mended);
  if (!request.json) {
    if (mended->sound()) {
      fmt::print("{}: sound, nothing to mend\n", request.store);
    } else {
      fmt::print("{}: mended; as it was: {}\n", request.store, backup);
    }
  }
  return kDone;
}

int compact(const Request& request) {
  const auto store = store::open_store(request.store, base::Access::kReadWrite);
  if (!store) return complain(request.store, store.error());
  const std::uint64_t gained = (*store)->space().unreclaimed;
  if (const auto done = (*store)->compact(); !done) return complain(request.store, done.error());
  if (request.json) {
    std::fputs(dump(Json{{"reclaimed", gained}}).c_str(), stdout);
  } else {
    fmt::print("{}: {} bytes given back\n", request.store, gained);
  }
  return kDone;
}

}  // namespace

void add_store_verbs(CLI::App& app, Job& job) {
  const auto request = std::make_shared<Request>();
  const auto verb = [&](const char* name, const char* text, int (*run)(const Request&)) {
    CLI::App* sub = app.add_subcommand(name, text);
    sub->add_option("STORE", request->store, "the store's file or block device")->required();
    sub->callback([&job, request, run] { job = [request, run] { return run(*request); }; });
    return sub;
  };
  const auto with_json = [&](CLI::App* sub) {
    sub->add_flag("--json", request->json, "print JSON");
  };
  verb("create", "make a blank store", create)
      ->add_option("--layout", request->layout,
                   "ovmf-2m, ovmf-4m (default), aavmf, riscv-virt, loongarch-virt");
  with_json(verb("check", "look for damage; exit 0 only where there is none", check));
  with_json(verb("repair", "mend damage; keeps the store as it was beside it", repair));
  with_json(verb("compact", "give back the space of deleted and replaced variables", compact));
}

}  // namespace efivarium::tools
