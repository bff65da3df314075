"""Fields: quantities of clumps that users add, which fluxes, laws and forces change."""
