/* The first process of a kernel in virtual time: it does the jobs of `qospec.linux.guest`.
 *
 * A job is a folder N of the private folder, with the files `ip` and `tc` (batches for these programs), `plan` (what to
 * send, and where to look) and, once it is complete, `ready`. What was seen is written to `seen`, the counters of
 * queueing disciplines to `counters`, what programs say to `said`, and last `done`. Each job has a network namespace of
 * its own, which goes with it. Formats are those of `qospec.linux.traffic`. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PRIVATE "/run/jobs"
#define NS_PER_S 1000000000ll
#define LOOK_AFTER 64 /* packets sent: what was seen is then taken from the kernel */
#define AT_ONCE 256 /* packets taken by a call: each call takes some ns, and timers wait that are due meanwhile */
#define LARGEST 2048 /* bytes of a frame of a program */
#define STEP_NS 5000000 /* for which a program may send before what was seen is taken from the kernel */

struct head { uint64_t packets, idle_ns; uint32_t ports, watched; };
struct packet { uint64_t at_ns; uint32_t connection, number; uint16_t size, port; uint8_t tos, unused[3]; };
struct seen { int64_t at_ns; uint32_t connection, number; uint16_t size, point; uint8_t tos, unused[3]; };
struct caught { int64_t at_ns; uint64_t hash; uint32_t connection; uint16_t size, point; uint8_t tos, unused[7]; };
struct __attribute__((packed)) frame {
  uint8_t target[6], source[6]; uint16_t type;
  uint8_t version, tos; uint16_t length, identifier, fragment; uint8_t hops, protocol; uint16_t checksum;
  uint32_t from, to; uint16_t from_port, to_port, udp_length, udp_checksum;
  uint32_t number; uint64_t sent_ns;
};

static const char *folder; /* of the job */

static void fail(const char *what) {
  dprintf(2, "%s: %s\n", what, strerror(errno));
  exit(1);
}

static char *name_file(const char *name) {
  static char path[2][4096]; /* PATH_MAX */
  static int which;
  which = !which;
  if (snprintf(path[which], sizeof path[which], "%s/%s", folder, name) >= (int)sizeof path[which]) {
    errno = ENAMETOOLONG;
    fail(name);
  }
  return path[which];
}

static void sleep_until(int64_t at_ns) {
  struct timespec at = {at_ns / NS_PER_S, at_ns % NS_PER_S};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, 0) == EINTR);
}

static void redirect(const char *name, int descriptor) {
  int file = open(name_file(name), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) fail(name);
  close(file);
}

static void run(const char *output, char *const arguments[]) {
  pid_t child = fork();
  if (!child) {
    redirect(output, 1);
    execvp(arguments[0], arguments);
    fail(arguments[0]);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) < 0) fail(arguments[0]);
  if (status) { errno = EINVAL; fail(arguments[0]); }
}

/* ---- buckets */

static unsigned ticks = 1; /* of 64 ns: with none, a full line would lose the ns by which each of its timers is late */

struct request { struct nlmsghdr head; struct tcmsg about; uint8_t more[1 << 14]; };

static int open_control(void) {
  int control = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (control < 0) fail("control of traffic");
  return control;
}

static struct rtattr *find_attribute(struct rtattr *at, int left, int type) {
  for (; RTA_OK(at, left); at = RTA_NEXT(at, left))
    if ((at->rta_type & NLA_TYPE_MASK) == type) return at;
  return 0;
}

static void add_attribute(struct request *request, const struct rtattr *attribute) {
  memcpy((uint8_t *)request + request->head.nlmsg_len, attribute, attribute->rta_len);
  request->head.nlmsg_len += RTA_ALIGN(attribute->rta_len);
}

