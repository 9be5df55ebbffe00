// Loaded before everything else (`node --import`) in a process that shall run a broken engine, and in its threads:
// statements are copied at their first use, and the pulse thread has a copy of its own.
import { applyMutation } from './mutations.ts'

applyMutation(process.env.MILLRACE_FAULT_MUTATION)
