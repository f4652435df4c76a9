"""The engine: cells and packets carried through elements, exactly; it has never heard of `.qos`."""
