"""Scripted experts, which solve tasks through the observation's text alone, and a random agent beside them."""
