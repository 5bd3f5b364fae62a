"""The kit's own prompts, in English and Chinese, and the fence that keeps stored text apart from instructions."""
