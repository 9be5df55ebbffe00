// What a benchmark needs to run Dartwing in its own process, with the sandbox beside it.
import { dartwingHandlers } from './handlers.ts'
import { loadSampleData } from './sandbox/sample-data.ts'
import { startSandbox } from './sandbox/server.ts'

export { dartwing } from './dartwing.ts'

export const sandboxParts = { startSandbox, loadSampleData, handlers: dartwingHandlers }
