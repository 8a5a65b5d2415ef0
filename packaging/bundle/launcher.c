// What all of a bundle's bin/ leads to: starts the program of its name in libexec/ with the bundle's
// libraries.
//
// It is linked statically, so that it starts where there is neither a C library nor a shell. A program is
// started through the loader of the newer C library, the host's or the bundle's: drivers of the host may need
// the host's, and the bundle's programs need no older one than theirs. Its libraries are named to that loader
// alone: an LD_LIBRARY_PATH would reach what the program starts of the host.
//
// GLIBC_MINOR and GLIBCXX_MINOR are those of the bundle, as fabricmark_bundle.py gives them.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kHostLoader[] = "/lib64/ld-linux-x86-64.so.2";
#ifndef VENDORS  // a test has others
#define VENDORS "/etc/OpenCL/vendors"
#endif
static const char kVendors[] = VENDORS;
enum { kEnvironmentFault = 3, kMostDrivers = 64 };

static char* root;  // the bundle's folder

static void fail(const char* what, const char* remedy) {
  fprintf(stderr, "bundle: error: %s; %s\n", what, remedy);
  exit(kEnvironmentFault);
}

__attribute__((format(printf, 1, 2))) static char* text(const char* format, ...) {
  char* made = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&made, format, arguments) < 0) fail("no memory", "free some");
  va_end(arguments);
  return made;
}

// The largest number that follows `before` anywhere in a file; -1 where there is none, or no file.
static int largest_after(const char* path, const char* before) {
  int largest = -1;
  struct stat status;
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  if (fstat(file, &status) == 0 && status.st_size > 0) {
    const size_t size = (size_t)status.st_size;
    const char* content = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (content != MAP_FAILED) {
      const char *end = content + size, *at = content;
      while ((at = memmem(at, (size_t)(end - at), before, strlen(before))) != NULL) {
        int number = 0, digits = 0;
        for (at += strlen(before); at < end && isdigit((unsigned char)*at) && digits < 5; ++at, ++digits)
          number = 10 * number + (*at - '0');
        if (digits > 0 && number > largest) largest = number;
      }
      munmap((void*)content, size);
    }
  }
  close(file);
  return largest;
}

static int host_has_newer_gcc_libraries(void) {
  static const char* const places[] = {
      "/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64", "/usr/lib", "/lib"};
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
    if (largest_after(text("%s/libstdc++.so.6", places[i]), "GLIBCXX_3.4.") > GLIBCXX_MINOR) return 1;
  return 0;
}

static int starts_with(const char* word, const char* start) {
  return strncmp(word, start, strlen(start)) == 0;
}

static void set_path(const char* front) {
  const char* old = getenv("PATH");
  char* path = text("%s%s/bin", front, root);
  char* rest = text("%s", old && *old ? old : "/usr/local/bin:/usr/bin:/bin");
  for (char* entry = strtok(rest, ":"); entry != NULL; entry = strtok(NULL, ":"))
    if (!starts_with(entry, root)) path = text("%s:%s", path, entry);
  setenv("PATH", text("%s:%s/libexec/tools", path, root), 1);
}

// A program of the host; NULL where PATH has none.
static char* host_program(const char* name) {
  char* rest = text("%s", getenv("PATH") ? getenv("PATH") : "");
  for (char* entry = strtok(rest, ":"); entry != NULL; entry = strtok(NULL, ":")) {
    char* file = text("%s/%s", entry, name);
    if (!starts_with(entry, root) && access(file, X_OK) == 0) return file;
  }
  return NULL;
}

static int write_whole(const char* path, const char* content) {
  char* made = text("%s.%d", path, (int)getpid());
  const int file = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return 0;
  const size_t size = strlen(content);
  const int written = write(file, content, size) == (ssize_t)size;
  return close(file) == 0 && written && rename(made, path) == 0;
}

