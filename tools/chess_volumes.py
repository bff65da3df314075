"""How much of the chess pieces their spheres leave out, for 25 to 200 spheres.

    python tools/chess_volumes.py

Volume of the union of the spheres against that of the exact surface which they fill (`minidem.chess`). Takes
about twenty seconds.
"""
import argparse
import sys

from minidem import chess

COUNTS = (25, 50, 100, 200)


def main(argv=None):
    argparse.ArgumentParser(prog="chess_volumes.py", description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args(argv)
    print("| spheres | " + " | ".join(map(str, COUNTS)) + " |")
    print("| --- |" + " --- |" * len(COUNTS))
    for name in chess.HEIGHTS:
        errors = (chess.volume_error(name, count) for count in COUNTS)
        print(f"| {name} | " + " | ".join(f"{100 * error:.1f} %" for error in errors) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
