"""What tools/benchmark.py is made of.

run.py starts child.py, which measures one case in a process of its own; provenance.py says of which version
and on which processor; core.py measures what one core can do, counting.py says what a step asks of it, and
bounds.py sets the two beside each other; drawing.py draws the rows of a file.
"""
