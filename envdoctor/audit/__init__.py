"""`envdoctor lock audit`: the rules of the area `lock`, held against lock files."""
