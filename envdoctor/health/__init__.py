"""`envdoctor health`: look after any number of environments, without disturbing or trusting any of them."""
