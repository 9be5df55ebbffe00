// The workload that `millrace dev`, `millrace work` and `millrace admin` load.
import { type DartwingOptions, dartwing } from './dartwing.ts'
import { dartwingHandlers } from './handlers.ts'

export { enqueueWithIsolation, getOrgJobCount } from './jobs/router.ts'
export { type DartwingOptions, dartwing }

export default dartwing({
  handlers: dartwingHandlers,
  // Loaded only where it is started: production needs none of it.
  sandbox: async () => (await import('./sandbox/start.ts')).startSandbox(),
  sampleData: async (system, sandboxUrl) =>
    (await import('./sandbox/sample-data.ts')).loadSampleData(system, sandboxUrl),
})
