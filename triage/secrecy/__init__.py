"""What a secret looks like, for whatever writes or sends texts: the harness and the team alike. It knows neither."""
