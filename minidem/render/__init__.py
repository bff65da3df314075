"""Pictures and movies with pyvista (extra `render`), also without a display.

scene.py draws spheres and walls, contacts.py contacts, legend.py scales and axes; movie.py draws the frames of a run,
show.py a simulation in a notebook. pyvista is imported when a picture is drawn.
"""
