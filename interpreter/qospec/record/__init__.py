"""The record of a run: its document, its schema, and the files that hold it."""
