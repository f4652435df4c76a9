"""Network calculus: bounds of delays and backlogs that are proved, in exact numbers.

Arrivals are bounded by concave curves, services by convex ones. Pure Python, and nothing of
networks: `plan` puts curves together along the paths of a case. Cited by section: J.-Y. Le
Boudec and P. Thiran, Network Calculus (LNCS 2050, Springer 2001).
"""
