"""Files: projects, imports, and the library."""
