"""Who is wrong, the label or the answer? What routes break most, and which labels everybody disagrees with."""
