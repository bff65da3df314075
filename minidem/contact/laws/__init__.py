"""Normal contact laws."""
