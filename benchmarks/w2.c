/* W2 in C: Poisson packets of three classes through the tester's line, a classifier, and a line that serves
   three queues: the first by strict priority, the others by deficit round robin; with all statistics.

   The same draws, by NumPy's own C functions, the same exact arithmetic and the same counts as the engine.
   Packets lie in columns; each step is a loop over the packets of a window. What the engine parts and merges
   is only told apart here: a packet's class is a number. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t i64;
typedef unsigned __int128 u128;

enum { CLASSES = 3, PLACES = 1024 }; /* a queue holds fewer than PLACES */

struct source {
    void *gaps, *sizes; /* bit generators */
    double gap_ps;      /* mean */
    i64 marks;
    const int32_t *size_of; /* by number drawn */
    i64 numbers;
    i64 last_ps;
};

struct line {
    i64 byte_ps, byte_part, denominator;
    i64 header, least, extra, lead_ps, way_ps;
    i64 free_ps, part; /* when it is next free */
};

struct row { /* one per flow */
    i64 count, least_ps, largest_ps, unused;
    u128 sum_ps, squares_ps2;
};

struct trial {
    i64 stop_ps, window_ps, capacity;
    void *exponentials, *bounded; /* NumPy's functions */
    const uint8_t *class_of;      /* by marks */
    const i64 *limits, *quanta;   /* packets; bytes, of the second and the third class */
    i64 *planned, *sent, *lost, *carried;
    struct row *rows;
    i64 *buckets, row_buckets; /* log-linear, 512 per octave */
    i64 *sent_bytes, *carried_bytes;
};

typedef void exponentials(void *generator, intptr_t count, double *values);
typedef void bounded(void *generator, uint32_t low, uint32_t range, intptr_t count, _Bool masked,
                     uint32_t *values);

struct packets {
    i64 count, *at_ps, *sent_ps;
    int32_t *flow, *size;
    uint32_t *marks;
};

static struct packets packets(i64 capacity)
{
    return (struct packets){0, malloc(capacity * 8), malloc(capacity * 8), malloc(capacity * 4),
                            malloc(capacity * 4), malloc(capacity * 4)};
}

static void release(struct packets *p)
{
    free(p->at_ps), free(p->sent_ps), free(p->flow), free(p->size), free(p->marks);
}

/* ---- sources */

enum { BLOCK = 4096 };

struct ready { /* of one source, in order of time */
    i64 first, count, *at_ps;
    int32_t *size;
};

static void generate(const struct trial *trial, struct source *source, struct ready *ready,
                     i64 until_ps)
{
    double gaps[BLOCK];
    uint32_t numbers[BLOCK];
    ready->count -= ready->first;
    memmove(ready->at_ps, ready->at_ps + ready->first, ready->count * 8);
    memmove(ready->size, ready->size + ready->first, ready->count * 4);
    ready->first = 0;
    while (source->last_ps < until_ps) {
        ((exponentials *)trial->exponentials)(source->gaps, BLOCK, gaps);
        ((bounded *)trial->bounded)(source->sizes, 0, source->numbers - 1, BLOCK, 0, numbers);
        i64 at_ps = source->last_ps;
        for (i64 i = 0; i < BLOCK; i++) {
            at_ps += (i64)(gaps[i] * source->gap_ps);
            ready->at_ps[ready->count + i] = at_ps;
            ready->size[ready->count + i] = source->size_of[numbers[i]];
        }
        source->last_ps = at_ps;
        ready->count += BLOCK;
    }
}

/* Append what is ready before until_ps, by time, then by flow. */
static void merge(const struct trial *trial, const struct source *sources, struct ready *ready,
                  i64 until_ps, struct packets *to)
{
    i64 n = to->count, at[CLASSES];
    for (int f = 0; f < CLASSES; f++)
        at[f] = ready[f].at_ps[ready[f].first];
    for (;;) {
        int f = at[1] < at[0];
        f = at[2] < at[f] ? 2 : f;
        if (at[f] >= until_ps)
            break;
        struct ready *from = ready + f;
        to->at_ps[n] = at[f];
        to->flow[n] = f;
        to->size[n] = from->size[from->first];
        to->marks[n++] = sources[f].marks;
        trial->planned[f]++;
        at[f] = from->at_ps[++from->first];
    }
    to->count = n;
}