/* Give a class of `htb`, as the kernel describes it, the bucket of a line. `tc` gives none below the time of a byte. */
static void narrow_class(int control, struct nlmsghdr *found) {
  static struct request request;
  struct tcmsg *about = NLMSG_DATA(found);
  int left = found->nlmsg_len - NLMSG_LENGTH(sizeof *about);
  struct rtattr *kind = find_attribute(TCA_RTA(about), left, TCA_KIND);
  struct rtattr *options = find_attribute(TCA_RTA(about), left, TCA_OPTIONS);
  if (!kind || strcmp(RTA_DATA(kind), "htb")) return;
  struct rtattr *parameters = options ? find_attribute(RTA_DATA(options), RTA_PAYLOAD(options), TCA_HTB_PARMS) : 0;
  errno = EPROTO;
  if (!parameters || found->nlmsg_len > sizeof request) fail("a class of htb");
  struct tc_htb_opt *its = RTA_DATA(parameters);
  its->buffer = its->cbuffer = ticks;
  request.head = (struct nlmsghdr){NLMSG_LENGTH(sizeof *about), RTM_NEWTCLASS, NLM_F_REQUEST | NLM_F_ACK, 0, 0};
  request.about = *about;
  add_attribute(&request, kind);
  add_attribute(&request, options);
  struct { struct nlmsghdr head; struct nlmsgerr error; uint8_t more[sizeof request]; } answer;
  if (send(control, &request, request.head.nlmsg_len, 0) < 0) fail("htb");
  if (recv(control, &answer, sizeof answer, 0) < 0) fail("htb");
  errno = -answer.error.error;
  if (answer.head.nlmsg_type != NLMSG_ERROR || errno) fail("the bucket of a line");
}

static void narrow_interface(int asking, int control, unsigned index) {
  struct request request = {{NLMSG_LENGTH(sizeof request.about), RTM_GETTCLASS, NLM_F_REQUEST | NLM_F_DUMP, 0, 0}};
  request.about.tcm_family = AF_UNSPEC, request.about.tcm_ifindex = index;
  if (send(asking, &request, request.head.nlmsg_len, 0) < 0) fail("classes");
  for (;;) {
    static uint8_t answer[1 << 16];
    int left = recv(asking, answer, sizeof answer, 0);
    if (left < 0) fail("classes");
    for (struct nlmsghdr *found = (void *)answer; NLMSG_OK(found, left); found = NLMSG_NEXT(found, left)) {
      if (found->nlmsg_type == NLMSG_DONE || found->nlmsg_type == NLMSG_ERROR) return;
      narrow_class(control, found);
    }
  }
}

/* Lines are the only ones that have classes of `htb`; see `qospec.linux.disciplines`. */
static void narrow_lines(void) {
  int asking = open_control(), control = open_control();
  struct if_nameindex *all = if_nameindex();
  if (!all) fail("interfaces");
  for (struct if_nameindex *one = all; one->if_index; one++) narrow_interface(asking, control, one->if_index);
  if_freenameindex(all);
  close(asking), close(control);
}

#include "programs.c"

/* ---- packets */

static uint16_t sum_header(const uint8_t *header) {
  uint32_t sum = 0;
  for (int i = 0; i < 20; i += 2) sum += header[i] << 8 | header[i + 1];
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return htons(~sum);
}

/* The address of a connection is 10.x.y.z, by which filters know it; see `qospec.linux.layout`. */
static void write_frame(struct frame *frame, const struct packet *packet, int64_t start_ns) {
  static const uint8_t target[] = {2, 0, 0, 0, 0, 2}, source[] = {2, 0, 0, 0, 0, 1};
  memcpy(frame->target, target, 6);
  memcpy(frame->source, source, 6);
  frame->type = htons(ETH_P_IP);
  frame->version = 0x45, frame->tos = packet->tos, frame->length = htons(packet->size);
  frame->identifier = htons(packet->number), frame->fragment = htons(0x4000);
  frame->hops = 64, frame->protocol = IPPROTO_UDP, frame->checksum = 0;
  frame->from = htonl(0xc6120001), frame->to = htonl(10u << 24 | packet->connection); /* 198.18.0.1: RFC 2544, C.2.2 */
  frame->checksum = sum_header(&frame->version);
  frame->from_port = htons(49152), frame->to_port = htons(9);
  frame->udp_length = htons(packet->size - 20), frame->udp_checksum = 0;
  frame->number = htonl(packet->number), frame->sent_ns = start_ns + packet->at_ns;
}

static int open_socket(const char *device, int protocol) {
  int descriptor = socket(AF_PACKET, SOCK_RAW, htons(protocol)), one = 1, most = 1 << 30;
  struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol)};
  at.sll_ifindex = if_nametoindex(device);
  if (descriptor < 0 || !at.sll_ifindex || bind(descriptor, (void *)&at, sizeof at)) fail(device);
  if (setsockopt(descriptor, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one)) fail("time stamps");
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &most, sizeof most);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, &most, sizeof most);
  return descriptor;
}

/* ---- what is seen */

static struct { int *sockets; unsigned count; FILE *file, *caught; uint64_t total; } watch;

static int64_t read_stamp(struct msghdr *message) {
  for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part))
    if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPNS) {
      struct timespec *at = (void *)CMSG_DATA(part);
      return at->tv_sec * NS_PER_S + at->tv_nsec;
    }
  errno = ENODATA;
  fail("a packet without a time stamp");
  return 0;
}

