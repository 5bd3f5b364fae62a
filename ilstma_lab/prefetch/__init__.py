"""How it is kept at hand: the prefetch score (Eq. 4), the window, the cache."""
