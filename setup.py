"""Takes the version of what is built from the tag; all else is in `setup.cfg`.

A file of the checkout would have to be changed before each tag. setuptools-scm would also put each
tracked file into the source distribution, as long as it is installed.
"""

import re
import subprocess
from email.parser import HeaderParser
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
MODULE = Path("qospec", "version.py")
CONSTANT = re.compile(r'(?<=^VERSION = ")[^"]*(?="$)', re.MULTILINE)
MATCH = "v[0-9]*.[0-9]*.[0-9]*"
TAG = re.compile(r"v(\d+\.\d+)\.(\d+)-(\d+)-g(\w+)")
"""As `git describe --long` has it: release, patch, how many commits came after it, and the last."""


def find_version() -> str:
    """Return the version of this folder: of a source distribution its own, of a clone its tag's.

    A folder of neither kind has the version of what is run from source.
    """
    packed = ROOT / "PKG-INFO"
    if packed.exists():
        return HeaderParser().parsestr(packed.read_text(encoding="utf-8"))["Version"]
    if ask_git("rev-parse", "--show-prefix", "--is-inside-work-tree") == "\ntrue":
        return describe_clone()
    return read_source()  # no clone, or a folder in one of something else


def describe_clone() -> str:
    """Return the version of a clone: that of its tag, or a development version of the next patch.

    It is one of 0.0.0 where there is no tag, as in a clone that has none of the history.
    """
    tag = TAG.fullmatch(ask_git("describe", "--tags", "--long", "--match", MATCH))
    changed = ask_git("status", "--porcelain", "--untracked-files=no") != ""
    if tag is None:
        since, commit = (
            ask_git("rev-list", "--count", "HEAD"),
            ask_git("rev-parse", "--short", "HEAD"),
        )
        version = f"0.0.0.dev{since}+g{commit}" if commit else read_source()
    elif tag[3] == "0" and not changed:
        return f"{tag[1]}.{tag[2]}"
    else:
        version = f"{tag[1]}.{int(tag[2]) + 1}.dev{tag[3]}+g{tag[4]}"
    return f"{version}.changed" if changed else version


def ask_git(*words: str) -> str:
    """Return what git says of this folder, without the last line break; "" if it cannot."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.removesuffix("\n")


def read_source() -> str:
    """Return the version that the package has in a checkout."""
    return CONSTANT.search((ROOT / "interpreter" / MODULE).read_text(encoding="utf-8"))[0]


class BuildWithVersion(build_py):
    """Builds the package with the version in place of that of a checkout."""

    def run(self) -> None:
        """Build; what is installed for editing is the checkout, which stays as it is."""
        super().run()
        if not self.editable_mode:
            module = Path(self.build_lib, MODULE)
            text = CONSTANT.sub(self.distribution.get_version(), module.read_text(encoding="utf-8"))
            module.unlink()  # it may be a link to the file of the checkout
            module.write_text(text, encoding="utf-8")


setup(version=find_version(), cmdclass={"build_py": BuildWithVersion})
