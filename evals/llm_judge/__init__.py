"""A model as a judge of what people read: report, comment and ticket graded by a rubric, reports compared in pairs.

It is one more agent on the tape. What it is asked follows from a trial's outcome and the label's one sentence alone;
how far its grades can be trusted is measured on planted defects (`evals judge check`).
"""
