"""`envdoctor warm`: fill the compile cache for each device, and prove from fresh processes that it is enough."""
