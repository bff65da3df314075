"""Narrow phase: contacts among the candidate pairs, their forces, and the force and torque on each clump."""
