"""How it fades: retention (Eq. 1, 3), strength (Eq. 2), their rivals, and fits to data.

The curves: `retention`, `rivals`, `strength`, `wishes` (a sigmoid that meets what one wants). The data: `data` (bundled tables),
`savings`, `recall_log`, `simulation`. The fits: `families` (what is free), `fitting`, `uncertainty`, `scores`.
"""
