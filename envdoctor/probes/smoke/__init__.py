"""Steps that `envdoctor smoke` tries out on a device; `check` runs none of them."""