/* ---- lines */

static inline void send(struct line *line, i64 size)
{
    i64 bytes = size + line->header;
    bytes = (bytes < line->least ? line->least : bytes) + line->extra;
    line->free_ps += bytes * line->byte_ps;
    if (line->byte_part) {
        line->part += bytes * line->byte_part;
        line->free_ps += line->part / line->denominator;
        line->part %= line->denominator;
    }
}

static i64 weigh(const struct line *line, i64 size)
{
    return size + line->header < line->least ? line->least : size + line->header;
}

/* Send the packets from number `first` on, and count those sent before the end. */
static void tester(const struct trial *trial, struct line *line, struct packets *p, i64 first)
{
    for (i64 i = first; i < p->count; i++) {
        if (p->at_ps[i] > line->free_ps) {
            line->free_ps = p->at_ps[i];
            line->part = 0;
        }
        p->sent_ps[i] = line->free_ps + line->lead_ps;
        send(line, p->size[i]);
        p->at_ps[i] = line->free_ps + line->way_ps;
        if (p->sent_ps[i] < trial->stop_ps) {
            i64 f = p->flow[i];
            trial->sent[f]++;
            trial->sent_bytes[2 * f] += p->size[i];
            trial->sent_bytes[2 * f + 1] += weigh(line, p->size[i]);
        }
    }
}

/* ---- queues and schedulers */

struct packet {
    i64 sent_ps;
    int32_t flow, size;
    uint32_t marks;
};

struct queue {
    i64 head, tail;
    struct packet ring[PLACES];
};

struct scheduler {
    struct queue queues[CLASSES];
    i64 deficit[CLASSES];
    int list[2], listed; /* the backlogged classes of the round robin, in turn */
    int granted, on_list[CLASSES];
    i64 next; /* number of the next packet to arrive */
};

static void enter(struct scheduler *s, int class, const struct packets *p, i64 i)
{
    struct queue *queue = s->queues + class;
    queue->ring[queue->tail++ % PLACES] =
        (struct packet){p->sent_ps[i], p->flow[i], p->size[i], p->marks[i]};
    if (class && !s->on_list[class]) {
        s->on_list[class] = 1;
        s->deficit[class] = 0;
        s->list[s->listed++] = class;
    }
}

static void come(const struct trial *trial, struct scheduler *s, struct packets *p,
                 uint8_t *classes, i64 free_ps, i64 bound_ps)
{
    i64 i = s->next;
    for (; i < p->count && p->at_ps[i] < bound_ps; i++) {
        int class = classes[i];
        if (class == CLASSES)
            continue;
        struct queue *queue = s->queues + class;
        if (queue->tail - queue->head < trial->limits[class])
            enter(s, class, p, i);
        else if (p->sent_ps[i] < trial->stop_ps)
            trial->lost[p->flow[i]]++;
    }
    s->next = i;
    for (; i < p->count && p->at_ps[i] == free_ps; i++) {
        int class = classes[i];
        if (class != CLASSES && s->queues[class].head == s->queues[class].tail) {
            enter(s, class, p, i);
            classes[i] = CLASSES; /* is listed already */
        }
    }
}

/* Take the first class off the list. */
static void leave(struct scheduler *s)
{
    s->on_list[s->list[0]] = 0;
    s->list[0] = s->list[1];
    s->listed--;
    s->granted = 0;
}

static int round_robin(const struct trial *trial, struct scheduler *s)
{
    for (;;) {
        int class = s->list[0];
        struct queue *queue = s->queues + class;
        if (!s->granted) {
            s->deficit[class] += trial->quanta[class - 1];
            s->granted = 1;
        }
        if (queue->ring[queue->head % PLACES].size <= s->deficit[class])
            return class;
        if (s->listed == 2) {
            s->list[0] = s->list[1];
            s->list[1] = class;
        }
        s->granted = 0;
    }
}