static int compare(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

// The libraries that the host's .icd files name, but for PoCL's: two of these in a process share LLVM's
// names.
static int host_drivers(char** drivers) {
  int count = 0;
  DIR* folder = opendir(kVendors);
  if (folder == NULL) return 0;
  for (struct dirent* entry; (entry = readdir(folder)) != NULL && count < kMostDrivers;) {
    const size_t length = strlen(entry->d_name);
    if (length < 5 || strcmp(entry->d_name + length - 4, ".icd") != 0) continue;
    FILE* file = fopen(text("%s/%s", kVendors, entry->d_name), "re");
    char line[PATH_MAX];
    if (file != NULL && fgets(line, sizeof line, file) != NULL) {
      line[strcspn(line, "\r\n \t")] = '\0';
      if (*line && strstr(line, "pocl") == NULL) drivers[count++] = text("%s", line);
    }
    if (file != NULL) fclose(file);
  }
  closedir(folder);
  qsort(drivers, (size_t)count, sizeof *drivers, compare);
  return count;
}

// Where the OpenCL loader finds drivers: the bundle's PoCL, and those of the host, if it has any. The loader
// reads one folder only. That one is the user's own, and its name is made of what is in it: nothing is left
// over.
static void set_vendors(void) {
  if (getenv("OCL_ICD_VENDORS") != NULL || getenv("OPENCL_VENDOR_PATH") != NULL) return;
  char* own = text("%s/etc/OpenCL/vendors", root);
  char* drivers[kMostDrivers];
  const int count = host_drivers(drivers);
  setenv("OCL_ICD_VENDORS", own, 1);
  if (count == 0) return;
  uint64_t digest = 14695981039346656037U;  // FNV-1a
  char* all = text("%s", root);
  for (int i = 0; i < count; ++i) all = text("%s:%s", all, drivers[i]);
  for (const char* letter = all; *letter; ++letter)
    digest = (digest ^ (unsigned char)*letter) * 1099511628211U;
  const char* place = getenv("TMPDIR");
  char* folder = text("%s/fabricmark-vendors-%u-%016llx", place && *place ? place : "/tmp",
                      (unsigned)geteuid(), (unsigned long long)digest);
  struct stat status;
  const int is_made = mkdir(folder, 0700) == 0 || errno == EEXIST;
  int is_whole = is_made && lstat(folder, &status) == 0 && S_ISDIR(status.st_mode) &&
                 status.st_uid == geteuid() && (status.st_mode & 077) == 0;
  for (int i = 0; i < count && is_whole; ++i)
    is_whole = write_whole(text("%s/%02d.icd", folder, i), text("%s\n", drivers[i]));
  if (is_whole) is_whole = write_whole(text("%s/pocl.icd", folder), text("%s/" POCL "\n", root));
  if (is_whole)
    setenv("OCL_ICD_VENDORS", folder, 1);
  else
    fprintf(stderr, "bundle: %s is not to be had: OpenCL drivers of this machine are left out; set TMPDIR\n",
            folder);
}

// Open MPI looks for what it loads below a prefix, which another Open MPI of the host must not give.
static void set_mpi(void) {
  static const char* const places[][2] = {
      {"OPAL_PREFIX", "mpi"},
      {"OPAL_LIBDIR", "mpi/lib"},
      {"OPAL_PKGLIBDIR", "mpi/lib/openmpi3"},
      {"OPAL_SYSCONFDIR", "mpi/etc"},
      {"OPAL_DATADIR", "mpi/share"},
      {"OPAL_PKGDATADIR", "mpi/share/openmpi"},
      {"OPAL_BINDIR", "bin"},
      {"PMIX_PREFIX", "mpi"},
      {"PMIX_LIBDIR", "mpi/lib"},
      {"PMIX_PKGLIBDIR", "mpi/lib/pmix"},
      {"PMIX_DATADIR", "mpi/share"},
      {"PMIX_PKGDATADIR", "mpi/share/pmix"},
      {"PMIX_SYSCONFDIR", "mpi/etc"},
  };
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i)
    setenv(places[i][0], text("%s/%s", root, places[i][1]), 1);
  // Where there is neither, mpirun ends before it looks whether another host is asked for.
  if (!host_program("ssh") && !host_program("rsh")) setenv("OMPI_MCA_plm", "^rsh", 0);
  unsetenv("OMPI_MCA_mca_base_component_path");
  unsetenv("PMIX_MCA_mca_base_component_path");
}

