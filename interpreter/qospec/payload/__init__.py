"""The bytes of items, made behind a run from what each item is: payload, headers, encryption."""
