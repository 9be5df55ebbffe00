// The public surface, by name.
export {}
