"""What exists, as data: kinds, units, the library, keywords, errors, and where a field came from.

Nothing is listed here: all of it is read from the declarations themselves.
"""
