"""Released packages: fetched by hash, unpacked below `.cache`, searched, run, and never committed."""
