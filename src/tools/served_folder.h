// ServedFolder: the stores of a folder, each as a file system of its own, as files come and go.
#pragma once

#include <functional>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "tools/namespace_control.h"

namespace efivarium::tools {

// A namespace whose root has a folder for every file of the served one, named as the file, with the
// store mounted on it. What is no store that can be served is an empty read-only file system that
// says why. Files whose name begins with a dot, and folders, are left out.
class ServedFolder {
 public:
  // Called now and then, on the caller's thread: how many stores are open, of how many.
  using Progress = std::function<void(std::size_t, std::size_t)>;

  // kSystem where the folder cannot be read or watched; kInvalidParameter for an option of
  // of_server.
  static Result<std::unique_ptr<ServedFolder>> open(const std::string& folder,
                                                    const MountOptions& options,
                                                    const Progress& progress);
  vfs::MountNamespace& names() const { return control_.names(); }
  NamespaceControl& control() { return control_; }

  // While the thread runs, a file that appears is served, one that goes is not any more, and one
  // that could not be served is tried again when somebody has written it. The server tells the
  // kernel.
  std::jthread follow(fuse::Server& server);

 private:
  ServedFolder(std::string folder, std::shared_ptr<vfs::MountNamespace> names,
               const MountOptions& options);

  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  Result<std::vector<std::string>> files() const;
  Result<void> watch();
  // The store's file system, or one that says why there is none.
  vfs::Ref<Efivarfs> open(const std::string& name) const;
  std::vector<vfs::Ref<Efivarfs>> open_all(const std::vector<std::string>& files,
                                           const Progress& progress) const;
  void mount(const std::string& name, vfs::Ref<Efivarfs> store);
  // What is seen in the root under that name, if anything is.
  vfs::MountRef mounted_at(const std::string& name) const;
  void appear(const std::string& name, bool is_another_file);
  void disappear(const std::string& name);
  void rescan();
  void run(const std::stop_token& stop);
  bool take_events();
  void tell(const std::string& name);
  static void unmount(vfs::MountNamespace& names, vfs::MountRef mount);

  const std::string folder_;
  NamespaceControl control_;
  base::UniqueFd inotify_;
  base::UniqueFd stop_;  // an eventfd
  fuse::Server* server_ = nullptr;
};

}  // namespace efivarium::tools
