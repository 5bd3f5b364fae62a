"""What is remembered: dialogues, the global memory table, short-term memory, and how they are kept on disk."""
