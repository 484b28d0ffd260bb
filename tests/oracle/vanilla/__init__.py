"""An independent checker of vanilla proofs in Python integers: no code of the engine, none of its constants."""
