"""Walls and a periodic box that move, or that forces move.

course.pyx      the course: where walls and box are in coming steps; what a Snapshot keeps of it
steer.pyx       phase: forces move walls and box in the step that begins
servo.pyx       loads and motion of walls with a Servo or Driven
pressure.pyx    stress, and rates of the lengths of a box under a Pressure
box.pyx         state and poses of a box that moves
work.pyx        phase: the work of walls, box and held clumps
wall_sums.pyx   observer of contacts: the work of walls that move, loads of those that forces move
box_sums.pyx    observer of contacts: the work and the stress of a box
"""
