"""The words of the stored graph, each in one place: relations, origins, kinds.

Constants only. Strategies may import this module, since it touches nothing.
"""

#: Relation of the virtual edges between memories that share tags; never stored.
AFFINITY = "shared-tags"
