"""Records of kinds: fields, layers, addresses, and the parameters of declarations."""
