// probe CASE: runs a case file, line by line, in a mount namespace of its own whose root is a fresh
// tmpfs, and prints each line with what the kernel answered. README.md tells the language.
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kWords = 8, kNames = 16, kMounts = 256, kText = 1 << 16 };

// Descriptors under names: open files, and namespaces.
struct Named {
  char name[kNames][32];
  int fd[kNames];
  int count;
};

// Numbers as the kernel has them; the place tells what is printed for one.
struct Numbers {
  char text[kMounts][32];
  int count;
};

static struct Named files, namespaces;
static int proc;
static int line_number;

static _Noreturn void bad_case(const char* what) {
  fflush(stdout);
  errx(2, "line %d: %s", line_number, what);
}

static int place(const struct Named* in, const char* name) {
  for (int i = 0; i < in->count; ++i)
    if (strcmp(in->name[i], name) == 0) return i;
  bad_case("no such name");
}

static void keep(struct Named* in, const char* name, int fd) {
  if (in->count == kNames || strlen(name) >= sizeof in->name[0]) bad_case("too many or too long");
  strcpy(in->name[in->count], name);
  in->fd[in->count++] = fd;
}

static int forget(struct Named* in, const char* name) {
  int at = place(in, name);
  int fd = in->fd[at];
  --in->count;
  strcpy(in->name[at], in->name[in->count]);
  in->fd[at] = in->fd[in->count];
  return close(fd);
}

static int number(struct Numbers* in, const char* text) {
  for (int i = 0; i < in->count; ++i)
    if (strcmp(in->text[i], text) == 0) return i + 1;
  if (in->count == kMounts) bad_case("too many mounts");
  snprintf(in->text[in->count], sizeof in->text[0], "%s", text);
  return ++in->count;
}

static void print_result(int result) {
  printf(" -> %s\n", result < 0 ? strerrorname_np(errno) : "ok");
}

static void print_text(const char* text) { printf(" -> %s\n", *text ? text : "(empty)"); }

// ---- show ---------------------------------------------------------------------------------------

static void read_all(int fd, char* text) {
  size_t size = 0;
  for (ssize_t got; (got = read(fd, text + size, kText - 1 - size)) > 0;) size += (size_t)got;
  text[size] = 0;
}

