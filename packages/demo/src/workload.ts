// The program that the demo runs: `millrace demo` serves it, and tests may.
import type { Implementation, Millrace } from 'millrace'
import * as contracts from './contracts.ts'
import { handlersAt } from './handlers.ts'
import { escalation } from './people.ts'
import { schedules } from './schedules.ts'
import { Traffic } from './traffic.ts'
import { importCatalogue, publishPages, sendParcel } from './workflows.ts'

export const jobs = Object.values(contracts)
export const workflows = [sendParcel, importCatalogue, publishPages]
export { schedules }

/** As `millrace work` runs a workload. */
export const demoWorkload: {
  readonly name: string
  readonly version: string
  readonly jobs: typeof jobs
  readonly handlers: readonly Implementation[]
  readonly escalation: typeof escalation
  readonly schedules: typeof schedules
  readonly workflows: typeof workflows
  start(context: { millrace: Millrace; mode: string }): Promise<{ stop(): Promise<void> }>
} = {
  name: 'Fernwick Parcels (demo)',
  version: '2.8.1',
  jobs,
  handlers: handlersAt(1),
  escalation,
  schedules,
  workflows,
  async start({ millrace, mode }) {
    if (mode === 'admin') return { stop: async () => {} }
    const traffic = new Traffic(millrace)
    return { stop: () => traffic.stop() }
  },
}
