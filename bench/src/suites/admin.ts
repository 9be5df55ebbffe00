// How long operators wait: lists, searches and counts beside a million live and ten million archived jobs of 300 types in 200
// queues, and of 5,000 tenants.
import { performance } from 'node:perf_hooks'
import { createMillrace, type Millrace } from 'millrace'
import { fillArchive, TENANT } from '../archive-of-days.ts'
import type { Bench } from '../bench.ts'
import { aimed, atMost } from '../report.ts'
import { interleave } from '../rounds.ts'
import type { Suite } from '../suite.ts'
import { trivial } from '../trivial-jobs.ts'

const LIVE = 1_000_000
const ARCHIVED = 10_000_000
const CHUNK = 250_000
const SHAPE = { days: 6, types: 300, queues: 200, tenants: 5_000 }
const TARGET_MS = 150
/** What the dashboard asks again and again: one poller on the server, however many look. */
const SCREEN_MS = 1_000
const PAYLOAD_TIMEOUT_MS = 2_000
/** A timeout bounds the statements; the page is fetched after it. */
const PAYLOAD_GRACE_MS = 500

const live = `
insert into millrace.job (
  type, queue, tenant, status, priority, max_attempts, run_at, created_at, updated_at, last_error_at, last_error, payload
)
select 'type_' || n % $3::int, 'queue_' || n % $3::int % $4::int, ${TENANT('n', '$5::int')}, 'pending', n % 5, 5,
  now() + interval '1 day', now(), now(), case when n % 1000 = 7 then now() end, case when n % 1000 = 7 then 'read timeout' end,
  jsonb_build_object('n', n, 'user', jsonb_build_object('id', n % 100000), 'text', 'as long as a small payload is')
from generate_series($1::bigint, $2::bigint) as n`

/** Each is asked so often in a round, and the 95th percentile counts. */
const list = [
  ...['', 'status:dead', 'status:failed', 'status:cancelled', 'status:completed', 'status:completed type:type_7'],
  ...[
    'type:type_7',
    'type:no_such_type',
    'queue:queue_3 status:pending',
    'tenant:tenant_7',
    'tenant:tenant_4000',
    'created:>-2h status:completed',
  ],
  ...['created:<-3d', 'finished:>-2h', 'finished:<-3d type:type_7', 'status:dead created:>-1d queue:queue_7'],
]
const counted = [
  '',
  'status:completed',
  'status:dead',
  'status:failed',
  'type:type_7',
  'queue:queue_3',
  'finished:>-2h',
  'created:<-3d',
]

export const admin: Suite = {
  name: 'admin',
  summary:
    'how long lists, searches, counts and the reads of the dashboard take beside 1 M live and 10 M archived jobs, 95th percentile',
  jobs: 20,
  rounds: 3,
  scale: 1,

  async run(bench) {
    const { options, progress, step, databaseUrl } = bench
    await fill(bench, options.scale ?? 1)
    await using millrace = createMillrace({ database: databaseUrl, jobs: [trivial] })
    const timed = (name: string, ask: () => Promise<unknown>) => ({
      name,
      unit: 'ms',
      measure: () => p95(options.jobs, ask),
    })
    const fast = [
      ...list.map((query) => timed(`page of ${shown(query)}`, () => millrace.search.jobs(query))),
      ...counted.map((query) => timed(`count of ${shown(query)}`, () => millrace.search.count(query))),
      timed('page 20 of all jobs', () => twentieth(millrace)),
    ]
    const screens = screensOf(millrace).map(([name, ask]) => timed(name, ask))
    const slow = [
      { name: 'payload search that finds nothing', unit: 'ms', measure: () => took(() => byPayload(millrace)) },
    ]
    const measured = await interleave([...fast, ...screens, ...slow], { ...options, progress, step })
    const isOf = (all: readonly { name: string }[], name: string) => all.some((each) => each.name === name)
    const targetOf = (name: string) =>
      isOf(slow, name) ? PAYLOAD_TIMEOUT_MS + PAYLOAD_GRACE_MS : isOf(screens, name) ? SCREEN_MS : TARGET_MS
    return { measurements: measured.map((each) => aimed(each, atMost(targetOf(each.name)))), ratios: [] }
  },
}

/** What the dashboard's screens read, beside lists and counts. */
const screensOf = (millrace: Millrace): [name: string, ask: () => Promise<unknown>][] => [
  ['overview: vitals', () => millrace.vitals()],
  ['overview: throughput and waits of three hours', () => millrace.reports.series({ since: '3h', step: 'minute' })],
  ['overview: history of the queues', () => millrace.reports.queues({ since: '3h', step: 'minute' })],
  ['overview: failing and slow types', () => millrace.reports.runs({ since: '1h' })],
  ['navigation: counts by type and tenant', () => millrace.stats()],
  ['jobs: suggested types', () => millrace.search.suggest('type:type_2', 11)],
  ['jobs: strip of three hours', () => millrace.search.timeline('', lastHours(3))],
  ['failures: kinds', () => millrace.deadLetters.groups({ limit: 50 })],
  ['tenants: shares of a queue', () => millrace.fairness('queue_3')],
]

const lastHours = (hours: number) => ({ from: new Date(Date.now() - hours * 3_600_000), to: new Date() })

const shown = (query: string): string => (query === '' ? 'all jobs' : query)

const byPayload = (millrace: Millrace) =>
  millrace.search.jobs('payload.user.id:no_such_user', { timeoutMs: PAYLOAD_TIMEOUT_MS })

let cursor: string | undefined
async function twentieth(millrace: Millrace): Promise<void> {
  if (cursor === undefined)
    for (let page = 0; page < 19; page++)
      cursor = (await millrace.search.jobs('', cursor === undefined ? {} : { after: cursor })).next ?? undefined
  await millrace.search.jobs('', cursor === undefined ? {} : { after: cursor })
}

async function fill(bench: Bench, scale: number): Promise<void> {
  const { pool, step } = bench
  await fillArchive(bench, { ...SHAPE, rows: Math.round(ARCHIVED * scale) }, step)
  step('vacuuming the archive')
  await pool.query('vacuum analyze millrace.job_archive')
  const rows = Math.round(LIVE * scale)
  const { types, queues, tenants } = SHAPE
  for (let done = 0; done < rows; done += CHUNK) {
    step(`filling: ${done.toLocaleString('en')} of ${rows.toLocaleString('en')} live`)
    await pool.query(live, [done + 1, Math.min(done + CHUNK, rows), types, queues, tenants])
  }
  await pool.query('vacuum analyze millrace.job')
  await pool.query('checkpoint')
}

async function p95(times: number, ask: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push(await took(ask))
  return all.sort((a, b) => a - b)[Math.ceil(times * 0.95) - 1] as number
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}
