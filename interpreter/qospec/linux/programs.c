/* Programs of the user's own: each in namespaces of its own, with a keeper that starts, watches and ends it.
 *
 * The file `programs` of a job has texts, each with a 0 behind it, as `qospec.linux.programs` writes them. The first
 * is when programs are to end, in ns since the trial began. Then come those of each program: number; "text", "port",
 * "time" or "", and what it says; signal (0: none); patience in ns; uid; gid; folder; commands of `ip` and of `tc`;
 * lines for /etc/hosts; how many arguments, these; how many variables, these. What came of it is written to the files
 * `ended.N`, `out.N` and `err.N`. */
#include <linux/capability.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define KEPT (1 << 16)  /* bytes of each output */
#define FLOOD (1 << 24) /* bytes of output after which a program is ended */
#define LISTEN 0x0A
#define LOOK_FOR_PORT_NS 1000000
#define PLACE "/run/private"

struct launch {
  const char *name, *kind, *sign, *signal, *patience, *uid, *gid, *folder, *links, *disciplines, *hosts;
  char **arguments, **variables;
};
struct output { int from; FILE *file; uint64_t bytes; };
struct keeper {
  const struct launch *launch;
  struct output outputs[2];
  char *said;
  int control, status_of, ready; /* pipes: from the job, from the first process, to the job */
  int is_told; /* when the trial begins and ends */
  pid_t first;
  const char *failure;
};

static struct { int64_t stop_ns; struct launch *all; int *controls, *ready; pid_t *keepers; unsigned count; } programs;

/* Of all keepers, in memory that they share with the job. */
struct clock { int64_t start_ns, stop_ns; };

static int64_t tell_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* ---- what a keeper runs before and around a program */

static char *name_own(const char *kind, const char *name) {
  char text[64];
  snprintf(text, sizeof text, "%s.%s", kind, name);
  return name_file(text);
}

static void write_whole(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text)) fail(path);
  close(file);
}

/* Packets leave as they are on a line: neither larger ones that are cut later, nor sums that are still to be made. */
static void refuse_offloads(const char *device) {
  static const uint32_t commands[] = {ETHTOOL_SGSO, ETHTOOL_STSO, ETHTOOL_STXCSUM, ETHTOOL_SGRO};
  int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  for (unsigned i = 0; i < sizeof commands / sizeof *commands; i++) {
    struct ethtool_value value = {commands[i], 0};
    struct ifreq request = {.ifr_data = (void *)&value};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", device);
    if (ioctl(control, SIOCETHTOOL, &request) && errno != EOPNOTSUPP) fail("offloads");
  }
  close(control);
}

/* A network of its own, whose other end is in that of the job. */
static void join_network(const struct launch *launch, pid_t job) {
  char pair[128], device[16];
  if (unshare(CLONE_NEWNET)) fail("network of a program");
  snprintf(device, sizeof device, "p%s", launch->name);
  snprintf(pair, sizeof pair, "link add %s type veth peer name q%s netns %d\n", device, launch->name, job);
  char *ip = strdup(name_own("ip", launch->name)), *tc = strdup(name_own("tc", launch->name));
  FILE *file = fopen(ip, "w");
  if (!file || fputs(pair, file) < 0 || fputs(launch->links, file) < 0 || fclose(file)) fail(ip);
  write_whole(tc, launch->disciplines);
  run("said", (char *[]){"ip", "-batch", ip, 0});
  refuse_offloads(device);
  run("said", (char *[]){"tc", "-batch", tc, 0});
  narrow_lines();
}

/* A file system that cannot be written to, but for a private folder. */
static void confine_files(const struct launch *launch) {
  if (unshare(CLONE_NEWNS)) fail("mounts");
  if (mount(0, "/", 0, MS_REC | MS_PRIVATE, 0)) fail("mounts");
  if (mount("run", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "size=64m,mode=0755") || mkdir(PLACE, 0700)) fail("/run");
  if (mount("proc", "/proc", "proc", 0, 0)) fail("/proc");
  write_whole("/run/hosts", launch->hosts);
  if (!access("/etc/hosts", F_OK) && mount("/run/hosts", "/etc/hosts", 0, MS_BIND, 0)) fail("/etc/hosts");
  if (chown(PLACE, atoi(launch->uid), atoi(launch->gid))) fail(PLACE);
}

/* No privilege, and no way to one. */
static void drop_privileges(const struct launch *launch) {
  struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {{0}};
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++)
    prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  if (syscall(SYS_setgroups, 0, 0) || setgid(atoi(launch->gid)) || setuid(atoi(launch->uid))) fail("user");
  if (syscall(SYS_capset, &head, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) fail("privileges");
}

