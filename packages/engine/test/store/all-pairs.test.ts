// All pairs: every state of a job against everything that can happen to a job. The table says what becomes of it;
// what it does not name stays as it was, in this row and everywhere else.
import { randomUUID } from 'node:crypto'
import { createMillrace, defineJob, defineQueues, type Job, type Millrace } from 'millrace'
import { fakeClock, jobInState, type State, type TestDatabase } from 'millrace/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Events } from '#src/events'
import { Rescuer } from '#src/maintenance/rescuer'
import { Database } from '#src/store/db'
import { governedTake } from '#src/store/governed-claims'
import { jobClaim, jobReleaseRun } from '#src/store/job-claims'
import { type Settlement, settle } from '#src/store/settlements'
import { workerEnd } from '#src/store/workers'
import { freshDatabase } from '../support/database.ts'
import { silent } from '../support/setup.ts'

const { default: queue } = defineQueues({ default: {} })
const payload = z.object({ n: z.number() })
/** Stuck after a minute and a half. */
const task = defineJob({ type: 'task', queue, payload, timeout: '45s' })
const bystander = defineJob({ type: 'bystander', queue, payload, timeout: '30d' })
// Before any real heartbeat: a worker that has shown life after the deadline of its run has not died before it.
const clock = fakeClock('2020-01-01T00:00:00Z')
const states: Record<State, true> = {
  pending: true,
  scheduled: true,
  failed: true,
  suspect: true,
  blocked: true,
  processing: true,
  stopping: true,
  completed: true,
  cancelled: true,
  dead: true,
}

/** 'doomed': waits, was asked to stop, and ends as cancelled when it is claimed. */
type Shown = State | 'doomed'

interface Operation {
  act(job: Job): Promise<unknown>
  /** What becomes of jobs in these states. All others stay as they are. */
  becomes: Partial<Record<State, Shown>>
  /** The columns of a row that stays in its table that may change. */
  changes: readonly string[]
  /** Besides the job's own row, unless the job is cancelled. */
  writes?: { attempts: number; letters: number }
}

let database: TestDatabase
let db: Database
let pool: pg.Pool
let millrace: Millrace

const failure = { class: 'E', message: 'settled', stack: null, fingerprint: 'f', logs: null }
const strangers = { runId: randomUUID(), workerId: randomUUID() }
const settling = (settlement: (run: { id: string; runId: string }) => Settlement, isOwn: boolean) => (job: Job) =>
  settle(db, clock.now(), [settlement({ id: job.id, runId: (isOwn && job.runId) || strangers.runId })])

const finish = (run: { id: string; runId: string }): Settlement => ({
  kind: 'finish',
  ...run,
  status: 'completed',
  result: '{"ok":true}',
  reason: null,
  retention: 'standard',
})
const requeue = (run: { id: string; runId: string }): Settlement => ({
  kind: 'requeue',
  ...run,
  delayMs: 600_000,
  refund: false,
  crash: 'clear',
  failure,
})
const bury = (run: { id: string; runId: string }): Settlement => ({
  kind: 'bury',
  ...run,
  reason: 'stuck',
  failure,
  retention: 'standard',
  drop: false,
})

async function claimGoverned(): Promise<void> {
  const { rows } = await pool.query<{ id: string }>('select id from millrace.job order by id')
  await governedTake(db, clock.now(), {
    ids: rows.map(({ id }) => id),
    types: ['task', 'bystander'].map((type) => ({ type, stuckAfterMs: 60_000, limits: [] })),
    ...strangers,
    queue: 'default',
    turn: null,
    since: null,
    spent: [],
    isDurable: false,
  })
}

async function claim(byType: boolean): Promise<void> {
  await jobClaim(db, clock.now(), {
    queues: [{ queue: 'default', limit: 100 }],
    types: ['task', 'bystander'].map((type) => ({ type, stuckAfterMs: 60_000 })),
    ...strangers,
    suspectQueues: ['default'],
    byType,
  })
}

function rescue(): Promise<unknown> {
  return new Rescuer({
    db,
    clock,
    registry: new Registry([task, bystander]),
    events: new Events(),
    intervalMs: 1_000,
    mayJudge: () => true,
    wake: () => {},
    onBlocked: () => {},
    onStepsEnded: () => {},
  }).tick()
}

