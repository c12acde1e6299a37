"""A repository made searchable: cut into chunks, embedded offline, indexed by meaning and by words."""
