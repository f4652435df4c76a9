"""The engine: batches of cells carried through elements, exactly; it has never heard of `.qos`."""
