"""What is written as JSON, for programs and for templates: an object of names and values."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