/* What a packet is known by at each place: all of it that is not changed on the way. */
static uint64_t hash_packet(const uint8_t *packet, size_t bytes) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (size_t i = 0; i < bytes; i++)
    if (i != 1 && i != 8 && i != 10 && i != 11) hash = (hash ^ packet[i]) * 0x100000001b3u;
  return hash;
}

static void note_caught(const struct frame *frame, struct mmsghdr *message, unsigned point, int64_t start_ns) {
  size_t bytes = ntohs(frame->length), held = message->msg_hdr.msg_iov->iov_len - 14;
  if (message->msg_len < bytes + 14 || bytes > held) return;
  struct caught caught = {.at_ns = read_stamp(&message->msg_hdr) - start_ns,
                          .hash = hash_packet(&frame->version, bytes),
                          .connection = ntohl(frame->to) & 0xffffff, .size = bytes, .point = point, .tos = frame->tos};
  if (fwrite(&caught, sizeof caught, 1, watch.caught) != 1) fail("caught");
  watch.total++;
}

static void note(const struct frame *frame, struct mmsghdr *message, unsigned point, int64_t start_ns) {
  if (frame->type != htons(ETH_P_IP)) return;
  if (frame->from != htonl(0xc6120001)) {
    if (watch.caught) note_caught(frame, message, point, start_ns);
    return;
  }
  struct seen seen = {.at_ns = read_stamp(&message->msg_hdr) - start_ns, .connection = ntohl(frame->to) & 0xffffff,
                      .number = ntohl(frame->number), .size = message->msg_len - 14, .point = point, .tos = frame->tos};
  if (fwrite(&seen, sizeof seen, 1, watch.file) != 1) fail("seen");
  watch.total++;
}

/* Take what sockets hold, one point after the other; return how many packets there were. */
static uint64_t look(int64_t start_ns) {
  static union { struct frame frame; uint8_t bytes[LARGEST]; } frames[AT_ONCE];
  static char control[AT_ONCE][128];
  static struct iovec parts[AT_ONCE];
  static struct mmsghdr messages[AT_ONCE];
  uint64_t before = watch.total;
  for (unsigned point = 0; point < watch.count; point++)
    for (int taken = AT_ONCE; taken == AT_ONCE;) {
      for (int i = 0; i < AT_ONCE; i++) {
        parts[i] = (struct iovec){&frames[i], watch.caught ? LARGEST : sizeof(struct frame)};
        messages[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1,
                                              .msg_control = control[i], .msg_controllen = sizeof control[i]};
      }
      taken = recvmmsg(watch.sockets[point], messages, AT_ONCE, MSG_DONTWAIT | MSG_TRUNC, 0);
      if (taken < 0 && errno != EAGAIN) fail("receive");
      for (int i = 0; i < taken; i++) note(&frames[i].frame, &messages[i], point, start_ns);
    }
  return watch.total - before;
}

static void open_watch(char (*names)[16], unsigned count) {
  watch.sockets = calloc(count, sizeof *watch.sockets), watch.count = count;
  for (unsigned point = 0; point < count; point++) watch.sockets[point] = open_socket(names[point], ETH_P_ALL);
  if (!(watch.file = fopen(name_file("seen"), "wb"))) fail("seen");
  setvbuf(watch.file, 0, _IOFBF, 1 << 20);
  if (!programs.count) return;
  if (!(watch.caught = fopen(name_file("caught"), "wb"))) fail("caught");
  setvbuf(watch.caught, 0, _IOFBF, 1 << 20);
}

static void close_watch(void) {
  for (unsigned point = 0; point < watch.count; point++) {
    struct tpacket_stats counts;
    socklen_t size = sizeof counts;
    getsockopt(watch.sockets[point], SOL_PACKET, PACKET_STATISTICS, &counts, &size);
    if (counts.tp_drops) { errno = ENOBUFS; fail("more packets than a socket holds"); }
  }
  if (fclose(watch.file) || (watch.caught && fclose(watch.caught))) fail("seen");
}

/* Sleep; where programs send meanwhile, look now and then. */
static void sleep_and_look(int64_t at_ns, int64_t start_ns) {
  for (int64_t next_ns = tell_time() + STEP_NS; programs.count && next_ns < at_ns; next_ns += STEP_NS) {
    sleep_until(next_ns);
    look(start_ns);
  }
  sleep_until(at_ns);
}

