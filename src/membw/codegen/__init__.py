"""membw codegen: which instructions a binary moves its data with."""
