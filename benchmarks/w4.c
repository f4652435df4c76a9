/* W4 in C: connections of TCP that share a path both ways, as an event loop.

   Slow start and congestion avoidance, delayed acknowledgements, round trips and timeouts by RFC
   6298. Nothing is lost, and no timeout expires: what would be needed then is left out, and the
   numbers of what was sent and acknowledged would differ. */

#define PLACES 16384
#include "events.h"

enum { WAKE_CLIENT, AT_SERVER, AT_CLIENT, WAKE_SERVER, AT_FAR, AT_NEAR }; /* kinds of places */
enum { FIRST_BYTE = 1, NO_DATA = -1, MOST_UNDER_WAY = 64 };
static const i64 SECOND_PS = 1000000000000, LONGEST_RTO_PS = 60000000000000, NEVER_PS = INT64_MAX;

struct connection {
    i64 acknowledged, next, window, limit, rto_ps, smoothed_ps, deviation_ps;
    i64 timed, timed_at_ps, due_ps, alarm_ps;
    i64 expected, unacknowledged, answer_ps, answer_alarm_ps;
    i64 begun_ps[MOST_UNDER_WAY];
};

struct w4 {
    i64 connections, stop_ps, mss, limit, initial, every_ps, patience_ps, queue, hops;
    const struct line *near, *line; /* of hosts, and of what is between them */
    i64 *sent, *answers, *segments, *lost;
    u128 *delay_ps;
};

struct packet {
    i64 connection, number, size;
};

struct network {
    const struct w4 *w4;
    struct events events;
    struct packet *packets;
    i64 *unused, free;
    struct connection *connections;
    struct output there, back;
    struct line from_client, from_server;
};

enum { HEADERS = 40 };

static inline void pass(struct network *network, struct output *output, i64 now_ps, i64 kind,
                        i64 packet)
{
    i64 at_ps = leave(output, now_ps, network->packets[packet].size);
    if (at_ps != LOST) {
        push(&network->events, at_ps, kind, packet);
        return;
    }
    network->w4->lost[network->packets[packet].connection]++;
    network->unused[network->free++] = packet;
}

/* Send a packet by the host's line first, if there is one. */
static inline void transmit(struct network *network, int is_answer, i64 now_ps, i64 connection,
                        i64 number, i64 size)
{
    i64 packet = network->unused[--network->free];
    network->packets[packet] = (struct packet){connection, number, size};
    if (network->w4->hops == 1) {
        if (is_answer)
            pass(network, &network->back, now_ps, AT_CLIENT, packet);
        else
            pass(network, &network->there, now_ps, AT_SERVER, packet);
        return;
    }
    struct line *line = is_answer ? &network->from_server : &network->from_client;
    begin(line, now_ps);
    push(&network->events, send(line, size), is_answer ? AT_FAR : AT_NEAR, packet);
}

static inline void set_timer(struct network *network, i64 number, i64 due_ps)
{
    struct connection *its = network->connections + number;
    its->due_ps = due_ps;
    if (due_ps < its->alarm_ps) {
        its->alarm_ps = due_ps;
        push(&network->events, due_ps, WAKE_CLIENT, number);
    }
}

static inline void fill(struct network *network, i64 now_ps, i64 number)
{
    const struct w4 *w4 = network->w4;
    struct connection *its = network->connections + number;
    i64 window = its->window < w4->limit ? its->window : w4->limit;
    while (now_ps < w4->stop_ps && its->next + w4->mss <= its->acknowledged + window) {
        its->begun_ps[its->next / w4->mss % MOST_UNDER_WAY] = now_ps;
        w4->sent[number]++;
        transmit(network, 0, now_ps, number, its->next, w4->mss + HEADERS);
        if (!its->timed) {
            its->timed = its->next + w4->mss;
            its->timed_at_ps = now_ps;
        }
        its->next += w4->mss;
        if (its->due_ps == NEVER_PS)
            set_timer(network, number, now_ps + its->rto_ps);
    }
}

static inline void sample(struct connection *its, i64 sample_ps)
{
    if (!its->smoothed_ps) {
        its->smoothed_ps = sample_ps;
        its->deviation_ps = sample_ps >> 1;
    } else {
        i64 difference_ps = its->smoothed_ps - sample_ps;
        difference_ps = difference_ps < 0 ? -difference_ps : difference_ps;
        its->deviation_ps = (3 * its->deviation_ps + difference_ps) >> 2;
        its->smoothed_ps = (7 * its->smoothed_ps + sample_ps) >> 3;
    }
    i64 rto_ps = its->smoothed_ps + 4 * its->deviation_ps;
    rto_ps = rto_ps > LONGEST_RTO_PS ? LONGEST_RTO_PS : rto_ps;
    its->rto_ps = rto_ps < SECOND_PS ? SECOND_PS : rto_ps;
}

