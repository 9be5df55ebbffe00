// Loaded before a child process's program: its engine does not look for a tracer at all.
import { register } from 'node:module'

register('./without-tracing-hooks.js', import.meta.url)
