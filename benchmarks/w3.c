/* W3 in C: one GCRA per connection over batches of cells, in exact rational time.

   Like the element, it parts each batch into the cells that conform and those that do not. */

#include <stdint.h>

typedef int64_t i64;

struct columns {
    i64 *at_ps, *sent_ps;
    int32_t *connection, *size_bytes;
    uint8_t *clp;
};

struct test { /* one per connection */
    i64 due_ps, part;                          /* the theoretical arrival time */
    i64 increment_ps, increment_part, denominator; /* T */
    i64 tolerance_ps;
};

/* Police n cells; write those that conform to the front of `out`, the others from its end on
   backwards; return how many conform. */
i64 w3(i64 n, const struct columns *in, struct test *tests, const struct columns *out)
{
    i64 conform = 0, violate = 0;
    for (i64 i = 0; i < n; i++) {
        struct test *test = tests + in->connection[i];
        i64 at_ps = in->at_ps[i], k;
        if (at_ps + test->tolerance_ps < test->due_ps + (test->part > 0)) {
            k = n - ++violate;
        } else {
            k = conform++;
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
        out->at_ps[k] = at_ps;
        out->sent_ps[k] = in->sent_ps[i];
        out->connection[k] = in->connection[i];
        out->size_bytes[k] = in->size_bytes[i];
        out->clp[k] = in->clp[i];
    }
    return conform;
}
