"""How it fades: retention (Eq. 1, 3) and strength (Eq. 2)."""
