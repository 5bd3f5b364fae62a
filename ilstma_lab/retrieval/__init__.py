"""How it is found: branch B over dialogues, branch A over chunks, and the referee."""
