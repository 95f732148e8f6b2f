"""Errors of dealers as figures: lines settled, whose they are, exact rates, funnel and trend."""
