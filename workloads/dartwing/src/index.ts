// The workload that `millrace dev`, `millrace work` and `millrace admin` load.
import { type DartwingOptions, dartwing } from './dartwing.ts'
import { dartwingHandlers } from './handlers.ts'
import { sandboxHandlers } from './sandbox/ignore-signal.ts'

export { enqueueWithIsolation, getOrgJobCount } from './jobs/router.ts'
export { type DartwingOptions, dartwing }

/** The large one is the visitor's. */
const SMALL_ONES = ['ORG-2025-00002', 'ORG-2025-00003', 'ORG-2025-00004', 'ORG-2025-00005']

export default dartwing({
  handlers: (system) => [...dartwingHandlers(system), ...sandboxHandlers(system.settings)],
  // Loaded only where it is started: production needs none of it.
  sandbox: async () => (await import('./sandbox/start.ts')).startSandbox(),
  traffic: async (system) => {
    const { startArrivals } = await import('./traffic/arrivals.ts')
    system.guard(startArrivals(system.millrace, SMALL_ONES, system.logger))
  },
  sampleData: async (system, sandboxUrl) =>
    (await import('./sandbox/sample-data.ts')).loadSampleData(system, sandboxUrl),
})
