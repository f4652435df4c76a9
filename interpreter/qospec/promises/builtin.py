"""All promises."""

from __future__ import annotations

from qospec.promises import again, loss, metrics, rate, time

CHEAP = (*time.PROMISES, *rate.PROMISES, *metrics.PROMISES)
"""Those for which nothing is run again."""
ALL = (*CHEAP, *again.PROMISES, *loss.PROMISES)
