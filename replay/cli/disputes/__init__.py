"""Commands of disputes and preserved windows."""
