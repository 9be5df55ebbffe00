// The workload of a fleet: the tasks of every scenario, as a module that `millrace work` runs.
import type { Workload } from '@millrace/cli/workload'
import { implement } from 'millrace'
import pg from 'pg'
import { taskHandler } from './deeds.ts'
import { labelOf } from './fleet.ts'
import { recorder } from './history.ts'
import { allContracts, contracts } from './tasks.ts'
import { tellEvents } from './tell-events.ts'

interface FleetSettings {
  serverUrl: string
  historyFile: string
  gate: string
}

const settings = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as FleetSettings
const record = recorder(settings.historyFile, labelOf(process.pid))
const effects = new pg.Pool({ connectionString: settings.serverUrl, max: 4, connectionTimeoutMillis: 5_000 })
effects.on('error', () => {})
const handler = taskHandler({ record, effects, gate: settings.gate })

export default {
  name: 'faults',
  jobs: allContracts,
  handlers: Object.values(contracts).map((contract) => implement(contract, handler)),
  async start({ millrace }) {
    tellEvents(millrace, record)
    return { stop: async () => {} }
  },
} satisfies Workload
