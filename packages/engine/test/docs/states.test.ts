// docs/states.md against itself and against the code: the picture, the tables, the schema, the statements, and what
// really happens to a row.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import {
  cancel,
  defineJob,
  defineQueues,
  discard,
  type Handler,
  implement,
  type JobContract,
  type JobStatus,
  snooze,
} from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { systemClock } from '#src/clock'
import type { DeadReason } from '#src/contract/redrive'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { Rescuer } from '#src/maintenance/rescuer'
import { Database } from '#src/store/db'
import { jobCancelWaiting } from '#src/store/job-changes'
import { jobClaim, jobReleaseRun } from '#src/store/job-claims'
import { governedPark, governedUnpark } from '#src/store/parked-jobs'
import { type Settlement, settle } from '#src/store/settlements'
import { setup as base, jobEvent } from '../support/setup.ts'

const engine = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, engine), 'utf8')
const page = read('../../docs/states.md')

interface Transition {
  transition: string
  from: string
  to: string
  statement: string
  fence: string
  attempt: string
  crashes: string
}

/** The rows of the table with these columns, as objects. */
function table(...columns: string[]): Record<string, string>[] {
  const cells = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
  const lines = page.split('\n')
  const head = lines.findIndex((line) => line.startsWith('|') && columns.every((name) => cells(line).includes(name)))
  const names = cells(lines[head] ?? '')
  const body = lines.slice(head + 2)
  const rows = body.slice(
    0,
    body.findIndex((line) => !line.startsWith('|')),
  )
  return rows.map((line) => Object.fromEntries(cells(line).map((cell, i) => [names[i], cell])))
}

const quoted = (cell: string | undefined) => [...(cell ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] as string)
const edge = ({ transition, from, to }: Pick<Transition, 'transition' | 'from' | 'to'>) =>
  `${transition}: ${from} → ${to}`

const transitions = table('transition', 'fence') as unknown as Transition[]
const drawn = [...page.matchAll(/^ {2}(\S+) --> (\S+) : (.+)$/gm)].map(([, from, to, transition]) => ({
  from: from as string,
  to: to as string,
  transition: transition as string,
}))
const statuses = table('status', 'table', 'means')

/** What the check constraint of a column allows, by the migrations. */
function allowed(tableName: string, column: string): string[] {
  const migrations = readdirSync(new URL('migrations/', engine))
    .sort()
    .map((file) => read(`migrations/${file}`))
  const body = new RegExp(`create table millrace\\.${tableName} \\((.*?)\\n\\)`, 's').exec(migrations.join('\n'))?.[1]
  const list = new RegExp(`${column} in\\s*\\(([^)]*)\\)`).exec(body ?? '')?.[1]
  return [...(list ?? '').matchAll(/'(\w+)'/g)].map((match) => match[1] as string)
}

describe('docs/states.md', () => {
  test('draws the transitions that it lists', () => {
    expect(transitions.length).toBeGreaterThan(0)
    expect(drawn.map(edge).sort()).toEqual(transitions.map(edge).sort())
  })

  test.each(['job', 'job_archive'])('knows the statuses that %s may hold', (name) => {
    const listed = statuses.filter((row) => row.table === `\`${name}\``).flatMap((row) => quoted(row.status))
    expect(listed.sort()).toEqual(allowed(name, 'status').sort())
  })

  test('uses every status in the picture, and no other', () => {
    const named = new Set(drawn.flatMap(({ from, to }) => [from, to]).filter((status) => status !== '[*]'))
    expect([...named].sort()).toEqual(statuses.flatMap((row) => quoted(row.status)).sort())
  })

  test('knows every status that a job can be shown with', () => {
    const shown: Record<JobStatus, true> = {
      pending: true,
      processing: true,
      blocked: true,
      failed: true,
      completed: true,
      cancelled: true,
      dead: true,
    }
    const stored = statuses.flatMap((row) => quoted(row.status))
    expect(Object.keys(shown).sort()).toEqual([...stored, 'failed'].sort())
  })

  test('gives every reason for which a job dies', () => {
    const reasons: Record<DeadReason, true> = {
      exhausted: true,
      discarded: true,
      unrecoverable: true,
      gave_up: true,
      invalid_payload: true,
      stuck: true,
      crash_loop: true,
    }
    const listed = table('reason', 'when').flatMap((row) => quoted(row.reason))
    expect(listed.sort()).toEqual(Object.keys(reasons).sort())
    expect(listed.sort()).toEqual(allowed('dead_letter_jobs', 'reason').sort())
  })

  test('names every statement that writes to the job table, and no other', () => {
    const writes = /(insert into|update|delete from) millrace\.job\b(?!_)/
    const folder = 'src/store/sql/'
    const files = readdirSync(new URL(folder, engine)).filter((file) => file.endsWith('.sql'))
    const writing = files.filter((file) => writes.test(read(folder + file)))
    const named = [...transitions, ...table('statement', 'does')].flatMap((row) => quoted(row.statement))
    expect([...new Set(named)].sort()).toEqual(writing.sort())
  })
})

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({}) })
const limited = defineJob({
  type: 'limited',
  queue: queues.default,
  payload: z.object({}),
  keyLimit: { key: () => 'k', concurrency: 1 },
})
const ordered = defineJob({ type: 'ordered', queue: queues.default, payload: z.object({}), order: { key: () => 'k' } })
const parked = { queue: 'default', limit: 10 }
const types = [{ type: 'task', stuckAfterMs: 60_000 }]

