"""The codes that tools/compare_peers.py compares with minidem.

To add a peer, write a module like lammps_peer.py and add it to PEERS.
"""

from peers.lammps_peer import LAMMPS
from peers.liggghts_peer import LIGGGHTS
from peers.yade_peer import YADE

PEERS = {peer.name: peer for peer in (YADE, LAMMPS, LIGGGHTS)}
