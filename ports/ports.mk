# Ports: each has a fragment of its own.
include $(sort $(wildcard ports/*/*.mk))
