"""Problems with known solutions, on which published figures and ours can be compared."""