const nothing = { becomes: {}, changes: [] }
const claiming = {
  becomes: { pending: 'processing', failed: 'processing', suspect: 'processing' },
  changes: ['status', 'run_id', 'worker_id', 'attempt', 'started_at', 'deadline_at', 'updated_at'],
} as const

const operations: Record<string, Operation> = {
  claim: { act: () => claim(false), ...claiming },
  'claim by type': { act: () => claim(true), ...claiming },
  'governed claim': { act: claimGoverned, ...claiming, changes: [...claiming.changes, 'limits'] },
  'finish by its run': {
    act: settling(finish, true),
    becomes: { processing: 'completed', stopping: 'completed' },
    changes: [],
  },
  'finish by another run': { act: settling(finish, false), ...nothing },
  'requeue by its run': {
    act: settling(requeue, true),
    becomes: { processing: 'failed', stopping: 'doomed' },
    changes: ['status', 'run_at', 'first_due_at', 'deadline_at', 'last_error', 'last_error_at', 'updated_at'],
    writes: { attempts: 1, letters: 0 },
  },
  'requeue by another run': { act: settling(requeue, false), ...nothing },
  'bury by its run': {
    act: settling(bury, true),
    becomes: { processing: 'dead', stopping: 'dead' },
    changes: [],
    writes: { attempts: 1, letters: 1 },
  },
  'bury by another run': { act: settling(bury, false), ...nothing },
  cancel: {
    act: (job) => millrace.cancel(job.id, { by: 'ann' }),
    becomes: {
      pending: 'cancelled',
      scheduled: 'cancelled',
      failed: 'cancelled',
      suspect: 'cancelled',
      blocked: 'cancelled',
      processing: 'stopping',
    },
    changes: ['cancel_requested_at', 'cancel_reason', 'updated_at'],
  },
  'run now': {
    act: (job) => millrace.runNow(job.id, { by: 'ann' }),
    becomes: { scheduled: 'pending' },
    changes: ['run_at', 'updated_at'],
  },
  'rescue while its worker lives': { act: rescue, ...nothing },
  'rescue after its worker died': {
    async act(job) {
      if (job.workerId !== null) await workerEnd(db, null, job.workerId, 'died')
      await rescue()
    },
    becomes: { processing: 'suspect', stopping: 'cancelled' },
    changes: ['status', 'first_due_at', 'attempt', 'crashes', 'run_id', 'deadline_at', 'updated_at'],
    writes: { attempts: 1, letters: 0 },
  },
  'rescue beyond its deadline': {
    act: () => {
      clock.advance('1m')
      return rescue()
    },
    becomes: { processing: 'dead', stopping: 'dead' },
    changes: [],
    writes: { attempts: 1, letters: 1 },
  },
  'release by its claim': {
    act: (job) =>
      jobReleaseRun(db, clock.now(), {
        workerId: job.workerId ?? strangers.workerId,
        runId: job.runId ?? strangers.runId,
      }),
    becomes: { processing: 'pending', stopping: 'doomed' },
    changes: ['status', 'attempt', 'deadline_at', 'updated_at'],
  },
  'release by another claim': {
    act: (job) =>
      jobReleaseRun(db, clock.now(), { workerId: job.workerId ?? strangers.workerId, runId: strangers.runId }),
    ...nothing,
  },
  'release by another worker': {
    act: (job) => jobReleaseRun(db, clock.now(), { workerId: strangers.workerId, runId: job.runId ?? strangers.runId }),
    ...nothing,
  },
}

type Row = Record<string, unknown> & { id?: string; job_id?: string }

async function rowsOf(table: string): Promise<Row[]> {
  return (await pool.query<Row>(`select * from millrace.${table} t order by t`)).rows
}

async function everything() {
  const [live, archived, attempts, letters] = await Promise.all(
    ['job', 'job_archive', 'job_attempt', 'dead_letter_jobs'].map(rowsOf),
  )
  return { live, archived, attempts, letters } as Record<'live' | 'archived' | 'attempts' | 'letters', Row[]>
}

type Everything = Awaited<ReturnType<typeof everything>>