// Only the options that a case can ask for.
static void print_options(char* options) {
  const char* comma = "";
  char* rest;
  for (char* word = strtok_r(options, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    if (strcmp(word, "ro") && strcmp(word, "rw") && strncmp(word, "size=", 5)) continue;
    printf("%s%s", comma, word);
    comma = ",";
  }
}

static void print_mounts(struct Numbers* devices, struct Numbers* groups) {
  static char text[kText], copy[kText];
  struct Numbers ids = {.count = 0};
  int fd = openat(proc, "self/mountinfo", O_RDONLY | O_CLOEXEC);
  if (fd < 0) err(2, "mountinfo");
  read_all(fd, text);
  close(fd);

  char *rest, *field;
  strcpy(copy, text);
  for (char* line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
    number(&ids, strtok_r(line, " ", &field));
  int shown = ids.count;

  for (char* line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    int id = number(&ids, strtok_r(line, " ", &field));
    int parent = number(&ids, strtok_r(NULL, " ", &field));
    int device = number(devices, strtok_r(NULL, " ", &field));
    char* root = strtok_r(NULL, " ", &field);
    char* where = strtok_r(NULL, " ", &field);
    printf("  %d %d %d %s %s ", id, parent > shown ? 0 : parent, device, root, where);
    print_options(strtok_r(NULL, " ", &field));
    for (char* word; strcmp(word = strtok_r(NULL, " ", &field), "-");) {
      char* colon = strchr(word, ':');
      if (colon) {
        printf(" %.*s:%d", (int)(colon - word), word, number(groups, colon + 1));
      } else {
        printf(" %s", word);
      }
    }
    char* type = strtok_r(NULL, " ", &field);
    printf(" - %s %s ", type, strtok_r(NULL, " ", &field));
    print_options(strtok_r(NULL, " ", &field));
    putchar('\n');
  }
}

// A child looks into other namespaces, since to enter one changes the root and working directory.
static void show(int count, char** names) {
  struct Numbers devices = {.count = 0}, groups = {.count = 0};
  putchar('\n');
  if (count == 0) {
    print_mounts(&devices, &groups);
    return;
  }
  fflush(stdout);
  pid_t child = fork();
  if (child < 0) err(2, "fork");
  if (child == 0) {
    for (int i = 0; i < count; ++i) {
      if (setns(namespaces.fd[place(&namespaces, names[i])], CLONE_NEWNS)) err(2, "setns");
      printf(" %s\n", names[i]);
      print_mounts(&devices, &groups);
    }
    fflush(stdout);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (status) exit(2);
}

// ---- files --------------------------------------------------------------------------------------

static int created(int fd) { return fd < 0 ? fd : close(fd); }

static int write_file(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, text, strlen(text)) < 0) return -1;
  return close(fd);
}

static void print_file(int fd) {
  char text[4096];
  ssize_t size = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
  if (size < 0) {
    print_result(-1);
  } else {
    text[size] = 0;
    print_text(text);
  }
}

static int visible(const struct dirent* entry) { return entry->d_name[0] != '.'; }

static void list(const char* path) {
  struct dirent** entries;
  int count = scandir(path, &entries, visible, alphasort);
  if (count < 0) {
    print_result(-1);
    return;
  }
  char text[4096] = "";
  for (int i = 0; i < count; ++i) {
    if (i) strcat(text, " ");
    strcat(text, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  print_text(text);
}

static void open_file(const char* name, const char* path, const char* how) {
  if (how && strcmp(how, "write")) bad_case("unknown way to open");
  int fd = open(path, (how ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  print_result(fd);
  if (fd >= 0) keep(&files, name, fd);
}

// ---- mounts -------------------------------------------------------------------------------------

static const struct {
  const char* name;
  unsigned long flags;
} kTypes[] = {
    {"shared", MS_SHARED},         {"rshared", MS_SHARED | MS_REC},
    {"private", MS_PRIVATE},       {"rprivate", MS_PRIVATE | MS_REC},
    {"slave", MS_SLAVE},           {"rslave", MS_SLAVE | MS_REC},
    {"unbindable", MS_UNBINDABLE}, {"runbindable", MS_UNBINDABLE | MS_REC},
};

// ro and rw become flags, and what is left the file system's own; "single" is the kind of it.
static int mount_with(const char* source, const char* path, unsigned long flags, char* options) {
  char data[256] = "";
  const char* type = "tmpfs";
  char* rest;
  for (char* word = strtok_r(options, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
    if (strcmp(word, "ro") == 0) {
      flags |= MS_RDONLY;
    } else if (strcmp(word, "single") == 0) {
      type = "mqueue";
    } else if (strcmp(word, "rw") != 0) {
      if (*data) strcat(data, ",");
      strncat(data, word, sizeof data - 2 - strlen(data));
    }
  }
  return mount(source, path, type, flags, data);
}

static int unmount(const char* path, int count, char** words) {
  int flags = 0;
  for (int i = 0; i < count; ++i) {
    if (strcmp(words[i], "force") == 0) {
      flags |= MNT_FORCE;
    } else if (strcmp(words[i], "lazy") == 0) {
      flags |= MNT_DETACH;
    } else if (strcmp(words[i], "expire") == 0) {
      flags |= MNT_EXPIRE;
    } else if (strcmp(words[i], "nofollow") == 0) {
      flags |= UMOUNT_NOFOLLOW;
    } else {
      bad_case("unknown flag");
    }
  }
  return umount2(path, flags);
}

static void keep_namespace(const char* name) {
  int fd = openat(proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (fd < 0) err(2, "ns/mnt");
  keep(&namespaces, name, fd);
}

static int clone_namespace(const char* name) {
  int result = unshare(CLONE_NEWNS);
  if (result == 0) keep_namespace(name);
  return result;
}

// ---- cases --------------------------------------------------------------------------------------

// rest: what follows the second word.
static void run(int count, char** words, const char* rest) {
  const char* call = words[0];
  const char* a = words[1];
  const char* b = words[2];
  char none[] = "";
#define CALL(name, least, most) \
  (strcmp(call, name) == 0 &&   \
   ((count >= (least) + 1 && count <= (most) + 1) || (bad_case("wrong number of words"), 0)))

  if (CALL("mkdir", 1, 1)) return print_result(mkdir(a, 0755));
  if (CALL("touch", 1, 1)) return print_result(created(open(a, O_WRONLY | O_CREAT, 0644)));
  if (CALL("rm", 1, 1)) return print_result(unlink(a));
  if (CALL("rmdir", 1, 1)) return print_result(rmdir(a));
  if (CALL("write", 2, kWords)) return print_result(write_file(a, rest));
  if (CALL("read", 1, 1)) {
    int fd = open(a, O_RDONLY);
    print_file(fd);
    if (fd >= 0) close(fd);
    return;
  }
  if (CALL("ls", 1, 1)) return list(a);
  if (CALL("cd", 1, 1)) return print_result(chdir(a));

  if (CALL("open", 2, 3)) return open_file(a, b, words[3]);
  if (CALL("close", 1, 1)) return print_result(forget(&files, a));
  if (CALL("cdfd", 1, 1)) return print_result(fchdir(files.fd[place(&files, a)]));
  if (CALL("readfd", 1, 1)) return print_file(files.fd[place(&files, a)]);
  if (CALL("writefd", 2, kWords)) {
    int fd = files.fd[place(&files, a)];
    ssize_t size = pwrite(fd, rest, strlen(rest), 0);
    return print_result(size < 0 ? -1 : ftruncate(fd, size));
  }

  if (CALL("mount", 2, 3)) return print_result(mount_with(a, b, 0, count == 4 ? words[3] : none));
  if (CALL("bind", 2, 2)) return print_result(mount(a, b, NULL, MS_BIND, NULL));
  if (CALL("rbind", 2, 2)) return print_result(mount(a, b, NULL, MS_BIND | MS_REC, NULL));
  if (CALL("move", 2, 2)) return print_result(mount(a, b, NULL, MS_MOVE, NULL));
  if (CALL("remount", 2, 2)) return print_result(mount_with(NULL, a, MS_REMOUNT, words[2]));
  if (CALL("remount-bind", 2, 2))
    return print_result(mount_with(NULL, a, MS_REMOUNT | MS_BIND, words[2]));
  if (CALL("umount", 1, 5)) return print_result(unmount(a, count - 2, words + 2));
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; ++i)
    if (CALL(kTypes[i].name, 1, 1))
      return print_result(mount(NULL, a, NULL, kTypes[i].flags, NULL));

  if (CALL("clone", 1, 1)) return print_result(clone_namespace(a));
  if (CALL("enter", 1, 1))
    return print_result(setns(namespaces.fd[place(&namespaces, a)], CLONE_NEWNS));
  if (CALL("drop", 1, 1)) return print_result(forget(&namespaces, a));
  if (CALL("show", 0, kWords - 1)) return show(count - 1, words + 1);
  bad_case("unknown operation");
#undef CALL
}

// Leaves nothing of the machine's own tree in the namespace but the hidden mount under every root.
static void make_root(void) {
  proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (proc < 0 || unshare(CLONE_NEWNS | CLONE_NEWIPC) ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
      mount("root", "/tmp", "tmpfs", 0, NULL) || chdir("/tmp") ||
      syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
    err(2, "making the root");
  umask(022);
  keep_namespace("main");
}

int main(int argc, char** argv) {
  static char text[kText];
  if (argc != 2) errx(2, "usage: probe CASE");
  int fd = open(argv[1], O_RDONLY);
  if (fd < 0) err(2, "%s", argv[1]);
  read_all(fd, text);
  close(fd);
  make_root();

  char* next = text;
  while (*next) {
    char* line = next;
    char* end = strchrnul(line, '\n');
    next = *end ? end + 1 : end;
    *end = 0;
    ++line_number;
    printf("%s", line);
    if (*line == 0 || *line == '#') {
      putchar('\n');
      continue;
    }
    static char copy[kText];
    char *words[kWords + 1] = {NULL}, *left;
    const char* second = strchrnul(line, ' ');
    second += *second == ' ';
    const char* rest = strchrnul(second, ' ');
    rest += *rest == ' ';
    strcpy(copy, line);
    int count = 0;
    for (char* word = strtok_r(copy, " ", &left); word; word = strtok_r(NULL, " ", &left)) {
      if (count == kWords) bad_case("too many words");
      words[count++] = word;
    }
    run(count, words, rest);
  }
  return 0;
}
