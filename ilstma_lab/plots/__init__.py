"""Plots: data in, plotly figure out."""
