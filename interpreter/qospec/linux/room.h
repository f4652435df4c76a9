/* A job in real time: in namespaces of the machine's own kernel, which end with the process that asked for it.
 *
 * Nothing is looked at while packets are sent, so that looking makes none of them late: what is seen waits in a ring
 * for each point, which has room for all. The file `late` tells how far clocks moved apart, then how late each was. */
#include <sched.h>
#include <signal.h>

#define NO_NAMESPACES 3 /* how it then ends */
#define RING_FRAME 128 /* bytes: what is told of a packet, and its headers */
#define RING_BLOCK (1 << 16)
#define OTHERS 1024 /* packets besides ours that a point may see */
#define BEGIN_NS (50 * 1000000ll)

static struct ring { uint8_t *memory; unsigned frames, next; int socket; } *rings;
static int64_t *late_ns;

static int64_t read_clock(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The way of clocks apart: whoever sets the time of the machine meanwhile spoils what is measured. */
static int64_t compare_clocks(void) { return read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC); }

static void write_map(const char *path, const char *text, int needed) {
  int file = open(path, O_WRONLY);
  if ((file < 0 || write(file, text, strlen(text)) < 0) && needed) fail(path);
  if (file >= 0) close(file);
}

/* Enter namespaces of our own: without privileges, or else with those that we have. */
static void enter_namespaces(void) {
  char users[64], groups[64];
  snprintf(users, sizeof users, "0 %d 1", (int)geteuid());
  snprintf(groups, sizeof groups, "0 %d 1", (int)getegid());
  if (!unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWPID)) {
    write_map("/proc/self/setgroups", "deny", 0);
    write_map("/proc/self/uid_map", users, 1);
    write_map("/proc/self/gid_map", groups, 1);
  } else if (unshare(CLONE_NEWNET | CLONE_NEWPID)) {
    dprintf(2, "%s\n", strerror(errno));
    exit(NO_NAMESPACES);
  }
}

static void open_ring(struct ring *ring, const char *device, uint64_t packets) {
  int version = TPACKET_V2;
  unsigned blocks = (packets + OTHERS) / (RING_BLOCK / RING_FRAME) + 1;
  struct tpacket_req asked = {RING_BLOCK, blocks, RING_FRAME, blocks * (RING_BLOCK / RING_FRAME)};
  struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
  at.sll_ifindex = if_nametoindex(device);
  ring->socket = socket(AF_PACKET, SOCK_RAW, 0), ring->frames = asked.tp_frame_nr, ring->next = 0;
  if (ring->socket < 0 || !at.sll_ifindex) fail(device);
  if (setsockopt(ring->socket, SOL_PACKET, PACKET_VERSION, &version, sizeof version)) fail("ring");
  if (setsockopt(ring->socket, SOL_PACKET, PACKET_RX_RING, &asked, sizeof asked)) fail("memory for what is seen");
  ring->memory = mmap(0, (size_t)blocks * RING_BLOCK, PROT_READ | PROT_WRITE, MAP_SHARED, ring->socket, 0);
  if (ring->memory == MAP_FAILED || bind(ring->socket, (void *)&at, sizeof at)) fail(device);
}

static void note_ring(const struct tpacket2_hdr *told, unsigned point, int64_t start_ns) {
  const struct frame *frame = (void *)((uint8_t *)told + told->tp_mac);
  if (told->tp_snaplen < sizeof *frame || frame->type != htons(ETH_P_IP) || frame->from != htonl(0xc6120001)) return;
  struct seen seen = {.at_ns = told->tp_sec * NS_PER_S + told->tp_nsec - start_ns,
                      .connection = ntohl(frame->to) & 0xffffff, .number = ntohl(frame->number),
                      .size = told->tp_len - 14, .point = point, .tos = frame->tos};
  if (fwrite(&seen, sizeof seen, 1, watch.file) != 1) fail("seen");
  watch.total++;
}

