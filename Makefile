# Five words for daily work, in the environment .venv of CONTRIBUTING.md; `.ci/run` is the whole, from nothing.
PYTHON ?= .venv/bin/python

.PHONY: test lint docs bench wheel

test: ## the Python tests, without the slow ones
	$(PYTHON) -m pytest -n auto

lint: ## formatters, linters, types, words, spelling, workflows
	.ci/lint $(PYTHON)

docs: ## the pages for the browser, into build/site
	$(PYTHON) docs/build.py

bench: ## every benchmark once, at tiny sizes
	$(PYTHON) -m bench --quick

wheel: ## a source distribution and a wheel for this machine, into dist
	$(PYTHON) -m build --outdir dist
