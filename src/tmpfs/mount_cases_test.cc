// Replays tests/oracle/mounts: what Linux did with mounts, propagation and namespaces, and what is
// done here, line by line.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tmpfs/superblock.h"
#include "vfs/calls.h"

namespace efivarium::tmpfs {
namespace {

using vfs::Credentials;
using vfs::File;
using vfs::MountNamespace;
using vfs::Path;
using vfs::PropagationType;
using vfs::Ref;
using Words = std::vector<std::string>;

const std::filesystem::path kFolder = "tests/oracle/mounts";
const Credentials kRoot{};

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string name_of(int error) { return error == 0 ? "ok" : ::strerrorname_np(error); }
template <typename T>
std::string name_of(const Result<T>& result) {
  return name_of(result ? 0 : result.error().to_errno());
}

// A file system of which there is one alone.
class Single final : public Tmpfs {
 public:
  Single() : Tmpfs(01777) {}
  std::string_view type() const override { return "mqueue"; }
};

// The numbers of what is printed, from 1 on, in the order of their appearance.
class Numbers {
 public:
  std::uint64_t of(std::uint64_t number) {
    return numbers_.emplace(number, numbers_.size() + 1).first->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> numbers_;
};

// A process, with what it has open.
class Process {
 public:
  Process() {
    names_ = MountNamespace::create(*Tmpfs::make(), "root");
    namespaces_["main"] = names_;
    root_ = directory_ = names_->root();
  }

  std::string run(const std::string& line) {
    if (line.empty() || line.front() == '#') return line + "\n";
    Words words;
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
    const std::size_t second = line.find(' ');
    const std::size_t third = second == std::string::npos ? second : line.find(' ', second + 1);
    rest_ = third == std::string::npos ? "" : line.substr(third + 1);
    if (words[0] == "show") return line + "\n" + show(words);
    std::string answer = act(words);
    return line + " -> " + (answer.empty() ? "(empty)" : answer) + "\n";
  }

 private:
  struct Place {
    Path folder;
    std::string name;
  };

  Result<Path> walk(const std::string& path) const {
    return names_->table().walk(root_, path.starts_with('/') ? root_ : directory_, path);
  }
  // What a mount or an unmount is to happen to.
  Result<Path> target(const std::string& path) const {
    EFIVARIUM_TRY(Path found, walk(path));
    return names_->table().follow(std::move(found));
  }
  Result<Place> parent(const std::string& path) const {
    const std::size_t slash = path.rfind('/') + 1;
    EFIVARIUM_TRY(Path folder, walk(path.substr(0, slash)));
    return Place{std::move(folder), path.substr(slash)};
  }
  Result<Ref<File>> open(const std::string& path, int flags) const {
    if ((flags & O_CREAT) == 0) {
      EFIVARIUM_TRY(const Path found, walk(path));
      return vfs::open_file(found, flags, kRoot);
    }
    EFIVARIUM_TRY(const Place place, parent(path));
    return vfs::create_file(place.folder, place.name, flags, 0644, kRoot);
  }
  static std::string content(const Ref<File>& file) {
    std::string text;
    vfs::read_file(file, 0, 4096, [&](Result<Bytes> bytes) {
      text = bytes ? std::string(bytes->begin(), bytes->end()) : name_of(bytes);
    });
    return text;
  }
  static Result<void> put(const Ref<File>& file, const std::string& text) {
    Result<void> done;
    EFIVARIUM_TRY(vfs::resize_file(*file, 0));
    vfs::write_file(file, 0, Bytes(text.begin(), text.end()),
                    [&](Result<void> result) { done = result; });
    return done;
  }

