"""One recall from end to end, with the settings and the stages of it.

The stages are packages: `seeds` finds where to start, `strategies` say how energy spreads,
`explore` runs them, `ranking` orders the memories, `context` packs them. `run` joins the stages.
"""
