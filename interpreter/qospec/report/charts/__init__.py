"""Charts and drawings: what they show, and the coordinates at which templates draw it as SVG."""