static volatile pid_t program;

/* As a terminal does: to all of its group, since a shell may wait for what it has started. */
static void pass_signal(int number) {
  if (program > 0 && kill(-program, number)) kill(program, number);
}

static void execute_program(const struct launch *launch, int failed) {
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  setsid();
  drop_privileges(launch);
  int error = 0;
  if (chdir(launch->folder)) error = errno;
  if (!error) {
    environ = launch->variables;
    execvp(launch->arguments[0], launch->arguments);
    error = errno;
  }
  dprintf(failed, "f%d", error);
  _exit(127);
}

/* The first process of a program's namespace: when it ends, all that the program has started ends. */
static void be_first(const struct launch *launch, int told) {
  signal(SIGTERM, pass_signal), signal(SIGINT, pass_signal);
  confine_files(launch);
  program = fork();
  if (!program) execute_program(launch, told);
  if (program < 0) {
    dprintf(told, "f%d", errno);
    _exit(0);
  }
  int status = 0;
  for (pid_t ended; (ended = waitpid(-1, &status, 0)) != program;)
    if (ended < 0 && errno != EINTR) break;
  if (WIFSIGNALED(status)) dprintf(told, "s%d", WTERMSIG(status));
  else dprintf(told, "e%d", WEXITSTATUS(status));
  _exit(0);
}

static void start_program(struct keeper *keeper) {
  int out[2], err[2], status[2];
  if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || pipe2(status, O_CLOEXEC)) fail("pipes");
  if (unshare(CLONE_NEWPID)) fail("namespaces");
  keeper->first = fork();
  if (keeper->first < 0) fail("fork");
  if (!keeper->first) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int none = open("/dev/null", O_RDONLY);
    dup2(none, 0), dup2(out[1], 1), dup2(err[1], 2);
    int told = fcntl(status[1], F_DUPFD_CLOEXEC, 3);
    for (int other = 3; other < 1024; other++)
      if (other != told) close(other);
    be_first(keeper->launch, told);
  }
  close(out[1]), close(err[1]), close(status[1]);
  keeper->outputs[0].from = out[0], keeper->outputs[1].from = err[0], keeper->status_of = status[0];
}

/* ---- what a keeper sees of it */

static void take_output(struct keeper *keeper, struct output *output) {
  static char bytes[1 << 16];
  ssize_t taken = read(output->from, bytes, sizeof bytes);
  if (taken <= 0) {
    close(output->from);
    output->from = -1;
    return;
  }
  uint64_t kept = output->bytes < KEPT ? KEPT - output->bytes : 0;
  if (kept > (uint64_t)taken) kept = taken;
  if (kept && fwrite(bytes, kept, 1, output->file) != 1) fail("output");
  fflush(output->file);
  size_t before = strlen(keeper->said), room = 2 * KEPT - before;
  for (ssize_t i = 0; i < taken && (size_t)i < room; i++) keeper->said[before + i] = bytes[i] ? bytes[i] : '?';
  output->bytes += taken;
  if (keeper->outputs[0].bytes + keeper->outputs[1].bytes > FLOOD) keeper->failure = "flood";
}

static int is_listed(const char *path, unsigned port, unsigned state) {
  char line[512];
  unsigned found, its, is_there = 0;
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, " %*u: %*x:%x %*x:%*x %x", &found, &its) == 2 && found == port && (!state || its == state))
      is_there = 1;
  if (file) fclose(file);
  return is_there;
}

static int is_ready(const struct keeper *keeper) {
  const struct launch *launch = keeper->launch;
  if (!strcmp(launch->kind, "text")) return strstr(keeper->said, launch->sign) != 0;
  if (!strcmp(launch->kind, "port")) {
    unsigned port = atoi(launch->sign);
    return is_listed("/proc/thread-self/net/tcp", port, LISTEN) || is_listed("/proc/thread-self/net/udp", port, 0) ||
           is_listed("/proc/thread-self/net/tcp6", port, LISTEN) || is_listed("/proc/thread-self/net/udp6", port, 0);
  }
  return 0;
}

