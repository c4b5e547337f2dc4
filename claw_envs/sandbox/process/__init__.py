"""Running commands, whatever the backend: child processes, the persistent shell, bounded output, files in and out."""
