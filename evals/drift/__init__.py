"""Does the model still say what the tape says: a sample of recorded requests, asked again and compared by meaning."""
