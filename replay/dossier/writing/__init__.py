"""A dossier's files: report, paper, tables, proof, package."""
