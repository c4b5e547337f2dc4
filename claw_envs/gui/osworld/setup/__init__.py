"""The steps that bring a machine into a task's first state, and those that come before its evaluation."""
