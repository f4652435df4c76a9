/* W1 in C: CBR flows through the tester's own line and a chain of lines, with all statistics.

   The same exact arithmetic and the same counts as the engine: times are whole picoseconds and a
   numerator below a denominator. Cells lie in columns; each step is a loop over the cells of a
   window, in place. Windows are as long as is best here. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t i64;
typedef unsigned __int128 u128;

struct flows { /* when each is first ready, in order, and its interval */
    i64 count;
    const i64 *phase_ps;
    const int32_t *connection;
    i64 period_ps, period_part, denominator;
};

struct line {
    i64 cell_ps, cell_part, denominator; /* time of one cell */
    i64 free_ps, part;                   /* when it is next free */
};

struct row { /* one per connection */
    i64 count, least_ps, largest_ps, unused;
    u128 sum_ps, squares_ps2;
};

struct trial {
    i64 connections, stop_ps, window_ps, capacity, hops;
    i64 *planned, *sent;
    struct row *rows;
    i64 *buckets; /* log-linear, 512 per octave */
};

/* Send cells one after another; began_ps, unless NULL, receives the start of each. */
static void hop(i64 n, i64 *at_ps, i64 *began_ps, struct line *line)
{
    i64 free_ps = line->free_ps, part = line->part;
    for (i64 i = 0; i < n; i++) {
        if (at_ps[i] > free_ps) {
            free_ps = at_ps[i];
            part = 0;
        }
        if (began_ps)
            began_ps[i] = free_ps;
        free_ps += line->cell_ps;
        part += line->cell_part;
        if (part >= line->denominator) {
            part -= line->denominator;
            free_ps++;
        }
        at_ps[i] = free_ps;
    }
    line->free_ps = free_ps;
    line->part = part;
}

static void observe(i64 n, const i64 *at_ps, const i64 *sent_ps, const int32_t *connection,
                    const struct trial *trial)
{
    for (i64 i = 0; i < n; i++) {
        struct row *row = trial->rows + connection[i];
        i64 delay_ps = at_ps[i] - sent_ps[i], bits;
        double as_double = (double)delay_ps;
        memcpy(&bits, &as_double, sizeof bits);
        i64 bucket = (bits >> 43) - ((1023 << 9) - 1);
        trial->buckets[bucket > 0 ? bucket : 0]++;
        row->count++;
        if (delay_ps < row->least_ps)
            row->least_ps = delay_ps;
        if (delay_ps > row->largest_ps)
            row->largest_ps = delay_ps;
        row->sum_ps += delay_ps;
        row->squares_ps2 += (u128)delay_ps * delay_ps;
    }
}

void w1(const struct flows *flows, struct line *tester, struct line *lines,
        const struct trial *trial)
{
    i64 *at_ps = malloc(trial->capacity * sizeof *at_ps);
    i64 *sent_ps = malloc(trial->capacity * sizeof *sent_ps);
    int32_t *connection = malloc(trial->capacity * sizeof *connection);
    i64 base_ps = 0, base_part = 0, k = 0;

    for (i64 until_ps = 0; until_ps < trial->stop_ps;) {
        until_ps += trial->window_ps;
        if (until_ps > trial->stop_ps)
            until_ps = trial->stop_ps;
        i64 n = 0;
        for (;;) {
            i64 ready_ps = base_ps + flows->phase_ps[k];
            if (ready_ps >= until_ps)
                break;
            at_ps[n] = ready_ps;
            connection[n++] = flows->connection[k];
            if (++k == flows->count) {
                k = 0;
                base_ps += flows->period_ps;
                base_part += flows->period_part;
                if (base_part >= flows->denominator) {
                    base_part -= flows->denominator;
                    base_ps++;
                }
            }
        }
        for (i64 i = 0; i < n; i++)
            trial->planned[connection[i]]++;
        hop(n, at_ps, sent_ps, tester);
        for (i64 h = 0; h < trial->hops; h++)
            hop(n, at_ps, NULL, lines + h);
        while (n && sent_ps[n - 1] >= trial->stop_ps)
            n--;
        for (i64 i = 0; i < n; i++)
            trial->sent[connection[i]]++;
        observe(n, at_ps, sent_ps, connection, trial);
    }
    free(at_ps);
    free(sent_ps);
    free(connection);
}
