"""Where workers are that do jobs: processes here, and a Dask cluster elsewhere."""
