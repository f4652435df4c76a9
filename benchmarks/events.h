/* What the event loops in C share: a binary heap of events, a pool of items, sources behind their
   lines, lines with their queues, and the statistics of each flow.

   The same draws, by NumPy's own C functions, the same exact arithmetic and the same counts as the
   engine. Events at the same time happen in the order of their places, then in that in which they
   were made. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t i64;
typedef unsigned __int128 u128;

/* ---- events */

struct event {
    i64 at_ps, order; /* the place in the upper bits, a running number in the lower 40 */
    i64 item;
};

struct events {
    struct event *heap;
    i64 count, places, made;
};

static inline i64 place_of(struct event event) { return event.order >> 40; }

static inline int precedes(struct event a, struct event b)
{
    return a.at_ps < b.at_ps || (a.at_ps == b.at_ps && a.order < b.order);
}

static inline void push(struct events *events, i64 at_ps, i64 place, i64 item)
{
    struct event event = {at_ps, place << 40 | events->made++, item};
    if (events->count == events->places) {
        events->places = events->places ? 2 * events->places : 64;
        events->heap = realloc(events->heap, events->places * sizeof event);
    }
    struct event *heap = events->heap;
    i64 i = events->count++;
    for (; i && precedes(event, heap[(i - 1) / 2]); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = event;
}

static inline struct event pop(struct events *events)
{
    struct event *heap = events->heap, first = heap[0], last = heap[--events->count];
    i64 i = 0, n = events->count;
    for (i64 j = 1; j < n; j = 2 * i + 1) {
        j += j + 1 < n && precedes(heap[j + 1], heap[j]);
        if (precedes(last, heap[j]))
            break;
        heap[i] = heap[j];
        i = j;
    }
    heap[i] = last;
    return first;
}

/* ---- items */

struct item {
    i64 sent_ps;
    int32_t flow, size;
};

struct pool {
    struct item *items;
    i64 *unused, free, places;
};

static inline i64 take(struct pool *pool)
{
    if (!pool->free) {
        i64 old = pool->places;
        pool->places = old ? 2 * old : 64;
        pool->items = realloc(pool->items, pool->places * sizeof *pool->items);
        pool->unused = realloc(pool->unused, pool->places * sizeof *pool->unused);
        for (i64 i = old; i < pool->places; i++)
            pool->unused[pool->free++] = i;
    }
    return pool->unused[--pool->free];
}

static inline void give_back(struct pool *pool, i64 item) { pool->unused[pool->free++] = item; }

/* ---- lines and their queues */

struct line {
    i64 byte_ps, byte_part, denominator, slot_ps, slot_part, slotted;
    i64 header, least, extra, lead_ps, way_ps;
    i64 free_ps, part; /* when it is next free */
};

/* Begin with an item that is ready: at the same time, or when the line is free, or with a slot. */
static inline void begin(struct line *line, i64 ready_ps)
{
    if (ready_ps <= line->free_ps)
        return;
    if (!line->slotted) {
        line->free_ps = ready_ps;
        line->part = 0;
        return;
    }
    while (ready_ps - line->free_ps > 10 * line->slot_ps) { /* never beyond the slot looked for */
        i64 slots = (ready_ps - line->free_ps) / (line->slot_ps + 1);
        i64 part = line->part + slots * line->slot_part;
        line->free_ps += slots * line->slot_ps + part / line->denominator;
        line->part = part % line->denominator;
    }
    while (line->free_ps < ready_ps) {
        line->free_ps += line->slot_ps;
        line->part += line->slot_part;
        if (line->part >= line->denominator) {
            line->part -= line->denominator;
            line->free_ps++;
        }
    }
}

/* Send; return when the last bit is at the far end. */
static inline i64 send(struct line *line, i64 size)
{
    i64 bytes = size + line->header;
    bytes = (bytes < line->least ? line->least : bytes) + line->extra;
    line->free_ps += bytes * line->byte_ps;
    line->part += bytes * line->byte_part;
    if (line->part >= line->denominator) {
        line->free_ps += line->part / line->denominator;
        line->part %= line->denominator;
    }
    return line->free_ps + line->way_ps;
}

#ifndef PLACES
#define PLACES 256 /* a queue holds at most so many; a power of two */
#endif
enum { LOST = -1 };

struct queue { /* when each item that waits begins */
    i64 head, tail, limit, begins_ps[PLACES];
};

static inline void release(struct queue *queue, i64 now_ps)
{
    while (queue->head < queue->tail && queue->begins_ps[queue->head % PLACES] <= now_ps)
        queue->head++;
}

/* Let an item wait until it begins; return whether there was room. */
static inline int admit(struct queue *queue, i64 now_ps, i64 begins_ps)
{
    release(queue, now_ps);
    if (begins_ps > now_ps) {
        if (queue->tail - queue->head >= queue->limit)
            return 0;
        queue->begins_ps[queue->tail++ % PLACES] = begins_ps;
    }
    return 1;
}

struct output { /* a queue with its line */
    struct queue queue;
    struct line line;
};

static inline i64 leave(struct output *output, i64 now_ps, i64 size)
{
    begin(&output->line, now_ps);
    if (!admit(&output->queue, now_ps, output->line.free_ps))
        return LOST;
    return send(&output->line, size);
}

/* ---- flows */

struct row { /* one per flow */
    i64 count, least_ps, largest_ps, unused;
    u128 sum_ps, squares_ps2;
};

struct trial {
    i64 stop_ps, size, limit, service_ps;
    void *exponentials;      /* NumPy's function */
    const struct line *line; /* as all are at the beginning */
    i64 *planned, *sent, *lost, *carried;
    struct row *rows;
    i64 *buckets, row_buckets; /* log-linear, 512 per octave */
};

enum { BLOCK = 4096 };

struct source {
    void *generator;
    double gap_ps; /* mean */
    i64 ready_ps, drawn;
    double gaps[BLOCK];
    struct line line;
};

typedef void exponentials(void *generator, intptr_t count, double *values);

/* Draw when the next item is ready, and let its turn come when the line is free; none if the trial
   has ended by then. */
static inline void schedule(const struct trial *trial, struct events *events,
                            struct source *source, i64 flow)
{
    if (source->drawn == BLOCK) {
        ((exponentials *)trial->exponentials)(source->generator, BLOCK, source->gaps);
        source->drawn = 0;
    }
    source->ready_ps += (i64)(source->gaps[source->drawn++] * source->gap_ps);
    if (source->ready_ps >= trial->stop_ps)
        return;
    trial->planned[flow]++;
    begin(&source->line, source->ready_ps);
    push(events, source->line.free_ps, flow, flow);
}

/* Send the item whose turn it is on its way to a place, and make the next one ready. */
static inline void emit(const struct trial *trial, struct events *events, struct pool *pool,
                        struct source *source, i64 flow, i64 to)
{
    i64 item = take(pool), sent_ps = source->line.free_ps + source->line.lead_ps;
    pool->items[item] = (struct item){sent_ps, flow, trial->size};
    trial->sent[flow] += sent_ps < trial->stop_ps;
    push(events, send(&source->line, trial->size), to, item);
    schedule(trial, events, source, flow);
}

static inline void lose(const struct trial *trial, struct pool *pool, i64 item)
{
    trial->lost[pool->items[item].flow] += pool->items[item].sent_ps < trial->stop_ps;
    give_back(pool, item);
}

static inline void receive(const struct trial *trial, struct pool *pool, i64 item, i64 at_ps)
{
    i64 flow = pool->items[item].flow, sent_ps = pool->items[item].sent_ps;
    i64 delay_ps = at_ps - sent_ps, bits;
    give_back(pool, item);
    trial->carried[flow] += at_ps < trial->stop_ps;
    if (sent_ps >= trial->stop_ps)
        return;
    struct row *row = trial->rows + flow;
    double as_double = (double)delay_ps;
    memcpy(&bits, &as_double, sizeof bits);
    i64 bucket = (bits >> 43) - ((1023 << 9) - 1);
    trial->buckets[trial->row_buckets * flow + (bucket > 0 ? bucket : 0)]++;
    row->count++;
    if (delay_ps < row->least_ps)
        row->least_ps = delay_ps;
    if (delay_ps > row->largest_ps)
        row->largest_ps = delay_ps;
    row->sum_ps += delay_ps;
    row->squares_ps2 += (u128)delay_ps * delay_ps;
}

static inline struct output output(const struct trial *trial)
{
    return (struct output){{0, 0, trial->limit, {0}}, *trial->line};
}

static inline void start(const struct trial *trial, struct events *events, struct source *sources,
                         i64 flow, void *generator, double gap_ps)
{
    struct source *source = sources + flow;
    source->generator = generator;
    source->gap_ps = gap_ps;
    source->ready_ps = 0;
    source->drawn = BLOCK;
    source->line = *trial->line;
    schedule(trial, events, source, flow);
}

static inline void finish(struct events *events, struct pool *pool)
{
    free(events->heap);
    free(pool->items);
    free(pool->unused);
}
