"""What is different between two recorded snapshots, told as events."""
