"""The programs of the folders that `prove-rl engine prepare` writes."""
