# The same commands as ./run, for those who type make.
.PHONY: all demo test slow checks
all:
	@./run build
demo test slow checks:
	@./run $@
