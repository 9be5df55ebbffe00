// Fills an empty database with the past week of Fernwick Parcels, and with the rules and jobs that it has at this moment.
import { createMillrace, type Logger, type Millrace, migrate, migrationStatus } from 'millrace'
import { Past, type PastHolds } from 'millrace/testing'
import { runMinutes } from './minutes.ts'
import { writePresent } from './past/present.ts'
import { WEEK_MS } from './past/week.ts'
import { writeWeek } from './past/write.ts'
import { escalation } from './people.ts'
import { DemoRefused } from './refused.ts'
import { setRules } from './rules.ts'
import { jobs, schedules, workflows } from './workload.ts'

export interface FillOptions {
  /** The end of the week. Default: now. */
  readonly now?: Date
  /** The same seed gives the same week. Default 1. */
  readonly seed?: number
  /** How many jobs the week has. Default 40,000. */
  readonly jobs?: number
  /** Default 'millrace'. */
  readonly schema?: string
  readonly logger?: Logger
}

export interface Filled {
  /** Jobs of the past week, those that go on included. */
  readonly jobs: number
  readonly ms: number
}

export const DEFAULT_JOBS = 40_000
/** Below this the week is for tests, and its fan-out smaller. */
const FEW_JOBS = 1_000
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Migrates and fills the database. Throws DemoRefused, and writes nothing, if it holds jobs already. */
export async function fillDemo(databaseUrl: string, options: FillOptions = {}): Promise<Filled> {
  const begun = performance.now()
  const { now = new Date(), seed = 1, jobs: count = DEFAULT_JOBS, schema = 'millrace' } = options
  await using past = new Past(databaseUrl, { schema })
  refuseOthers(await past.holds())
  await migrate(databaseUrl, { schema })
  const plan = { now: now.getTime(), seed, jobs: count }
  const span = { since: new Date(plan.now - WEEK_MS), now }
  await past.write(span, (writer) => writeWeek(writer, plan))
  const millrace = clientOf(databaseUrl, options)
  try {
    await runMinutes(millrace, { products: count < FEW_JOBS ? 60 : 500, logger: options.logger ?? silent })
    await setRules(millrace)
  } finally {
    await millrace.close()
  }
  await past.write(span, (writer) => writePresent(writer, plan))
  return { jobs: count, ms: performance.now() - begun }
}

/** Whether the database was filled by fillDemo, some time. */
export async function isDemo(databaseUrl: string, { schema = 'millrace' }: Pick<FillOptions, 'schema'> = {}) {
  const millrace = clientOf(databaseUrl, { schema })
  try {
    if ((await migrationStatus(databaseUrl, { schema })).every(({ state }) => state === 'pending')) return false
    return (await millrace.audit.list({ action: 'demo.fill', limit: 1 })).length > 0
  } finally {
    await millrace.close()
  }
}

export function clientOf(databaseUrl: string, { schema = 'millrace', logger = silent }: FillOptions): Millrace {
  return createMillrace({
    database: databaseUrl,
    schema,
    jobs: [...jobs, ...escalation.jobs],
    schedules,
    workflows,
    logger,
  })
}

function refuseOthers({ jobs, letters, workflows }: PastHolds): void {
  if (jobs === 0 && !letters && !workflows) return
  throw new DemoRefused(jobs)
}