static inline void acknowledged(struct network *network, i64 now_ps, i64 item)
{
    const struct w4 *w4 = network->w4;
    struct packet packet = network->packets[item];
    struct connection *its = network->connections + packet.connection;
    network->unused[network->free++] = item;
    if (packet.number == 0) { /* the answer to the SYN */
        its->due_ps = NEVER_PS;
        sample(its, now_ps - its->timed_at_ps);
        its->acknowledged = its->next = FIRST_BYTE;
        its->window = w4->initial;
        its->timed = 0;
        w4->sent[packet.connection]++;
        transmit(network, 0, now_ps, packet.connection, NO_DATA, HEADERS);
        fill(network, now_ps, packet.connection);
        return;
    }
    if (packet.number <= its->acknowledged)
        return;
    i64 more = packet.number - its->acknowledged;
    for (i64 first = its->acknowledged; first < packet.number; first += w4->mss) {
        i64 begun_ps = its->begun_ps[first / w4->mss % MOST_UNDER_WAY];
        w4->segments[packet.connection]++;
        w4->delay_ps[packet.connection] += now_ps - begun_ps;
    }
    its->acknowledged = packet.number;
    if (its->timed && its->timed <= packet.number) {
        sample(its, now_ps - its->timed_at_ps);
        its->timed = 0;
    }
    if (its->window < w4->limit) /* in slow start: nothing was lost */
        its->window += more < w4->mss ? more : w4->mss;
    its->due_ps = NEVER_PS;
    if (packet.number < its->next)
        set_timer(network, packet.connection, now_ps + its->rto_ps);
    fill(network, now_ps, packet.connection);
}

static inline void answer(struct network *network, i64 now_ps, i64 number, i64 byte)
{
    network->connections[number].answer_ps = NEVER_PS;
    network->connections[number].unacknowledged = 0;
    network->w4->answers[number]++;
    transmit(network, 1, now_ps, number, byte, HEADERS);
}

static inline void received(struct network *network, i64 now_ps, i64 item)
{
    const struct w4 *w4 = network->w4;
    struct packet packet = network->packets[item];
    struct connection *its = network->connections + packet.connection;
    network->unused[network->free++] = item;
    if (packet.number == NO_DATA)
        return;
    if (packet.number == 0) {
        answer(network, now_ps, packet.connection, 0);
        return;
    }
    if (packet.number != its->expected)
        return; /* only if something was lost */
    its->expected += packet.size - HEADERS;
    its->unacknowledged += packet.size - HEADERS;
    if (its->unacknowledged >= 2 * w4->mss) {
        answer(network, now_ps, packet.connection, its->expected);
    } else if (its->answer_ps == NEVER_PS) {
        its->answer_ps = now_ps + w4->patience_ps;
        if (its->answer_ps < its->answer_alarm_ps) {
            its->answer_alarm_ps = its->answer_ps;
            push(&network->events, its->answer_ps, WAKE_SERVER, packet.connection);
        }
    }
}

/* Begin a connection, or find that its timeout was put off. */
static inline void wake_client(struct network *network, i64 now_ps, i64 number)
{
    const struct w4 *w4 = network->w4;
    struct connection *its = network->connections + number;
    its->alarm_ps = NEVER_PS;
    if (!its->rto_ps && now_ps < w4->stop_ps) {
        its->rto_ps = SECOND_PS;
        its->timed_at_ps = now_ps;
        w4->sent[number]++;
        transmit(network, 0, now_ps, number, 0, HEADERS);
        set_timer(network, number, now_ps + its->rto_ps);
    } else if (its->due_ps > now_ps && its->due_ps < NEVER_PS) {
        set_timer(network, number, its->due_ps);
    }
}

static inline void wake_server(struct network *network, i64 now_ps, i64 number)
{
    struct connection *its = network->connections + number;
    its->answer_alarm_ps = NEVER_PS;
    if (its->answer_ps <= now_ps) {
        answer(network, now_ps, number, its->expected);
    } else if (its->answer_ps < NEVER_PS) {
        its->answer_alarm_ps = its->answer_ps;
        push(&network->events, its->answer_ps, WAKE_SERVER, number);
    }
}

void w4(const struct w4 *w4)
{
    i64 packets = 256 * w4->connections + 1024;
    struct network network = {.w4 = w4, .free = packets};
    struct output output = {{0, 0, w4->queue, {0}}, *w4->line};
    network.packets = malloc(packets * sizeof *network.packets);
    network.unused = malloc(packets * sizeof *network.unused);
    network.connections = calloc(w4->connections, sizeof *network.connections);
    network.there = network.back = output;
    network.from_client = network.from_server = *w4->near;
    for (i64 i = 0; i < packets; i++)
        network.unused[i] = packets - 1 - i;
    for (i64 c = 0; c < w4->connections; c++) {
        struct connection *its = network.connections + c;
        its->due_ps = its->alarm_ps = its->answer_ps = its->answer_alarm_ps = NEVER_PS;
        its->expected = FIRST_BYTE;
        push(&network.events, c * w4->every_ps, WAKE_CLIENT, c);
    }
    while (network.events.count) {
        struct event event = pop(&network.events);
        switch (place_of(event)) {
        case WAKE_CLIENT:
            wake_client(&network, event.at_ps, event.item);
            break;
        case WAKE_SERVER:
            wake_server(&network, event.at_ps, event.item);
            break;
        case AT_NEAR:
            pass(&network, &network.there, event.at_ps, AT_SERVER, event.item);
            break;
        case AT_FAR:
            pass(&network, &network.back, event.at_ps, AT_CLIENT, event.item);
            break;
        case AT_SERVER:
            received(&network, event.at_ps, event.item);
            break;
        default:
            acknowledged(&network, event.at_ps, event.item);
        }
    }
    free(network.packets);
    free(network.unused);
    free(network.connections);
    free(network.events.heap);
}
