"""The search methods: which load a search tries next. One file each."""
