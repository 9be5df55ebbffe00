// F10: somebody keeps a transaction open under load, and autovacuum is off. Nothing that jobs leave behind can be removed,
// and every claim has to find its way past it. When the transaction has ended, somebody has to clean up.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { checkHistory, drain } from '../harness/checker.ts'
import { textsUnder } from '../harness/mutations.ts'
import { percentile } from '../harness/percentile.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import type { FaultProxy } from '../harness/proxy.ts'
import { until } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'
import { warmUp } from './warm-up.ts'

const sizes: Record<Scale, { dead: number; tasks: number; single: number; heldMs: number }> = {
  short: { dead: 120_000, tasks: 700, single: 10, heldMs: 0 },
  standard: { dead: 300_000, tasks: 4_000, single: 50, heldMs: 0 },
  // Long enough for a worker's second look at its tables, which then names who is to blame.
  full: { dead: 300_000, tasks: 8_000, single: 200, heldMs: 180_000 },
}
/** What it takes to see that nobody cleans up. */
const UNWATCHED = { dead: 20_000, tasks: 50, single: 1, heldMs: 0 }
const TASK_MS = 5
const THROUGHPUT_SHARE = 0.8
const WAIT_FACTOR = 3
/** Below this a wait is as good as none, and its multiples are noise. */
const WAIT_FLOOR_MS = 100
const HEAD_SHARE = 0.5
const CLEANED_WITHIN_MS = 8_000

export default defineScenario({
  name: 'f10-open-transaction',
  title: 'a transaction held open under load, without autovacuum',
  mutations: {
    'claims-from-the-head': 'share of claims that walked over the dead entries',
    'tables-unwatched': 'the dead rows are seen to',
  },

  async body(options, findings) {
    const isUnwatched = options.mutation === 'tables-unwatched'
    const { dead, tasks, single, heldMs } = isUnwatched ? UNWATCHED : sizes[options.scale]
    await using world = await World.open(options)
    await world.query('alter table millrace.job set (autovacuum_enabled = off)')
    const proxy = await world.proxy()
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'worker', proxy })
    await warmUp(world, producer)
    const load = { world, proxy, producer, tasks, single, claims: claimsOf(options.mutation) }
    const free = await measure(load, 'free')
    const held = await whileHeld(world, async (sinceMs) => {
      await leaveDead(world, dead)
      let last = await measure(load, 'held')
      for (let round = 0; Date.now() < sinceMs + heldMs; round++) last = await measure(load, `again-${round}`)
      return last
    })
    compare(findings, free, held)
    // Ten waits have no 99th percentile: the short form only shows it.
    if (options.scale !== 'short') {
      findings.atMost('wait p99', held.waitMs, Math.max(WAIT_FLOOR_MS, WAIT_FACTOR * free.waitMs), ' ms')
    }
    findings.atMost('share of claims that walked over the dead entries', held.read / held.claims / dead, HEAD_SHARE)
    findings.check('drains', await drain(world, 60_000))
    await world.startWorker({ label: 'late' })
    const isSeenTo = await world.history.eventually(
      CLEANED_WITHIN_MS,
      (fact) => fact.what === 'event' && (fact.event === 'vacuum_done' || fact.event === 'vacuum_blocked'),
    )
    findings.check('the dead rows are seen to', isSeenTo !== undefined)
    await checkHistory(world, findings)
  },
})

interface Measured {
  perSecond: number
  waitMs: number
  claims: number
  /** Entries of the claims' index that were looked at. */
  read: number
}

function compare(findings: Findings, free: Measured, held: Measured): void {
  const share = (100 * held.perSecond) / free.perSecond
  findings.check('throughput beside the free one', share >= 100 * THROUGHPUT_SHARE, `${Math.round(share)} %`)
  findings.figures({
    'tasks per second': free.perSecond,
    'tasks per second, held': held.perSecond,
    'wait p99 ms': free.waitMs,
    'wait p99 ms, held': held.waitMs,
  })
}

interface Load {
  world: World
  proxy: FaultProxy
  producer: Producer
  tasks: number
  single: number
  claims: ReadonlySet<string>
}

const claimsOf = (mutation: Parameters<typeof textsUnder>[0]): ReadonlySet<string> => {
  const { jobClaim, jobClaimTypes } = textsUnder(mutation)
  return new Set([jobClaim, jobClaimTypes])
}

/** A backlog, and what its claims read; then single tasks, and how long they wait. */
async function measure({ world, proxy, producer, tasks, single, claims }: Load, name: string): Promise<Measured> {
  const readBefore = await entriesRead(world)
  proxy.asked = []
  await producer.order({ how: 'many', tasks: tasksOf(name, tasks, () => ({ does: 'plain', ms: TASK_MS })) })
  const ended = () => world.history.runs('ended').filter(({ n }) => n.startsWith(`${name}-`))
  await until('the backlog ends', 120_000, () => ended().length >= tasks)
  const asked = proxy.asked.filter((sql) => claims.has(sql)).length
  const read = (await entriesRead(world)) - readBefore
  const times = ended().map(({ at }) => at)
  const perSecond = (tasks * 1_000) / (Math.max(...times) - Math.min(...times))
  for (let i = 0; i < single; i++) {
    await Promise.all([producer.each([{ n: `${name}-single-${i}`, does: 'plain' }]), sleep(50)])
  }
  await drain(world, 30_000)
  const enqueued = new Map(world.history.enqueues('acknowledged').map(({ n, at }) => [n, at]))
  const waits = world.history
    .runs('started')
    .filter(({ n }) => n.startsWith(`${name}-single-`))
    .map(({ n, at }) => at - (enqueued.get(n) ?? at))
  return { perSecond, waitMs: percentile(waits, 0.99), claims: asked, read }
}

/** Jobs that nobody ever saw, ahead of all others in the index that claims walk. */
async function leaveDead(world: World, count: number): Promise<void> {
  const client = await world.db.connect()
  try {
    await client.query('begin')
    await client.query(
      `insert into millrace.job (type, queue, priority, max_attempts, run_at, created_at, updated_at, payload)
       select 'task', queue, priority, 5, now() - interval '1 hour', now(), now(), '{}'
       from (select queue, priority from millrace.job_archive limit 1) as known, generate_series(1, $1)`,
      [count],
    )
    await client.query(`delete from millrace.job where run_at < now() - interval '30 minutes'`)
    await client.query('commit')
    await client.query('select pg_stat_force_next_flush()')
  } finally {
    client.release()
  }
}

/** Entries of the claim's index that were looked at, dead ones included, by sessions that have told so by now. */
async function entriesRead(world: World): Promise<number> {
  const [row] = await world.query<{ read: string }>(
    `select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'job_for_claim_idx'`,
  )
  return Number(row?.read)
}

async function whileHeld<Result>(world: World, work: (sinceMs: number) => Promise<Result>): Promise<Result> {
  const holder = new pg.Client({ connectionString: world.url, application_name: 'forgotten' })
  await holder.connect()
  try {
    await holder.query('begin isolation level repeatable read')
    await holder.query('select count(*) from millrace.worker')
    return await work(Date.now())
  } finally {
    await holder.end()
  }
}
