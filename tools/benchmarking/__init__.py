"""What tools/benchmark.py is made of.

options.py reads the command line. run.py starts child.py, which measures one case in a process of its own;
throughput.py starts portions.py, several at once, and sets threads beside runs; provenance.py says of which
version and on which processor; core.py measures what one core can do, counting.py says what a step asks of
it, and bounds.py sets the two beside each other; drawing.py draws the rows of a file.
"""
