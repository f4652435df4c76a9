/* Echo in C: clients that keep a window of packets on their way to a server, which answers each at
   once, as an event loop.

   Requests of all clients share a queue and its line, and so do the answers. A client is a window
   of places: each sends a packet, waits for its answer, and sends the next one; what is not
   answered in time it sends again. An answer counts from when its packet was last sent. */

#define PLACES 4096
#include "events.h"

enum { WINDOW = 64 };
enum { WAKE, SERVER, CLIENT }; /* kinds of places, in order at the same time */

struct client {
    i64 sent_ps[WINDOW], turn[WINDOW]; /* by place: when sent, and how often; an answer repeats it */
};

struct echo {
    i64 clients, stop_ps, size, timeout_ps, limit, every_ps; /* from one client's start to the next */
    const struct line *line;
    i64 *sent, *answered, *lost, *again, *late; /* by client; late: answers to what was sent again */
    u128 *round_trip_ps;                        /* by client, the sum */
};

struct packet { /* an item of this benchmark */
    int32_t client, place;
    i64 turn;
};

struct network {
    const struct echo *echo;
    struct events events;
    struct packet *packets;
    i64 *unused, free;
    struct client *clients;
    struct output to_server, to_client;
};

static inline void pass(struct network *network, struct output *output, i64 now_ps, i64 kind,
                        i64 packet)
{
    i64 at_ps = leave(output, now_ps, network->echo->size);
    if (at_ps != LOST) {
        push(&network->events, at_ps, kind, packet);
        return;
    }
    network->echo->lost[network->packets[packet].client]++;
    network->unused[network->free++] = packet;
}

static inline void request(struct network *network, i64 now_ps, i64 client, i64 place)
{
    struct client *from = network->clients + client;
    i64 packet = network->unused[--network->free];
    from->sent_ps[place] = now_ps;
    network->packets[packet] = (struct packet){client, place, ++from->turn[place]};
    network->echo->sent[client]++;
    pass(network, &network->to_server, now_ps, SERVER, packet);
}

/* Take an answer and send the next packet in its place. */
static inline void answered(struct network *network, i64 now_ps, i64 item)
{
    struct packet packet = network->packets[item];
    struct client *client = network->clients + packet.client;
    const struct echo *echo = network->echo;
    network->unused[network->free++] = item;
    if (packet.turn != client->turn[packet.place]) {
        echo->late[packet.client]++;
        return;
    }
    echo->answered[packet.client]++;
    echo->round_trip_ps[packet.client] += now_ps - client->sent_ps[packet.place];
    if (now_ps < echo->stop_ps)
        request(network, now_ps, packet.client, packet.place);
    else
        client->sent_ps[packet.place] = INT64_MAX - echo->timeout_ps;
}

/* Send what is overdue again, and wake when the next packet will be. */
static inline void wake(struct network *network, i64 now_ps, i64 number)
{
    const struct echo *echo = network->echo;
    struct client *client = network->clients + number;
    i64 next_ps = INT64_MAX;
    if (now_ps >= echo->stop_ps)
        return;
    for (i64 place = 0; place < WINDOW; place++) {
        if (client->sent_ps[place] + echo->timeout_ps <= now_ps) {
            echo->again[number] += client->turn[place] > 0;
            request(network, now_ps, number, place);
        }
        if (client->sent_ps[place] + echo->timeout_ps < next_ps)
            next_ps = client->sent_ps[place] + echo->timeout_ps;
    }
    push(&network->events, next_ps, WAKE, number);
}

void echo(const struct echo *echo)
{
    i64 packets = 64 * WINDOW * echo->clients; /* also those sent again while the first is on its way */
    struct network network = {.echo = echo, .free = packets};
    struct output output = {{0, 0, echo->limit, {0}}, *echo->line};
    network.packets = malloc(packets * sizeof *network.packets);
    network.unused = malloc(packets * sizeof *network.unused);
    network.clients = calloc(echo->clients, sizeof *network.clients);
    network.to_server = network.to_client = output;
    for (i64 i = 0; i < packets; i++)
        network.unused[i] = packets - 1 - i;
    for (i64 c = 0; c < echo->clients; c++) {
        for (i64 place = 0; place < WINDOW; place++)
            network.clients[c].sent_ps[place] = -echo->timeout_ps; /* due */
        push(&network.events, c * echo->every_ps, WAKE, c);
    }
    while (network.events.count) {
        struct event event = pop(&network.events);
        switch (place_of(event)) {
        case WAKE:
            wake(&network, event.at_ps, event.item);
            break;
        case SERVER:
            pass(&network, &network.to_client, event.at_ps, CLIENT, event.item);
            break;
        default:
            answered(&network, event.at_ps, event.item);
        }
    }
    free(network.packets);
    free(network.unused);
    free(network.clients);
    free(network.events.heap);
}