static void observe(const struct trial *trial, const struct line *first, const struct packet *p,
                    i64 at_ps)
{
    struct row *row = trial->rows + p->flow;
    i64 delay_ps = at_ps - p->sent_ps, bits;
    if (at_ps < trial->stop_ps) {
        trial->carried[p->flow]++;
        trial->carried_bytes[2 * p->flow] += p->size;
        trial->carried_bytes[2 * p->flow + 1] += weigh(first, p->size);
    }
    if (p->sent_ps >= trial->stop_ps)
        return;
    double as_double = (double)delay_ps;
    memcpy(&bits, &as_double, sizeof bits);
    i64 bucket = (bits >> 43) - ((1023 << 9) - 1);
    trial->buckets[trial->row_buckets * p->flow + (bucket > 0 ? bucket : 0)]++;
    row->count++;
    if (delay_ps < row->least_ps)
        row->least_ps = delay_ps;
    if (delay_ps > row->largest_ps)
        row->largest_ps = delay_ps;
    row->sum_ps += delay_ps;
    row->squares_ps2 += (u128)delay_ps * delay_ps;
}

/* Make all decisions before until_ps. The inner scheduler is asked before each, and tells that it
   has sent a queue's last packet when the line is free, as in the engine. */
static void serve(const struct trial *trial, struct scheduler *s, struct line *line,
                  const struct line *first, struct packets *p, uint8_t *classes, i64 until_ps)
{
    for (;;) {
        come(trial, s, p, classes, line->free_ps, line->free_ps + (line->part > 0));
        if (line->free_ps >= until_ps)
            break;
        int urgent = s->queues[0].head != s->queues[0].tail;
        while (s->listed && s->queues[s->list[0]].head == s->queues[s->list[0]].tail)
            leave(s);
        if (!urgent && !s->listed) {
            while (s->next < p->count && classes[s->next] == CLASSES)
                s->next++;
            if (s->next == p->count)
                break;
            line->free_ps = p->at_ps[s->next];
            line->part = 0;
            continue;
        }
        int fair = s->listed ? round_robin(trial, s) : 0;
        int class = urgent ? 0 : fair;
        struct queue *queue = s->queues + class;
        struct packet *packet = queue->ring + queue->head++ % PLACES;
        if (class)
            s->deficit[class] -= packet->size;
        send(line, packet->size);
        observe(trial, first, packet, line->free_ps + line->way_ps);
    }
}

void w2(struct source *sources, struct line *first, struct line *line, const struct trial *trial)
{
    struct packets p = packets(trial->capacity);
    struct ready ready[CLASSES] = {{0}};
    struct scheduler *scheduler = calloc(1, sizeof *scheduler);
    uint8_t *classes = malloc(trial->capacity);
    for (int f = 0; f < CLASSES; f++) {
        ready[f].at_ps = malloc(trial->capacity * 8);
        ready[f].size = malloc(trial->capacity * 4);
    }
    for (i64 until_ps = 0; until_ps < trial->stop_ps;) {
        until_ps += trial->window_ps;
        if (until_ps > trial->stop_ps)
            until_ps = trial->stop_ps;
        i64 old = p.count;
        for (int f = 0; f < CLASSES; f++)
            generate(trial, sources + f, ready + f, until_ps);
        merge(trial, sources, ready, until_ps, &p);
        tester(trial, first, &p, old);
        for (i64 i = old; i < p.count; i++)
            classes[i] = trial->class_of[p.marks[i]];
        serve(trial, scheduler, line, first, &p, classes,
              until_ps < trial->stop_ps ? until_ps : INT64_MAX);
        i64 left = p.count - scheduler->next, from = scheduler->next;
        memmove(p.at_ps, p.at_ps + from, left * 8);
        memmove(p.sent_ps, p.sent_ps + from, left * 8);
        memmove(p.flow, p.flow + from, left * 4);
        memmove(p.size, p.size + from, left * 4);
        memmove(p.marks, p.marks + from, left * 4);
        memmove(classes, classes + from, left);
        p.count = left;
        scheduler->next = 0;
    }
    for (int f = 0; f < CLASSES; f++)
        free(ready[f].at_ps), free(ready[f].size);
    free(classes);
    free(scheduler);
    release(&p);
}