/* Wait until something happens or `until_ns`; return whether the program has ended. */
static int wait_for(struct keeper *keeper, int64_t until_ns) {
  struct pollfd polled[4] = {{keeper->outputs[0].from, POLLIN, 0}, {keeper->outputs[1].from, POLLIN, 0},
                             {keeper->status_of, POLLIN, 0}, {keeper->is_told ? -1 : keeper->control, POLLIN, 0}};
  int64_t left_ns = until_ns - tell_time();
  struct timespec left = {left_ns > 0 ? left_ns / NS_PER_S : 0, left_ns > 0 ? left_ns % NS_PER_S : 0};
  if (ppoll(polled, 4, &left, 0) < 0 && errno != EINTR) fail("poll");
  for (int i = 0; i < 2; i++)
    if (polled[i].revents) take_output(keeper, &keeper->outputs[i]);
  keeper->is_told |= polled[3].revents != 0;
  return polled[2].revents != 0;
}

static void await_ready(struct keeper *keeper, int64_t patience_ns) {
  int64_t now_ns = tell_time(), until_ns = now_ns + patience_ns;
  int is_timed = !strcmp(keeper->launch->kind, "time"), is_port = !strcmp(keeper->launch->kind, "port");
  if (is_timed) until_ns = now_ns + atoll(keeper->launch->sign);
  while (!keeper->failure && !is_ready(keeper)) {
    int64_t next_ns = is_port && tell_time() + LOOK_FOR_PORT_NS < until_ns ? tell_time() + LOOK_FOR_PORT_NS : until_ns;
    if (wait_for(keeper, next_ns)) keeper->failure = "unready";
    else if (tell_time() >= until_ns) {
      if (is_timed) return;
      if (!is_ready(keeper)) keeper->failure = "patience";
    }
  }
}

static void end_program(struct keeper *keeper, char *how, size_t size) {
  kill(keeper->first, SIGKILL); /* if it has not ended; and all that the program has started with it */
  waitpid(keeper->first, 0, 0);
  for (int i = 0; i < 2; i++)
    for (uint64_t before = 0; keeper->outputs[i].from >= 0 && before < FLOOD; before++)
      take_output(keeper, &keeper->outputs[i]);
  ssize_t told = read(keeper->status_of, how, size - 1);
  how[told > 0 ? told : 0] = 0;
}

static void report_end(struct keeper *keeper, const char *how, int stopped) {
  char text[256];
  const char *failure = keeper->failure ? keeper->failure : "-";
  snprintf(text, sizeof text, "%s %s %d %llu %llu\n", *how ? how : "k", failure, stopped,
           (unsigned long long)keeper->outputs[0].bytes, (unsigned long long)keeper->outputs[1].bytes);
  for (int i = 0; i < 2; i++)
    if (fclose(keeper->outputs[i].file)) fail("output");
  write_whole(name_own("ended", keeper->launch->name), text);
}

static void keep(struct keeper *keeper) {
  const struct launch *launch = keeper->launch;
  int64_t patience_ns = atoll(launch->patience);
  struct clock clock = {0, 0};
  char how[32] = "";
  int stopped = 0, is_ahead = *launch->kind != 0, is_ended = 0;
  if (is_ahead) {
    start_program(keeper);
    await_ready(keeper, patience_ns);
  }
  if (write(keeper->ready, keeper->failure ? "n" : "y", 1) != 1) fail("ready");
  if (keeper->failure) {
    end_program(keeper, how, sizeof how);
    report_end(keeper, how, 0);
    return;
  }
  while (is_ahead && !is_ended && !keeper->failure && !keeper->is_told) /* the others begin */
    is_ended = wait_for(keeper, tell_time() + NS_PER_S);
  if (read(keeper->control, &clock, sizeof clock) != sizeof clock) {
    if (is_ahead) end_program(keeper, how, sizeof how);
    keeper->failure = "abandoned";
    report_end(keeper, how, 0);
    return;
  }
  keeper->is_told = 1;
  if (!is_ahead) {
    sleep_until(clock.start_ns);
    start_program(keeper);
  }
  while (!is_ended && !keeper->failure && tell_time() < clock.stop_ns) is_ended = wait_for(keeper, clock.stop_ns);
  if (!is_ended && !keeper->failure && atoi(launch->signal)) {
    stopped = 1;
    kill(keeper->first, atoi(launch->signal));
  }
  int64_t until_ns = clock.stop_ns + patience_ns;
  while (!is_ended && !keeper->failure) {
    is_ended = wait_for(keeper, until_ns);
    if (!is_ended && tell_time() >= until_ns) keeper->failure = "endless";
  }
  end_program(keeper, how, sizeof how);
  report_end(keeper, how, stopped);
}

/* ---- what a job does with them */

static const char *take_text(char **at) {
  const char *text = *at;
  *at += strlen(text) + 1;
  return text;
}

static char **take_texts(char **at) {
  unsigned count = atoi(take_text(at));
  char **texts = calloc(count + 1, sizeof *texts);
  for (unsigned i = 0; i < count; i++) texts[i] = (char *)take_text(at);
  return texts;
}

