"""Documents: JSON objects for programs and templates."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]