const own = (id: string, rows: readonly Row[]) => rows.filter((row) => (row.job_id ?? row.id) === id)
const others = (id: string, all: Everything) =>
  Object.fromEntries(Object.entries(all).map(([name, rows]) => [name, rows.filter((row) => !own(id, [row]).length)]))

/** The state that the rows of a job amount to. */
function shown({ live, archived }: Pick<Everything, 'live' | 'archived'>): Shown | undefined {
  const [job] = live
  if (job === undefined) return archived[0]?.status as State
  if (job.status === 'processing') return job.cancel_requested_at === null ? 'processing' : 'stopping'
  if (job.status === 'blocked') return 'blocked'
  if (job.cancel_requested_at !== null) return 'doomed'
  if ((job.crashes as number) > 0) return 'suspect'
  if (job.last_error_at !== null) return 'failed'
  return (job.run_at as Date) > clock.now() ? 'scheduled' : 'pending'
}

const ofOne = (id: string, all: Everything): Everything => ({
  live: own(id, all.live),
  archived: own(id, all.archived),
  attempts: own(id, all.attempts),
  letters: own(id, all.letters),
})

const changedColumns = (before: Row, after: Row) =>
  Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))

beforeAll(async () => {
  database = await freshDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
  pool.on('error', () => {})
  db = new Database({ connection: { connectionString: database.url }, schema: 'millrace', maxConnections: 2 })
  millrace = createMillrace({ database: database.url, jobs: [task, bystander], logger: silent, clock })
  // Others, which nothing may touch.
  for (const state of ['processing', 'stopping', 'scheduled', 'blocked', 'completed', 'dead'] as const) {
    const delay = state === 'scheduled' ? '30d' : 0
    await jobInState(millrace, state, { contract: bystander, payload: { n: 0 }, delay })
  }
})

afterAll(async () => {
  await Promise.all([millrace.close(), db.close(), pool.end()])
  await database.drop()
})

/** A job in that state, a minute ago. */
async function jobIn(state: State): Promise<{ job: Job; before: Everything }> {
  const job = await jobInState(millrace, state, { contract: task, payload: { n: 1 }, maxAttempts: 3 })
  clock.advance('1m')
  return { job, before: await everything() }
}

async function removeJob(id: string): Promise<void> {
  for (const table of ['job', 'job_archive']) await pool.query(`delete from millrace.${table} where id = $1`, [id])
  for (const table of ['job_attempt', 'dead_letter_jobs']) {
    await pool.query(`delete from millrace.${table} where job_id = $1`, [id])
  }
}

/** What may change beside the status when a job leaves for the archive. A waiting job that is cancelled had no last run. */
const movedWith: Record<string, string[]> = { dead: ['last_error', 'last_error_at'], cancelled: ['started_at'] }

describe.each(Object.keys(states) as State[])('a job that is %s', (state) => {
  test.each(Object.keys(operations))('against: %s', async (name) => {
    const { act, becomes, changes, writes } = operations[name] as Operation
    const { job, before } = await jobIn(state)
    onTestFinished(() => removeJob(job.id))
    const mine = ofOne(job.id, before)
    expect(shown(mine)).toBe(state)

    await act(job)

    const after = await everything()
    const mineNow = ofOne(job.id, after)
    expect(others(job.id, after)).toEqual(others(job.id, before))
    expect(shown(mineNow)).toBe(becomes[state] ?? state)
    expect(mineNow.live.length + mineNow.archived.length).toBe(1)
    const none = { attempts: 0, letters: 0 }
    const expected = [undefined, 'cancelled'].includes(becomes[state]) ? none : (writes ?? none)
    expect(mineNow.attempts.length - mine.attempts.length).toBe(expected.attempts)
    expect(mineNow.letters.length - mine.letters.length).toBe(expected.letters)
    const [was] = [...mine.live, ...mine.archived] as [Row]
    const [is] = [...mineNow.live, ...mineNow.archived] as [Row]
    const hasMoved = mine.live.length !== mineNow.live.length
    const allowed = hasMoved ? ['status', ...(movedWith[String(is.status)] ?? [])] : changes
    const kept = Object.fromEntries(Object.entries(was).filter(([column]) => column in is))
    expect(changedColumns(kept, is).filter((column) => !allowed.includes(column))).toEqual([])
  })
})
