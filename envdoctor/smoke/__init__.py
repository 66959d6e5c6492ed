"""Try out on each device, in the target's own interpreter, what training does."""