static void read_programs(void) {
  int file = open(name_file("programs"), O_RDONLY);
  struct stat about;
  if (file < 0 && errno == ENOENT) return;
  if (file < 0 || fstat(file, &about)) fail("programs");
  char *at = calloc(1, about.st_size + 1), *end = at + about.st_size;
  if (read(file, at, about.st_size) != about.st_size) fail("programs");
  close(file);
  programs.stop_ns = atoll(take_text(&at));
  for (programs.all = 0; at < end; programs.count++) {
    programs.all = realloc(programs.all, (programs.count + 1) * sizeof *programs.all);
    const char **fields = (const char **)&programs.all[programs.count];
    for (int i = 0; i < 11; i++) fields[i] = take_text(&at);
    programs.all[programs.count].arguments = take_texts(&at);
    programs.all[programs.count].variables = take_texts(&at);
  }
}

static void begin_keeper(unsigned number, pid_t job) {
  const struct launch *launch = &programs.all[number];
  int control[2], ready[2];
  if (pipe2(control, O_CLOEXEC) || pipe2(ready, O_CLOEXEC)) fail("pipes");
  if (!(programs.keepers[number] = fork())) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned other = 0; other < number; other++) close(programs.controls[other]), close(programs.ready[other]);
    struct keeper keeper = {.launch = launch, .control = control[0], .ready = ready[1], .first = -1, .status_of = -1};
    close(control[1]), close(ready[0]);
    keeper.said = calloc(1, 2 * KEPT + 1);
    for (int i = 0; i < 2; i++) {
      keeper.outputs[i].from = -1;
      if (!(keeper.outputs[i].file = fopen(name_own(i ? "err" : "out", launch->name), "wb"))) fail("output");
    }
    join_network(launch, job);
    char set = 's', go;
    if (write(keeper.ready, &set, 1) != 1) _exit(1);
    if (read(keeper.control, &go, 1) == 1) keep(&keeper);
    else report_end(&keeper, "", 0);
    _exit(0);
  }
  close(control[0]), close(ready[1]);
  programs.controls[number] = control[1], programs.ready[number] = ready[0];
  char answer = 0;
  if (read(ready[0], &answer, 1) != 1 || answer != 's') { errno = ECHILD; fail("a host"); }
  char network[64]; /* it stays while this is open, also when its program has ended */
  snprintf(network, sizeof network, "/proc/%d/ns/net", programs.keepers[number]);
  if (open(network, O_RDONLY | O_CLOEXEC) < 0) fail("a host");
}

/* Make the networks of all programs; what the job lays out then leads to them. */
static void begin_hosts(void) {
  read_programs();
  programs.controls = calloc(programs.count + 1, sizeof(int)), programs.ready = calloc(programs.count + 1, sizeof(int));
  programs.keepers = calloc(programs.count + 1, sizeof(pid_t));
  for (unsigned number = 0; number < programs.count; number++) begin_keeper(number, getpid());
}

/* Start those that are to be ready ahead, one after the other; return whether all are. */
static int begin_programs(uint64_t (*look)(int64_t)) {
  int all_are = 1;
  for (unsigned number = 0; number < programs.count && all_are; number++) {
    char answer = 0, go = 'g';
    if (write(programs.controls[number], &go, 1) != 1) fail("a keeper");
    struct pollfd polled = {programs.ready[number], POLLIN, 0};
    while (poll(&polled, 1, 10) == 0) look(0);
    if (read(programs.ready[number], &answer, 1) != 1) { errno = ECHILD; fail("a keeper"); }
    all_are = answer == 'y';
  }
  return all_are;
}

static void tell_times(int64_t start_ns, int64_t stop_ns) {
  struct clock clock = {start_ns, stop_ns};
  for (unsigned number = 0; number < programs.count; number++)
    if (write(programs.controls[number], &clock, sizeof clock) != sizeof clock) fail("a keeper");
}

/* Return whether all programs have ended. */
static int have_ended(void) {
  for (unsigned number = 0; number < programs.count; number++) {
    if (!programs.keepers[number]) continue;
    int status;
    pid_t ended = waitpid(programs.keepers[number], &status, WNOHANG);
    if (!ended) return 0;
    programs.keepers[number] = 0;
    if (ended < 0 || status) { errno = ECHILD; fail("a keeper"); }
  }
  return 1;
}

/* End all, since one is not ready. */
static void abandon_programs(void) {
  for (unsigned number = 0; number < programs.count; number++) close(programs.controls[number]);
  while (!have_ended()) usleep(1000);
}
