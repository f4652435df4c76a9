"""Reference documents: kinds, units, the library, keywords, errors, and where a field came from.

Nothing is listed here: everything is read from the declarations themselves.
"""
