"""The codes that tools/compare_peers.py can run beside minidem.

A new one is a file like yade_peer.py and an entry here.
"""

from peers.yade_peer import YADE

PEERS = {peer.name: peer for peer in (YADE,)}
