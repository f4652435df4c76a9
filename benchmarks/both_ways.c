/* Both ways in C: two routers whose processors serve both directions, as an event loop.

   Router 0 is at the left, its port 0 is that of the left host. Flow 0 goes from the left to the
   right, entering both routers by port 0 and leaving them by port 1; flow 1 the other way. */

#include "events.h"

enum { FLOWS = 2, ROUTERS = 2, PORTS = 2 };
enum { READY, ENTRY, FORWARD }; /* kinds of places, in order at the same time */

struct router {
    i64 free_ps; /* when its processor is */
    struct queue queue;
    struct output outputs[PORTS];
};

static inline i64 place(int kind, i64 router, i64 port)
{
    return kind * ROUTERS * PORTS + router * PORTS + port;
}

/* Let the processor serve an item, and forward it then. */
static inline void enter(const struct trial *trial, struct events *events, struct pool *pool,
                         struct router *router, struct event event, i64 number)
{
    i64 begins_ps = event.at_ps > router->free_ps ? event.at_ps : router->free_ps;
    if (!admit(&router->queue, event.at_ps, begins_ps)) {
        lose(trial, pool, event.item);
        return;
    }
    router->free_ps = begins_ps + trial->service_ps;
    push(events, router->free_ps, place(FORWARD, number, 0), event.item);
}

/* Send an item by the port that its flow leaves by, to the other router or its host. */
static inline void forward(const struct trial *trial, struct events *events, struct pool *pool,
                           struct router *router, struct event event, i64 number)
{
    const struct item *item = pool->items + event.item;
    i64 port = 1 - item->flow;
    i64 at_ps = leave(router->outputs + port, event.at_ps, item->size);
    if (at_ps == LOST)
        lose(trial, pool, event.item);
    else if (port == number)
        receive(trial, pool, event.item, at_ps);
    else
        push(events, at_ps, place(ENTRY, 1 - number, number), event.item);
}

void both_ways(void **generators, const double *gaps_ps, const struct trial *trial)
{
    struct events events = {0};
    struct pool pool = {0};
    struct source sources[FLOWS];
    struct router routers[ROUTERS] = {0};
    for (int r = 0; r < ROUTERS; r++) {
        routers[r].queue.limit = trial->limit;
        for (int p = 0; p < PORTS; p++)
            routers[r].outputs[p] = output(trial);
    }
    for (int f = 0; f < FLOWS; f++)
        start(trial, &events, sources, f, generators[f], gaps_ps[f]);
    while (events.count) {
        struct event event = pop(&events);
        i64 at = place_of(event), number = at / PORTS % ROUTERS;
        switch (at / (ROUTERS * PORTS)) {
        case READY:
            emit(trial, &events, &pool, sources + event.item, event.item,
                 place(ENTRY, event.item, event.item));
            break;
        case ENTRY:
            enter(trial, &events, &pool, routers + number, event, number);
            break;
        default:
            forward(trial, &events, &pool, routers + number, event, number);
        }
    }
    finish(&events, &pool);
}
