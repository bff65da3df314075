"""What is computed from a state: energies, momenta, contacts, warnings."""
