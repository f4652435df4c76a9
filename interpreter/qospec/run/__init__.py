"""From a checked specification to verdicts; `plan` is the one module that knows both halves."""
