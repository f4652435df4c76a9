/* W3 in C: one GCRA per connection over batches of cells, in exact rational time.

   Like the element, it writes a verdict per cell, and parts the batch only if some cell violates. */

#include <stdint.h>

typedef int64_t i64;

struct columns {
    i64 *at_ps, *sent_ps;
    int32_t *connection, *size_bytes;
    uint32_t *clp;
};

struct test { /* one per connection */
    i64 due_ps, part;                              /* the theoretical arrival time */
    i64 increment_ps, increment_part, denominator; /* T */
    i64 tolerance_ps;
};

/* Write 1 for each cell that violates; return how many do. */
static i64 police(i64 n, const struct columns *in, struct test *tests, uint8_t *violates)
{
    i64 violations = 0;
    for (i64 i = 0; i < n; i++) {
        struct test *test = tests + in->connection[i];
        i64 at_ps = in->at_ps[i];
        if (at_ps + test->tolerance_ps < test->due_ps) {
            violates[i] = 1;
            violations++;
            continue;
        }
        violates[i] = 0;
        if (at_ps > test->due_ps) {
            test->due_ps = at_ps;
            test->part = 0;
        }
        test->due_ps += test->increment_ps;
        test->part += test->increment_part;
        if (test->part >= test->denominator) {
            test->part -= test->denominator;
            test->due_ps++;
        }
    }
    return violations;
}

/* Move the cells that conform to the front of `out`, the others behind them. */
static void part(i64 n, const struct columns *in, const uint8_t *violates, i64 conform,
                 const struct columns *out)
{
    i64 place[2] = {0, conform};
    for (i64 i = 0; i < n; i++) {
        i64 k = place[violates[i]]++;
        out->at_ps[k] = in->at_ps[i];
        out->sent_ps[k] = in->sent_ps[i];
        out->connection[k] = in->connection[i];
        out->size_bytes[k] = in->size_bytes[i];
        out->clp[k] = in->clp[i];
    }
}

/* Police n cells; return how many violate. `out` is written only if any does. */
i64 w3(i64 n, const struct columns *in, struct test *tests, uint8_t *violates,
       const struct columns *out)
{
    i64 violations = police(n, in, tests, violates);
    if (violations)
        part(n, in, violates, n - violations, out);
    return violations;
}
