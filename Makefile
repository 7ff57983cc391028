# Everything sets itself up: `make demo` and `make test` work on a fresh clone with Python 3.11 and nothing else.
.PHONY: demo test check format lock

demo:
	@scripts/demo

test:
	@scripts/test

check:
	@scripts/check

format:
	@scripts/install
	@.venv/bin/ruff check --quiet --fix . ; .venv/bin/ruff format --quiet .

lock:
	@scripts/lock --upgrade
