// Who is measured. What each sets stands in its driver, and from there in the report.
import { fileURLToPath } from 'node:url'
import type { Target } from './driver.ts'

export const OURS = 'Millrace'
export const RAW = 'raw SQL loop'

export interface Contestant {
  readonly name: string
  /** Everybody runs on the Node that the suite brings along, except oursOnInstalledNode, on the one that runs the bench. */
  readonly role: 'ours' | 'oursOnInstalledNode' | 'raw' | 'peer'
  readonly store: 'postgres' | 'redis'
  readonly profile: Target['profile']
  readonly module: string
  /** How many jobs its backlog has, as a part of --jobs: whoever is slower gets a smaller one. */
  readonly backlog: number
  /** What a reader must know beside the settings. */
  readonly note?: string
}

const ours = (name: string): string => fileURLToPath(new URL(`./${name}-driver.js`, import.meta.url))
const peer = (name: string): string => fileURLToPath(new URL(`../../peers/${name}.js`, import.meta.url))

const millrace = { store: 'postgres', profile: 'defaults', module: ours('millrace'), backlog: 1 } as const
const graphile = { role: 'peer', store: 'postgres', module: peer('graphile-worker') } as const
const boss = { role: 'peer', store: 'postgres', module: peer('pg-boss') } as const
const bullRedis = {
  role: 'peer',
  store: 'redis',
  module: peer('bullmq'),
  note: 'Redis writes its log to disk every second, as BullMQ documents: an acknowledged job may be lost',
} as const
const bullPostgres = { role: 'peer', store: 'postgres', module: peer('bullmq') } as const

export const contestants: readonly Contestant[] = [
  { ...millrace, name: OURS, role: 'ours' },
  { ...millrace, name: `${OURS}, Node ${process.versions.node}`, role: 'oursOnInstalledNode' },
  { name: RAW, role: 'raw', store: 'postgres', profile: 'defaults', module: ours('raw'), backlog: 1 },
  { ...graphile, name: 'graphile-worker', profile: 'best', backlog: 1 },
  { ...graphile, name: 'graphile-worker, defaults', profile: 'defaults', backlog: 1 / 8 },
  { ...boss, name: 'pg-boss', profile: 'best', backlog: 1, note: 'one handler call for up to 2,000 jobs' },
  {
    ...boss,
    name: 'pg-boss, defaults',
    profile: 'defaults',
    backlog: 1 / 200,
    note: 'each of its 50 workers fetches one job every 2 s',
  },
  { ...bullRedis, name: 'BullMQ on Redis', profile: 'best', backlog: 1 },
  { ...bullRedis, name: 'BullMQ on Redis, defaults', profile: 'defaults', backlog: 1 },
  { ...bullPostgres, name: 'BullMQ on Postgres', profile: 'best', backlog: 1 / 8 },
  { ...bullPostgres, name: 'BullMQ on Postgres, defaults', profile: 'defaults', backlog: 1 / 8 },
]
