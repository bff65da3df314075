"""Mass properties of rigid bodies made of spheres: volume and moments, principal axes."""
