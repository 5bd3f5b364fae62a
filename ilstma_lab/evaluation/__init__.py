"""How well it remembers: data sets behind one interface, metrics, and reports with bands."""
