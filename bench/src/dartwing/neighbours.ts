// Dartwing with one worker and its sandbox on a database of its own: a backlog of one organization, and arrivals of four others.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, encryptionFrom, type Millrace, migrateProgram } from 'millrace'
import type pg from 'pg'
import { type Bench, openPool } from '../bench.ts'

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const LARGE = 'ORG-2025-00001'
const SMALL = ['ORG-2025-00002', 'ORG-2025-00003', 'ORG-2025-00004', 'ORG-2025-00005'] as const
const FAX = 'dartwing_fax.send_fax'
const CHANGE = 'dartwing_core.crud.update_documents'
/** Of each small organization: a fax and four changes a second. */
const FAXES_PER_SECOND = 1
const CHANGES_PER_SECOND = 4
const CHUNK = 1_000
/** The key is of no use outside of this database, which is dropped. */
const encryption = encryptionFrom({
  MILLRACE_ENCRYPTION_KEYS: `bench:${Buffer.alloc(32, 1).toString('base64')}`,
  MILLRACE_LOOKUP_KEY: Buffer.alloc(32, 2).toString('base64'),
})

export interface Scene {
  /** Alone; beside a backlog of the large one; or all of it under one organization. */
  readonly scene: 'alone' | 'beside' | 'control'
  readonly seconds: number
  /** Changes of the large one; it has a tenth as many faxes. */
  readonly backlog: number
}

export type Waits = Readonly<Record<'fax p50' | 'fax p95' | 'change p50' | 'change p95', number>>

/** Milliseconds from being due to the start, of the small organizations' jobs. What has not started is counted by how long it has waited. */
export async function waitsIn(bench: Bench, { scene, seconds, backlog }: Scene): Promise<Waits> {
  const databaseUrl = await bench.freshDatabase()
  const { dartwing, sandboxParts } = await import('@millrace/dartwing/bench')
  const sandbox = await sandboxParts.startSandbox({ misbehaves: false, fax: { dialMs: 0 } })
  const workload = dartwing({
    sandbox: async () => sandbox,
    sampleData: sandboxParts.loadSampleData,
    handlers: sandboxParts.handlers,
  })
  for (const program of [workload.migrations ?? []].flat()) await migrateProgram(databaseUrl, program)
  const millrace = createMillrace({
    ...{ database: databaseUrl, jobs: workload.jobs, tenantRole: workload.tenantRole, logger: silent },
    ...(encryption !== undefined && { encryption }),
  })
  const pool = openPool(databaseUrl)
  const context = {
    millrace,
    logger: silent,
    databaseUrl,
    mode: 'dev' as const,
    queues: ['critical', 'default', 'bulk'],
    announce: () => {},
  }
  const started = await workload.start?.(context)
  try {
    if (scene !== 'alone') await pile(millrace, backlog)
    await millrace.work({ handlers: workload.handlers })
    await arrivals(millrace, { seconds, organizations: scene === 'control' ? SMALL.map(() => LARGE) : SMALL })
    return await measured(pool)
  } finally {
    await millrace.close()
    await started?.stop()
    await pool.end()
  }
}

const change = (organization: string) => ({
  organization,
  doctype: 'Task',
  names: ['TASK-1'],
  change: { status: 'Done' },
})

async function pile(millrace: Millrace, backlog: number): Promise<void> {
  const [faxes, changes] = [contractOf(millrace, FAX), contractOf(millrace, CHANGE)]
  for (let done = 0; done < backlog; done += CHUNK) {
    const count = Math.min(CHUNK, backlog - done)
    await millrace.enqueueMany(changes, Array.from({ length: count }, () => change(LARGE)) as never)
    await millrace.tenantDb(LARGE, async (tx) => {
      const { rows } = await tx.query(NEW_FAXES, [LARGE, Math.ceil(count / 10)])
      const payloads = (rows as { fax: string }[]).map(({ fax }) => ({ organization: LARGE, fax }))
      await millrace.enqueueMany(faxes, payloads as never, { tx } as never)
    })
  }
}

const NEW_FAXES = `insert into dartwing.fax (organization, document, to_number)
  select $1, document.id, '+15550100'
  from (select id from dartwing.document order by id limit 1) as document, generate_series(1, $2::int)
  returning id::text as fax`

function contractOf(millrace: Millrace, type: string) {
  const found = millrace.contracts().find((each) => each.type === type)
  if (found === undefined) throw new Error(`Dartwing has no method ${type}.`)
  return found
}

/** By the clock: what comes late because the machine is busy comes all the same. */
async function arrivals(
  millrace: Millrace,
  { seconds, organizations }: { seconds: number; organizations: readonly string[] },
): Promise<void> {
  const perSecond = FAXES_PER_SECOND + CHANGES_PER_SECOND
  const startedMs = performance.now()
  for (let n = 0; n < seconds * perSecond; n++) {
    await sleep(Math.max(0, startedMs + (n * 1_000) / perSecond - performance.now()))
    await Promise.all(
      organizations.map((organization) =>
        n % perSecond < FAXES_PER_SECOND ? faxArrives(millrace, organization) : changeArrives(millrace, organization),
      ),
    )
  }
}

const changeArrives = (millrace: Millrace, organization: string) =>
  millrace.enqueueByType(CHANGE, change(organization), { createdBy: 'small' })

const faxArrives = (millrace: Millrace, organization: string) =>
  millrace.tenantDb(organization, async (tx) => {
    const { rows } = await tx.query(NEW_FAXES, [organization, 1])
    return millrace.enqueueByType(
      FAX,
      { organization, fax: (rows[0] as { fax: string }).fax },
      { tx, createdBy: 'small' },
    )
  })

async function measured(pool: pg.Pool): Promise<Waits> {
  const { rows } = await pool.query<{ type: string; p50: number; p95: number }>(
    `select type,
       percentile_cont(0.5) within group (order by wait_ms)::float8 as p50,
       percentile_cont(0.95) within group (order by wait_ms)::float8 as p95
     from (
       select type, extract(epoch from coalesce(started_at, clock_timestamp()) - greatest(created_at, run_at)) * 1000 as wait_ms
       from millrace.jobs
       where created_by = 'small'
     ) as waits
     group by type`,
  )
  const of = (type: string) => rows.find((row) => row.type === type) ?? { p50: 0, p95: 0 }
  return { 'fax p50': of(FAX).p50, 'fax p95': of(FAX).p95, 'change p50': of(CHANGE).p50, 'change p95': of(CHANGE).p95 }
}
