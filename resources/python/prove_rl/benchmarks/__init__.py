"""The programs that `prove-rl benchmark` starts, one for each official benchmark."""