static void set_environment(int is_program) {
  set_path(is_program ? text("%s/libexec/link:", root) : "");
  set_vendors();
  set_mpi();
  setenv("FABRICMARK_KERNELS", text("%s/share/fabricmark/kernels", root), 0);
  // Without /sys hwloc finds one processor without memory, which PoCL ends over.
  if (access("/sys/devices/system/cpu", F_OK) != 0 && getenv("HWLOC_XMLFILE") == NULL)
    setenv("HWLOC_SYNTHETIC",
           text("pack:1 [numa(memory=%lld)] core:%ld pu:1",
                (long long)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), sysconf(_SC_NPROCESSORS_ONLN)),
           0);
}

// PoCL calls `ld` for each kernel, as compilers do, with libraries of a compiler, which the process has
// loaded.
static int is_kernel(char** words) {
  for (; *words != NULL; ++words)
    if (strstr(*words, "/tempfile_") != NULL) return 1;
  return 0;
}

int main(int count, char** arguments) {
  const char* called = (const char*)getauxval(AT_EXECFN);
  char* place = realpath(called, NULL);  // ROOT/libexec/launcher
  for (int up = 0; place != NULL && up < 2; ++up) {
    char* slash = strrchr(place, '/');
    if (slash != NULL) *slash = '\0';
  }
  if (place == NULL || *place != '/')
    fail("the bundle's folder is not found", "start its programs by their path");
  if (strchr(place, ':') != NULL)
    fail(text("%s has a colon in its name", place), "unpack the bundle elsewhere");
  root = place;
  const char* name = strrchr(called, '/') ? strrchr(called, '/') + 1 : called;

  char** words = calloc((size_t)count + 16, sizeof *words);
  if (words == NULL) fail("no memory", "free some");
  size_t next = 0;
  const int is_linker = strcmp(name, "ld") == 0;
  const char* linker = is_linker && !is_kernel(arguments) ? host_program("ld") : NULL;
  if (linker != NULL) {
    arguments[0] = (char*)linker;
    execv(linker, arguments);
  }
  const int is_own_libc = largest_after(kHostLoader, "stable release version 2.") < GLIBC_MINOR;
  const char* given = getenv("LD_LIBRARY_PATH");
  words[next++] = is_own_libc ? text("%s/lib/libc/ld-linux-x86-64.so.2", root) : (char*)kHostLoader;
  words[next++] = "--library-path";
  words[next++] = text("%s/lib:%s/lib/x86_64-linux-gnu:%s/mpi/lib%s%s%s%s", root, root, root,
                       is_own_libc ? text(":%s/lib/libc", root) : "",
                       host_has_newer_gcc_libraries() ? "" : text(":%s/lib/gcc", root),
                       given && *given ? ":" : "", given ? given : "");
  words[next++] = "--argv0";
  words[next++] = arguments[0];
  const char* program = name;
  char* script = NULL;
  if (strcmp(name, "fabricmark") == 0) program = "python3", script = text("%s/libexec/command.py", root);
  if (strcmp(name, "run") == 0) program = "sh", script = text("%s/share/fabricmark/run.sh", root);
  if (strcmp(program, "python3") == 0)
    words[next - 1] = text("%s/bin/python3", root);  // which finds its modules so
  words[next++] = text("%s/libexec/%s", root, program);
  if (access(words[next - 1], X_OK) != 0)
    fail(text("%s is not in the bundle %s", name, root), "unpack it again, all of it");
  if (strcmp(program, "python3") == 0)
    words[next++] = "-sE";  // no packages and variables of the host's Python
  if (script != NULL) words[next++] = script;
  for (int i = 1; i < count; ++i)
    if (!is_linker || !(starts_with(arguments[i], "-l") || starts_with(arguments[i], "-L")))
      words[next++] = arguments[i];
  if (!is_linker) set_environment(starts_with(name, "fm_"));
  execv(words[0], words);
  fail(text("cannot start %s: %s", words[0], strerror(errno)),
       "this is a bundle for x86-64 Linux; unpack it again");
}
