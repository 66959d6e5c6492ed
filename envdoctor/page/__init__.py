"""`envdoctor report`: what the state remembers and what is seen just now, put together for one page."""
