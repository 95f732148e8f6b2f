"""Writes a dossier's files: report, paper, tables, proof, package."""
