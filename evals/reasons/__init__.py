"""Why routes pass or fail, rule by rule; and where all answers fail alike: is it they who are wrong, or the label?

Nothing in here is a score: baselines do not rest on it.
"""
