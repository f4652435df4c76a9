"""What every device promises without anyone writing it: judged of a trial that has been run.

Each file has promises of one kind. A trial is held to them by `promises = true` in `run`, and in
each example that `qos fuzz` draws.
"""
