"""Facts of the protocols, which the language and the engine share: pure Python, no arrays."""