  std::string act(const Words& words) {
    const std::string& call = words[0];
    const auto has = [&](const char* word) {
      return std::find(words.begin() + 2, words.end(), word) != words.end();
    };
    if (call == "mkdir")
      return name_of(on_parent(words[1], [](const Place& at) {
        return vfs::make_folder(at.folder, at.name, 0755, kRoot);
      }));
    if (call == "rmdir")
      return name_of(on_parent(
          words[1], [](const Place& at) { return vfs::remove_folder(at.folder, at.name, kRoot); }));
    if (call == "rm")
      return name_of(on_parent(words[1], [](const Place& at) {
        Result<void> done;
        vfs::unlink_file(at.folder, at.name, kRoot, [&](Result<void> result) { done = result; });
        return done;
      }));
    if (call == "touch") return name_of(closed(open(words[1], O_WRONLY | O_CREAT)));
    if (call == "write") {
      const auto file = open(words[1], O_WRONLY | O_CREAT | O_TRUNC);
      if (!file) return name_of(file);
      const Result<void> done = put(*file, rest_);
      vfs::release_file(*file);
      return name_of(done);
    }
    if (call == "read") {
      const auto file = open(words[1], O_RDONLY);
      if (!file) return name_of(file);
      std::string text = content(*file);
      vfs::release_file(*file);
      return text;
    }
    if (call == "ls") return list(words[1]);
    if (call == "cd") {
      auto found = walk(words[1]);
      if (found) directory_ = *found;
      return name_of(found);
    }
    if (call == "cdfd") {
      directory_ = files_.at(words[1])->path();
      return "ok";
    }
    if (call == "open") {
      auto file = open(words[2], words.size() > 3 ? O_RDWR : O_RDONLY);
      if (file) files_[words[1]] = *file;
      return name_of(file);
    }
    if (call == "close") {
      vfs::release_file(files_.at(words[1]));
      files_.erase(words[1]);
      return "ok";
    }
    if (call == "readfd") return content(files_.at(words[1]));
    if (call == "writefd") return name_of(put(files_.at(words[1]), rest_));
    if (call == "mount") return name_of(mount(words));
    if (call == "bind" || call == "rbind")
      return name_of(bind(words[1], words[2], call == "rbind"));
    if (call == "move") return name_of(move(words[1], words[2]));
    if (call == "umount")
      return name_of(umount(words[1], has("lazy"), has("expire"), has("force")));
    if (call == "remount") return name_of(remount(words[1], words[2]));
    if (call == "remount-bind") return name_of(remount_bind(words[1], words[2]));
    if (call == "clone") {
      const std::array places = {&root_, &directory_};
      names_ = namespaces_[words[1]] = names_->clone(places);
      return "ok";
    }
    if (call == "enter") {
      names_ = namespaces_.at(words[1]);
      root_ = directory_ = names_->table().follow(names_->root());
      return "ok";
    }
    if (call == "drop") {
      namespaces_.erase(words[1]);
      return "ok";
    }
    return name_of(set_type(call, words[1]));
  }

  template <typename Act>
  auto on_parent(const std::string& path, const Act& act_on) const -> decltype(act_on(Place())) {
    const Result<Place> place = parent(path);
    if (!place) return std::unexpected(place.error());
    return act_on(*place);
  }
  static Result<void> closed(const Result<Ref<File>>& file) {
    if (!file) return std::unexpected(file.error());
    vfs::release_file(*file);
    return {};
  }
  std::string list(const std::string& path) const {
    const auto found = walk(path);
    if (!found) return name_of(found);
    if (!found->dentry->inode().is_directory()) return "ENOTDIR";
    std::vector<std::string> names;
    found->mount->superblock().list(*found->dentry, ~std::uint64_t{0},
                                    [&](const Ref<vfs::Dentry>& dentry) {
                                      names.push_back(dentry->name());
                                      return true;
                                    });
    std::ranges::sort(names);
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
    return text;
  }

