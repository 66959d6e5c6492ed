"""Some of these rules have a namesake in another area; a package keeps their tests apart."""
