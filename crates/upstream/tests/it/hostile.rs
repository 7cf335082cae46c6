//! Servers that misbehave are contained, and named with what they did.