static uint64_t look_at_rings(int64_t start_ns) {
  uint64_t before = watch.total;
  for (unsigned point = 0; point < watch.count; point++)
    for (struct ring *ring = &rings[point];; ring->next = (ring->next + 1) % ring->frames) {
      struct tpacket2_hdr *told = (void *)(ring->memory + (size_t)ring->next * RING_FRAME);
      if (!(__atomic_load_n(&told->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER)) break;
      note_ring(told, point, start_ns);
      __atomic_store_n(&told->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
    }
  return watch.total - before;
}

static void open_rings(const struct head *head, char (*names)[16]) {
  rings = calloc(head->watched + 1, sizeof *rings), watch.count = head->watched;
  watch.sockets = calloc(head->watched + 1, sizeof *watch.sockets);
  for (unsigned point = 0; point < head->watched; point++) {
    open_ring(&rings[point], names[point], head->packets);
    watch.sockets[point] = rings[point].socket;
  }
  if (!(watch.file = fopen(name_file("seen"), "wb"))) fail("seen");
  setvbuf(watch.file, 0, _IOFBF, 1 << 20);
}

/* Send all packets at their times, or as soon as possible, and wait until nothing is seen for `idle_ns`. */
static void send_now(const struct head *head, const int *ports, const struct packet *packets) {
  int64_t apart_ns = compare_clocks(), start_ns = read_clock(CLOCK_REALTIME) + BEGIN_NS;
  uint8_t *bytes = calloc(1, 1 << 17);
  late_ns = calloc(head->packets + 1, sizeof *late_ns);
  for (uint64_t i = 0; i < head->packets; i++) {
    int64_t due_ns = start_ns + packets[i].at_ns;
    write_frame((struct frame *)bytes, &packets[i], start_ns);
    if (read_clock(CLOCK_REALTIME) < due_ns) sleep_until(due_ns);
    late_ns[i + 1] = read_clock(CLOCK_REALTIME) - due_ns;
    size_t size = packets[i].size + 14;
    if (send(ports[packets[i].port], bytes, size, 0) != (ssize_t)size && errno != ENOBUFS) fail("send");
  }
  int64_t now_ns = read_clock(CLOCK_REALTIME), step_ns = head->idle_ns / 16 + 1;
  for (int64_t until_ns = now_ns + head->idle_ns; now_ns < until_ns;) {
    sleep_until(now_ns + step_ns);
    now_ns = read_clock(CLOCK_REALTIME);
    if (look_at_rings(start_ns)) until_ns = now_ns + head->idle_ns;
  }
  late_ns[0] = compare_clocks() - apart_ns;
}

static void write_late(const struct head *head) {
  FILE *file = fopen(name_file("late"), "wb");
  size_t count = head->packets + 1;
  if (!file || fwrite(late_ns, sizeof *late_ns, count, file) != count || fclose(file)) fail("late");
}

static void carry_out_now(void) {
  const struct head *head = map_plan();
  char(*names)[16] = (void *)(head + 1);
  int *ports = calloc(head->ports + 1, sizeof *ports);
  for (unsigned port = 0; port < head->ports; port++) ports[port] = open_socket(names[port], 0);
  open_rings(head, names + head->ports);
  mlockall(MCL_CURRENT);
  send_now(head, ports, (void *)(names + head->ports + head->watched));
  close_watch();
  write_late(head);
}

/* What the kernel knows: each line of the file `probe` is tried, and those that fail are named. */
static void probe(void) {
  pid_t child = fork();
  if (!child) {
    redirect("said", 2), redirect("said", 1);
    execvp("tc", (char *[]){"tc", "-force", "-batch", name_file("probe"), 0});
    fail("tc");
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) < 0) fail("tc");
}

/* Do the job of a folder; `outer` is at its end once the process that has begun this one has ended. */
static void do_job_now(int outer) {
  struct pollfd polled = {outer, POLLIN, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (poll(&polled, 1, 0)) exit(1); /* it ended before that; its number is not known in this namespace */
  prctl(PR_SET_TIMERSLACK, 1ul);
  write_map("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1", 0);
  write_map("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1", 0);
  run("said", (char *[]){"ip", "-batch", name_file("ip"), 0});
  if (!access(name_file("probe"), F_OK)) {
    probe();
    exit(0);
  }
  run("said", (char *[]){"tc", "-batch", name_file("tc"), 0});
  narrow_lines();
  carry_out_now();
  run("counters", (char *[]){"tc", "-s", "-j", "qdisc", "show", 0});
  if (access(name_file("policers"), F_OK)) exit(0);
  run("counters", (char *[]){"tc", "-s", "-j", "actions", "list", "action", "police", 0});
  exit(0);
}

/* Do the job of a folder for a process, and end with it. */
static int do_job_for(const char *name, pid_t asking, unsigned bucket_ticks) {
  struct sched_param priority = {1};
  folder = name, ticks = bucket_ticks;
  setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
  redirect("said", 2);
  sched_setscheduler(0, SCHED_FIFO, &priority); /* it is punctual without, too, if the machine is idle */
  enter_namespaces();
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* behind that, which may reset it */
  if (getppid() != asking) return 1;
  int outer[2];
  if (pipe2(outer, O_CLOEXEC)) fail("pipe");
  pid_t child = fork();
  if (!child) {
    close(outer[1]);
    do_job_now(outer[0]);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) < 0) fail("job");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
