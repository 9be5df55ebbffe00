// The worker's workload: `millrace dev` and `millrace work` load it.
import { lipasHandlers } from './handlers.ts'
import { type LipasOptions, lipas } from './lipas.ts'
import { lipasSchedules } from './schedules.ts'

export { type LipasOptions, lipas }

export default lipas({
  handlers: lipasHandlers,
  schedules: lipasSchedules,
  // Loaded only where it is started: production needs none of it.
  sandbox: async () => (await import('./sandbox/start.ts')).startSandboxProcess(),
  traffic: async (system) => (await import('./sandbox/traffic.ts')).startTraffic(system),
  sampleData: async (system) => (await import('./sandbox/first-start.ts')).firstStart(system),
})