interface Row {
  status: string
  attempt: number
  crashes: number
}

async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const millrace = t.client([task, limited, ordered])
  const row = async (id: string): Promise<Row | undefined> => {
    const columns = 'status, attempt, crashes'
    const [found] = await t.sql<Row & { id: string }>(
      `select ${columns} from millrace.job where id = $1
       union all select ${columns} from millrace.job_archive where id = $1`,
      [id],
    )
    return found
  }
  return {
    ...t,
    db,
    millrace,
    row,

    /** A job that has run before and crashed once, so that every change of a counter shows. */
    async waiting(status: 'pending' | 'blocked' = 'pending'): Promise<string> {
      const { id } = await millrace.enqueue(task, {})
      await t.sql('update millrace.job set status = $2, attempt = 1, crashes = 1 where id = $1', [id, status])
      return id
    },

    /** The same with a key; blocked if it has to wait for its time, or for the one before it. */
    async keyed(contract: typeof limited | typeof ordered, options: { delay?: '1h' } = {}): Promise<string> {
      const { id } = await millrace.enqueueByType(contract.type, {}, options)
      await t.sql('update millrace.job set attempt = 1, crashes = 1 where id = $1', [id])
      return id
    },

    async claim(byType = false) {
      const run = { runId: randomUUID(), workerId: randomUUID() }
      const wanted = [{ queue: 'default', limit: 10 }]
      const jobs = await jobClaim(db, null, { ...run, queues: wanted, types, suspectQueues: ['default'], byType })
      return { ...run, jobs }
    },

    /** A waiting job, claimed by a worker that is not there. */
    async running() {
      const id = await this.waiting()
      return { id, ...(await this.claim()) }
    },

    /** Runs a waiting job; answers with the row as the handler found it. */
    async handled(
      handler: Handler<typeof task>,
      event: Parameters<typeof jobEvent>[1],
      id: string,
      contract: JobContract = task,
    ) {
      let before: Row | undefined
      const ended = jobEvent(millrace, event, id)
      const worker = await millrace.work({
        gracePeriod: 0,
        handlers: [
          implement(contract as typeof task, async (payload, ctx) => {
            before = await row(id)
            return handler(payload, ctx)
          }),
        ],
      })
      return { worker, ended, before: () => before }
    },

    async [Symbol.asyncDispose]() {
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

type T = Awaited<ReturnType<typeof setup>>
interface Change {
  id: string
  before: Row | undefined
}

const ending =
  (event: Parameters<typeof jobEvent>[1], handler: Handler<typeof task>) =>
  async (t: T): Promise<Change> => {
    const id = await t.waiting()
    const run = await t.handled(handler, event, id)
    await run.ended
    return { id, before: run.before() }
  }

const endingLimited =
  (event: Parameters<typeof jobEvent>[1], handler: Handler<typeof task>) =>
  async (t: T): Promise<Change> => {
    const id = await t.keyed(limited)
    const run = await t.handled(handler, event, id, limited)
    await run.ended
    return { id, before: run.before() }
  }

const cancelling =
  (status: 'pending' | 'blocked') =>
  async (t: T): Promise<Change> => {
    const id = await t.waiting(status)
    const before = await t.row(id)
    expect(await t.millrace.cancel(id, { by: 'ann' })).toBe('cancelled')
    return { id, before }
  }

const claiming =
  (byType: boolean) =>
  async (t: T): Promise<Change> => {
    const id = await t.waiting()
    const before = await t.row(id)
    expect((await t.claim(byType)).jobs.map((job) => job.id)).toEqual([id])
    return { id, before }
  }

/** How each transition is brought about; more than one way where more than one statement does it. */
const exercises: Record<string, ((t: T) => Promise<Change>)[]> = {
  'enqueue: [*] → pending': [
    async (t) => ({ id: (await t.millrace.enqueue(task, {})).id, before: undefined }),
    async (t) => ({ id: (await t.millrace.enqueueMany(task, [{}]))[0]?.id ?? '', before: undefined }),
  ],
  'enqueue: [*] → blocked': [
    async (t) => ({ id: (await t.millrace.enqueue(limited, {}, { delay: '1h' })).id, before: undefined }),
    async (t) => ({ id: (await t.millrace.enqueueMany(ordered, [{}, {}]))[1]?.id ?? '', before: undefined }),
  ],
  'admit: blocked → pending': [
    async (t) => {
      const id = await t.keyed(limited, { delay: '1h' })
      const before = await t.row(id)
      expect(await t.millrace.runNow(id, { by: 'ann' })).toBe(true)
      return { id, before }
    },
    async (t) => {
      const first = await t.keyed(ordered)
      const id = await t.keyed(ordered)
      const before = await t.row(id)
      expect(await t.millrace.cancel(first, { by: 'ann' })).toBe('cancelled')
      return { id, before }
    },
    async (t) => {
      await t.millrace.tenants.limit('a', 'default', { jobs: 0, over: 'defer' }, { by: 'ann' })
      const { id } = await t.millrace.enqueue(task, {}, { tenant: 'a' })
      const before = await t.row(id)
      await t.millrace.tenants.unlimit('a', 'default', { by: 'ann' })
      return { id, before }
    },
  ],
  'retract: pending → blocked': [
    async (t) => {
      const id = await t.keyed(limited)
      const before = await t.row(id)
      await t.millrace.keys.setLimit({ queue: 'default', concurrency: 0 }, { by: 'a test' })
      return { id, before }
    },
  ],
  'park: pending → blocked': [
    async (t) => {
      const { id } = await t.millrace.enqueue(task, {}, { tenant: 'a' })
      const before = await t.row(id)
      await governedPark(t.db, null, { ...parked, held: [{ tenant: 'a', type: null, untilS: Infinity, few: null }] })
      return { id, before }
    },
  ],
  'unpark: blocked → pending': [
    async (t) => {
      const { id } = await t.millrace.enqueue(task, {}, { tenant: 'a' })
      await governedPark(t.db, null, { ...parked, held: [{ tenant: 'a', type: null, untilS: Infinity, few: null }] })
      const before = await t.row(id)
      await governedUnpark(t.db, null, { ...parked, rooms: new Map([['a', 1]]) })
      return { id, before }
    },
  ],
  'claim: pending → processing': [claiming(false), claiming(true)],
  'complete: processing → completed': [
    ending('job_completed', () => 'done'),
    ending('job_completed', (_, ctx) => ctx.transaction(async () => 'done')),
  ],
  'cancel: processing → cancelled': [ending('job_cancelled', () => cancel('not needed'))],
  'bury: processing → dead': [ending('job_died', () => discard('hopeless'))],
  'retry: processing → pending': [
    ending('job_retry_scheduled', () => {
      throw new Error('again')
    }),
  ],
  'retry: processing → blocked': [
    endingLimited('job_retry_scheduled', () => {
      throw new Error('again')
    }),
  ],
  'snooze: processing → blocked': [endingLimited('job_snoozed', () => snooze('1h'))],
  'snooze: processing → pending': [ending('job_snoozed', () => snooze('1h'))],
  'give back: processing → pending': [
    async (t) => {
      const id = await t.waiting()
      const hanging = () => new Promise<never>(() => {})
      const started = jobEvent(t.millrace, 'job_started', id)
      const run = await t.handled(hanging, 'job_returned', id)
      await started
      await run.worker.stop()
      return { id, before: run.before() }
    },
  ],
  'rescue: processing → pending': [
    async (t) => {
      const { id } = await t.running()
      const before = await t.row(id)
      const rescuer = new Rescuer({
        db: t.db,
        clock: systemClock,
        registry: new Registry([task]),
        events: new Events(),
        intervalMs: 1_000,
        mayJudge: () => true,
        wake: () => {},
        onBlocked: () => {},
        onStepsEnded: () => {},
      })
      expect(await rescuer.tick()).toMatchObject({ rescued: 1 })
      return { id, before }
    },
  ],
  'release: processing → pending': [
    async (t) => {
      const { id, ...run } = await t.running()
      const before = await t.row(id)
      expect(await jobReleaseRun(t.db, null, run)).toEqual([id])
      return { id, before }
    },
  ],
  'cancel: pending → cancelled': [cancelling('pending')],
  'cancel: blocked → cancelled': [cancelling('blocked')],
}

/** What a counter must be after the transition, by what its column says. */
function counted(rule: string, before: number | undefined): number {
  if (rule === 'same') return before as number
  const number = Number(rule.replace('−', '-'))
  return /^[+−-]/.test(rule) ? (before as number) + number : number
}

describe('a job', () => {
  test('can be sent through every transition of the page', () => {
    expect(Object.keys(exercises).sort()).toEqual(transitions.map(edge).sort())
  })

  const cases = transitions.flatMap((transition) =>
    (exercises[edge(transition)] ?? []).map((exercise, i) => ({
      name: `${edge(transition)} (${i + 1})`,
      transition,
      exercise,
    })),
  )

  test.each(cases)('$name', async ({ transition, exercise }) => {
    await using t = await setup()
    const { id, before } = await exercise(t)
    expect(before?.status ?? '[*]').toBe(transition.from)
    expect(await t.row(id)).toEqual({
      status: transition.to,
      attempt: counted(transition.attempt, before?.attempt),
      crashes: counted(transition.crashes, before?.crashes),
    })
  })

  test('is shown as failed while it waits after a failed attempt', async () => {
    await using t = await setup()
    const id = await t.waiting()
    expect((await t.millrace.job(id))?.status).toBe('pending')
    const run = await t.handled(
      () => {
        throw new Error('again')
      },
      'job_retry_scheduled',
      id,
    )
    await run.ended
    expect((await t.millrace.job(id))?.status).toBe('failed')
    expect((await t.row(id))?.status).toBe('pending')
  })
})

describe('a fence', () => {
  const failure = { class: 'E', message: 'm', stack: null, fingerprint: 'f', logs: null }
  const settlements: Record<string, (run: { id: string; runId: string }) => Settlement> = {
    'job_finish.sql': (run) => ({
      kind: 'finish',
      ...run,
      status: 'completed',
      result: null,
      reason: null,
      retention: 'standard',
    }),
    'job_requeue.sql': (run) => ({ kind: 'requeue', ...run, delayMs: 0, refund: true, crash: 'clear', failure }),
    'job_bury.sql': (run) => ({ kind: 'bury', ...run, reason: 'stuck', failure, retention: 'standard', drop: false }),
  }
  const fencedBy = (column: string) => [
    ...new Set(
      transitions.filter((row) => row.fence.includes(`\`${column}\``)).flatMap((row) => quoted(row.statement)),
    ),
  ]

  test.each(fencedBy('run_id'))('%s changes nothing for a run that is not the latest', async (statement) => {
    await using t = await setup()
    const { id, runId, workerId } = await t.running()
    const before = await t.row(id)
    const stale = { id, runId: randomUUID() }
    const settlement = settlements[statement]
    if (settlement === undefined) {
      expect(statement).toBe('job_release_run.sql')
      expect(await jobReleaseRun(t.db, null, { workerId, runId: stale.runId })).toEqual([])
      expect(await jobReleaseRun(t.db, null, { workerId: randomUUID(), runId })).toEqual([])
    } else {
      expect((await settle(t.db, null, [settlement(stale)])).won).toEqual(new Set())
    }
    expect(await t.row(id)).toEqual(before)
  })

  test.each(fencedBy('status'))('%s changes nothing in another status', async (statement) => {
    await using t = await setup()
    const { id } = await t.running()
    const before = await t.row(id)
    if (statement === 'job_cancel_waiting.sql') {
      expect(await jobCancelWaiting(t.db, null, [id], 'no', [])).toEqual([])
    } else {
      expect((await t.claim(statement === 'job_claim_types.sql')).jobs).toEqual([])
    }
    expect(await t.row(id)).toEqual(before)
  })

  test('of a key keeps a second live job out', async () => {
    await using t = await setup()
    const { id } = await t.millrace.enqueue(task, {}, { dedupKey: 'k' })
    expect(await t.millrace.enqueue(task, {}, { dedupKey: 'k' })).toEqual({ status: 'duplicate', id })
    expect(await t.sql('select from millrace.job')).toHaveLength(1)
  })
})
