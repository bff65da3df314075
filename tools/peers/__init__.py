"""The codes that tools/compare_peers.py can run beside minidem.

A new one is a file like lammps_peer.py and an entry here.
"""

from peers.lammps_peer import LAMMPS
from peers.liggghts_peer import LIGGGHTS
from peers.yade_peer import YADE

PEERS = {peer.name: peer for peer in (YADE, LAMMPS, LIGGGHTS)}
