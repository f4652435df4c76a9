/* The ring in C: three switches in a circle, each with a host, as an event loop.

   Flow k enters switch k by input 0, goes on to the next two, which it enters by input 1, and
   leaves the last by the line of its host. */

#include "events.h"

enum { SWITCHES = 3, INPUTS = 2 };
enum { READY, ENTRY }; /* kinds of places, in order at the same time */

struct node {
    struct output host, onward;
};

static inline i64 entry(i64 number, i64 input) { return SWITCHES + number * INPUTS + input; }

static inline void forward(const struct trial *trial, struct events *events, struct pool *pool,
                           struct node *nodes, struct event event, i64 number)
{
    const struct item *item = pool->items + event.item;
    int last = (item->flow + 2) % SWITCHES == number;
    struct output *output = last ? &nodes[number].host : &nodes[number].onward;
    i64 at_ps = leave(output, event.at_ps, item->size);
    if (at_ps == LOST)
        lose(trial, pool, event.item);
    else if (last)
        receive(trial, pool, event.item, at_ps);
    else
        push(events, at_ps, entry((number + 1) % SWITCHES, 1), event.item);
}

void ring(void **generators, const double *gaps_ps, const struct trial *trial)
{
    struct events events = {0};
    struct pool pool = {0};
    struct source sources[SWITCHES];
    struct node nodes[SWITCHES];
    for (int s = 0; s < SWITCHES; s++) {
        nodes[s].host = nodes[s].onward = output(trial);
        start(trial, &events, sources, s, generators[s], gaps_ps[s]);
    }
    while (events.count) {
        struct event event = pop(&events);
        i64 at = place_of(event);
        if (at < SWITCHES)
            emit(trial, &events, &pool, sources + at, at, entry(at, 0));
        else
            forward(trial, &events, &pool, nodes, event, (at - SWITCHES) / INPUTS);
    }
    finish(&events, &pool);
}
