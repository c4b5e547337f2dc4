"""MiniWoB++: small web pages that state a task, start from a seed and give their own reward."""
