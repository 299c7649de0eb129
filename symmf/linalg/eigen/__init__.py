"""Top eigenpairs of a symmetric operator, by the route that fits it."""
