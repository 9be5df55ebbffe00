// The handler of isolated tasks, in the process that a worker starts for it: the same deeds, told to the same history.
import pg from 'pg'
import { taskHandler } from './deeds.ts'
import { recorder } from './history.ts'
import type { WorkerSettings } from './worker-main.ts'

const { historyFile, label, serverUrl, gate } = JSON.parse(process.env.MILLRACE_FAULT_PROCESS ?? '{}') as WorkerSettings
const effects = new pg.Pool({ connectionString: serverUrl, max: 1, connectionTimeoutMillis: 5_000 })
effects.on('error', () => {})

export default taskHandler({ record: recorder(historyFile, label), effects, gate })