  Result<void> mount(const Words& words) {
    std::string own;
    bool read_only = false, single = false;
    std::istringstream options(words.size() > 3 ? words[3] : "");
    for (std::string option; std::getline(options, option, ',');) {
      if (option == "ro") {
        read_only = true;
      } else if (option == "single") {
        single = true;
      } else if (option != "rw") {
        own += (own.empty() ? "" : ",") + option;
      }
    }
    EFIVARIUM_TRY(const Path at, target(words[2]));
    if (single) {
      if (!single_) single_ = Ref<Single>::adopt(new Single());
      return names_->mount(Ref<vfs::Superblock>(Ref<Single>(single_)), words[1], at, read_only);
    }
    EFIVARIUM_TRY(Ref<Tmpfs> made, Tmpfs::make(own));
    made->set_read_only(read_only);
    return names_->mount(std::move(made), words[1], at, read_only);
  }
  Result<void> bind(const std::string& from, const std::string& to, bool recursive) {
    EFIVARIUM_TRY(const Path at, target(to));
    EFIVARIUM_TRY(const Path source, walk(from));
    return names_->bind(source, at, recursive);
  }
  Result<void> move(const std::string& from, const std::string& to) {
    EFIVARIUM_TRY(const Path at, target(to));
    EFIVARIUM_TRY(const Path source, walk(from));
    return names_->move(source, at);
  }
  Result<void> umount(const std::string& path, bool lazy, bool expire, bool force) {
    EFIVARIUM_TRY(Path at, target(path));
    return names_->umount(std::move(at), {lazy, expire, force, root_.mount.get()});
  }
  Result<void> remount(const std::string& path, const std::string& options) {
    EFIVARIUM_TRY(const Path at, walk(path));
    return names_->remount(at, options.find("ro") == std::string::npos ? options + ",rw" : options);
  }
  Result<void> remount_bind(const std::string& path, const std::string& options) {
    EFIVARIUM_TRY(const Path at, walk(path));
    return names_->remount_bind(at, options.find("ro") != std::string::npos);
  }
  Result<void> set_type(const std::string& call, const std::string& path) {
    static const std::map<std::string, PropagationType> kTypes = {
        {"shared", PropagationType::kShared},
        {"private", PropagationType::kPrivate},
        {"slave", PropagationType::kSlave},
        {"unbindable", PropagationType::kUnbindable}};
    const bool recursive = !kTypes.contains(call);
    EFIVARIUM_TRY(const Path at, walk(path));
    return names_->set_propagation(at, kTypes.at(recursive ? call.substr(1) : call), recursive);
  }

  std::string show(const Words& words) const {
    Numbers devices, groups;
    if (words.size() == 1) return mounts_of(*names_, root_, devices, groups);
    std::string text;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const MountNamespace& names = *namespaces_.at(words[i]);
      text += " " + words[i] + "\n" +
              mounts_of(names, names.table().follow(names.root()), devices, groups);
    }
    return text;
  }
  static std::string mounts_of(const MountNamespace& names, const Path& root, Numbers& devices,
                               Numbers& groups) {
    const std::vector<vfs::MountInfo> all = names.list(root);
    std::map<std::uint64_t, std::uint64_t> ids;
    for (const vfs::MountInfo& info : all) ids.emplace(info.id, ids.size() + 1);
    std::string text;
    for (vfs::MountInfo info : all) {
      info.id = ids.at(info.id);
      info.parent = ids.contains(info.parent) ? ids.at(info.parent) : 0;
      info.superblock = devices.of(info.superblock);
      for (std::uint64_t* const group : {&info.shared, &info.master, &info.propagates_from}) {
        if (*group != 0) *group = groups.of(*group);
      }
      std::string line = info.to_text();
      line.erase(line.find(" 0:") + 1, 2);
      text += "  " + line + "\n";
    }
    return text;
  }

  std::shared_ptr<MountNamespace> names_;
  std::map<std::string, std::shared_ptr<MountNamespace>> namespaces_;
  Path root_, directory_;
  std::map<std::string, Ref<File>> files_;
  Ref<Single> single_;
  std::string rest_;
};

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder / "cases")) {
    names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

class MountCase : public testing::TestWithParam<std::string> {};

TEST_P(MountCase, IsAnsweredAsByLinux) {
  std::istringstream lines(read_text(kFolder / "cases" / (GetParam() + ".case")));
  Process process;
  std::string printed;
  for (std::string line; std::getline(lines, line);) printed += process.run(line);
  EXPECT_EQ(printed, read_text(kFolder / "expected" / (GetParam() + ".txt")));
}

INSTANTIATE_TEST_SUITE_P(Linux, MountCase, testing::ValuesIn(cases()), [](const auto& tested) {
  std::string name = tested.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

}  // namespace
}  // namespace efivarium::tmpfs
