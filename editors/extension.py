"""Checks that a packaged extension has all that it names."""

import argparse
import json
import sys
import zipfile


def list_missing(path: str, version: str) -> list[str]:
    """Return what a package lacks, or that it has not this version."""
    with zipfile.ZipFile(path) as package:
        held = set(package.namelist())
        manifest = json.loads(package.read("extension/package.json"))
    contributed = manifest["contributes"]
    named = [manifest["main"], "LICENSE.txt", "readme.md"]
    named += [grammar["path"] for grammar in contributed["grammars"]]
    named += [language["configuration"] for language in contributed["languages"]]
    named += [f"node_modules/{needed}/package.json" for needed in manifest["dependencies"]]
    missing = [name for name in named if f"extension/{name.removeprefix('./')}" not in held]
    return missing + ([] if manifest["version"] == version else [f"version {version}"])


def main() -> None:
    """Print what the package lacks, and exit with 1 if that is anything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", metavar="FILE.vsix")
    parser.add_argument("version", metavar="VERSION")
    given = parser.parse_args()
    path, missing = given.path, list_missing(given.path, given.version)
    print(f"{path}: lacks {' '.join(missing)}" if missing else f"{path}: complete")
    sys.exit(bool(missing))


if __name__ == "__main__":
    main()
