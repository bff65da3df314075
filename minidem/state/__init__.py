"""Where clumps and spheres are stored: blocks of eight clumps, their rows, and the slots of the spheres."""
