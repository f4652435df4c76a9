"""`python -m qospec` is `qos`, for where its folder is not on the path."""

from qospec.cli import main

if __name__ == "__main__":
    main()