/* Send all packets at their times, and look until all programs have ended and nothing is seen for `idle_ns`. */
static void send_packets(const struct head *head, const int *ports, const struct packet *packets) {
  int64_t start_ns = (tell_time() / NS_PER_S + 2) * NS_PER_S, at_ns = start_ns;
  tell_times(start_ns, start_ns + programs.stop_ns);
  uint8_t *bytes = calloc(1, 1 << 17);
  for (uint64_t i = 0; i < head->packets; i++) {
    int64_t due_ns = start_ns + packets[i].at_ns;
    if (due_ns > at_ns || !i) sleep_and_look(at_ns = due_ns, start_ns);
    write_frame((struct frame *)bytes, &packets[i], start_ns);
    size_t size = packets[i].size + 14;
    if (send(ports[packets[i].port], bytes, size, 0) != (ssize_t)size && errno != ENOBUFS) fail("send");
    if (i % LOOK_AFTER == 0) look(start_ns);
  }
  int64_t until_ns = at_ns + head->idle_ns;
  for (int64_t step_ns = head->idle_ns / 16 + 1; at_ns < until_ns;) {
    sleep_until(at_ns += step_ns);
    if (look(start_ns) || !have_ended()) until_ns = at_ns + head->idle_ns;
  }
}

static const struct head *map_plan(void) {
  int file = open(name_file("plan"), O_RDONLY);
  struct stat about;
  if (file < 0 || fstat(file, &about)) fail("plan");
  const void *plan = mmap(0, about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  if (plan == MAP_FAILED) fail("plan");
  return plan;
}

static void carry_out(void) {
  const struct head *head = map_plan();
  char(*names)[16] = (void *)(head + 1);
  int *ports = calloc(head->ports + 1, sizeof *ports);
  for (unsigned port = 0; port < head->ports; port++) ports[port] = open_socket(names[port], 0);
  open_watch(names + head->ports, head->watched);
  if (begin_programs(look)) send_packets(head, ports, (void *)(names + head->ports + head->watched));
  else abandon_programs();
  close_watch();
}

/* ---- jobs */

static void do_job(void) {
  redirect("said", 2);
  if (unshare(CLONE_NEWNET)) fail("network namespace");
  prctl(PR_SET_TIMERSLACK, 1ul);
  begin_hosts();
  run("said", (char *[]){"ip", "-batch", name_file("ip"), 0});
  run("said", (char *[]){"tc", "-batch", name_file("tc"), 0});
  narrow_lines();
  carry_out();
  run("counters", (char *[]){"tc", "-s", "-j", "qdisc", "show", 0});
  run("counters", (char *[]){"tc", "-s", "-j", "actions", "list", "action", "police", 0});
  exit(0);
}

static void write_text(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || write(file, text, strlen(text)) < 0) fail(path);
  close(file);
}

static void end_job(int status) {
  char text[32];
  snprintf(text, sizeof text, "%d\n", status);
  write_text(name_file("done.part"), text);
  if (rename(name_file("done.part"), name_file("done"))) fail("done");
}

/* Say that what is drawn is random: nothing here can wait for chance, and programs draw the same in each boot. */
static void seed_chance(void) {
  struct { int bits, bytes; uint8_t seed[64]; } seed = {512, 64, {1}};
  int random = open("/dev/urandom", O_RDWR);
  if (random < 0 || ioctl(random, RNDADDENTROPY, &seed)) fail("/dev/urandom");
  close(random);
}

static void prepare(void) {
  const char *private = getenv("QOS_FOLDER");
  mount("proc", "/proc", "proc", 0, "");
  if (mount("run", "/run", "tmpfs", 0, "") || mkdir(PRIVATE, 0700)) fail("/run");
  if (mount("none", PRIVATE, "hostfs", 0, private)) fail("private folder");
  seed_chance();
  setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
}

#include "room.h"

/* With arguments a job is done in real time: its folder, the process that asks for it, and the ticks of a bucket. */
int main(int count, char **words) {
  char job[64];
  if (count == 5 && !strcmp(words[1], "now")) return do_job_for(words[2], atoi(words[3]), atoi(words[4]));
  prepare();
  for (int number = 1;; number++) {
    snprintf(job, sizeof job, PRIVATE "/%d", number);
    folder = job;
    while (access(name_file("ready"), F_OK)) {
      if (!access(PRIVATE "/end", F_OK)) { reboot(RB_POWER_OFF); }
      usleep(100000);
    }
    pid_t child = fork();
    if (!child) do_job();
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) < 0) fail("job");
    end_job(status);
  }
}
