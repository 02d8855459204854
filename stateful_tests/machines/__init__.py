"""Hypothesis machines: rules are what people and the environment do to a simulated world, one after another."""
