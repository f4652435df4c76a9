"""The engine: batches of cells carried through elements, exactly. It has never heard of the language."""
