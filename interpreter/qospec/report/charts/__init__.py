"""Charts as SVG: axes, curves, and which samples they show."""
