"""Parts of laws with friction by the words of their parameters; the first word is the default.

The only file to edit for another part.
"""
from minidem.contact.parts import epsd, linear, mindlin, rescale

TANGENTIAL = {"rescale": rescale.PART, "mindlin": mindlin.PART, "linear": linear.PART}
ROLLING = {"none": None, "epsd": epsd.PART}
