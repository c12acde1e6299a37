"""From trials to a verdict, in this order; `assemble` walks it, `rejudge` walks it again over a stored run.

    scoring     a trace -> a trial: every scorer applied
    summary     the trials of a variant -> means with intervals, and what is recorded
    sampling    the samples of a case -> how often all pass, how often they agree
    measures/   all trials of a variant -> what only all of them together can say
    frozen      what is compared: a case, or one of its frozen states
    pairing     two sides -> pairs, weighed
    comparison  pairs -> a difference with its interval and test, corrected for its family
    divergence  two routes -> where they part ways
    ablation    guard sets -> what each guard is good for
    baseline    trials -> what a suite keeps of them, and whether it still compares
    material    all that a run is made from
    sides       which side is compared with which
    redraws     the same with one sample a side: how far one draw can be trusted
    slices      archetypes that collapsed
    facts       everything the gate may know of a run
    gate        facts -> verdict

No module imports one that stands below it here; a contract in pyproject.toml says so.
"""
