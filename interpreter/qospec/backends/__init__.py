"""Back ends: what carries trials out. One file each."""
