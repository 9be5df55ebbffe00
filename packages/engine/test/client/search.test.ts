import { defineJob, defineQueues, InvalidQuery, implement, type Millrace, type SearchOptions } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { jobEvent, setup } from '../support/setup.ts'

const queues = defineQueues({ mail: {}, reports: {} })
const payload = z.object({ n: z.number(), user: z.object({ id: z.string(), tags: z.array(z.string()) }).optional() })
const letter = defineJob({ type: 'mail.letter', queue: queues.mail, payload, retry: { attempts: 1 } })
const report = defineJob({ type: 'report', queue: queues.reports, payload })

/** Five jobs: one completed, one dead, one cancelled, two that wait. */
async function filled() {
  const t = await setup()
  const { millrace, worker } = await t.working([
    implement(letter, async ({ n }) => {
      if (n === 2) throw new Error('the stamp is 100% missing')
      return n
    }),
  ])
  const { id: completed } = await millrace.enqueue(letter, { n: 1 }, { tenant: 'org_7', createdBy: 'ann' })
  await jobEvent(millrace, 'job_completed', completed)
  const { id: dead } = await millrace.enqueue(letter, { n: 2, user: { id: '42', tags: ['new'] } })
  await jobEvent(millrace, 'job_died', dead)
  await worker.stop()
  const { id: cancelled } = await millrace.enqueue(letter, { n: 3 })
  await millrace.cancel(cancelled, { by: 'ann', reason: 'sent twice' })
  const office = t.client([report])
  const { id: pending } = await office.enqueue(report, { n: 4 }, { tenant: 'org_8', correlationId: 'month-end' })
  const { id: later } = await office.enqueue(report, { n: 50 }, { delay: '1h', dedupKey: 'a, "b"', priority: 2 })
  return { t, millrace, office, ids: { completed, dead, cancelled, pending, later } }
}

type Ids = Awaited<ReturnType<typeof filled>>['ids']
const found = async (millrace: Millrace, query: string, options?: SearchOptions) =>
  (await millrace.search.jobs(query, options)).jobs.map(({ id }) => id)

test('every field finds the jobs that it names, among live and archived ones', async () => {
  const { t, millrace, ids } = await filled()
  await using _ = t
  const [letterOfDead] = await millrace.deadLetters.list()
  const run = (await millrace.job(ids.completed))?.workerId
  const expected: [string, (keyof Ids)[]][] = [
    ['', ['later', 'pending', 'cancelled', 'dead', 'completed']],
    ['status:dead', ['dead']],
    ['status:completed,cancelled', ['cancelled', 'completed']],
    ['-status:pending', ['cancelled', 'dead', 'completed']],
    ['queue:reports', ['later', 'pending']],
    ['type:mail.*', ['cancelled', 'dead', 'completed']],
    ['tenant:org_7', ['completed']],
    ['-tenant:org_7', ['later', 'pending', 'cancelled', 'dead']],
    ['-tenant:*', ['later', 'cancelled', 'dead']],
    [ids.dead, ['dead']],
    [`id:>=${ids.pending}`, ['later', 'pending']],
    ['attempt:>0', ['dead', 'completed']],
    ['priority:<3', ['later']],
    ['created:>-1h created:<+1h status:pending', ['later', 'pending']],
    ['created:<-1h', []],
    ['due:>now', ['later']],
    ['started:*', ['dead', 'completed']],
    ['finished:>-5m', ['cancelled', 'dead', 'completed']],
    ['-finished:*', ['later', 'pending']],
    ['waited:>1h', []],
    ['waited:>=0ms', ['pending', 'dead', 'completed']],
    ['took:<5m', ['dead', 'completed']],
    ['error:~"100% MISSING"', ['dead']],
    ['error:~100_', []],
    ['reason:exhausted', ['dead']],
    ['reason:~twice', ['cancelled']],
    [`fp:${letterOfDead?.fingerprint?.slice(0, 5)}`, ['dead']],
    ['fp:0000000', []],
    ['correlation:month-end', ['pending']],
    [`correlation:job-${ids.dead}`, ['dead']],
    [`worker:${run}`, ['dead', 'completed']],
    ['by:ann', ['completed']],
    ['key:"a, \\"b\\""', ['later']],
    ['workflow:*', []],
    ['parent:1', []],
    ['payload.n:4', ['pending']],
    ['payload.n:>3', ['later', 'pending']],
    ['payload.user.id:42', ['dead']],
    ['payload.user.tags.0:new', ['dead']],
    ['payload.user:*', ['dead']],
    ['-payload.user:*', ['later', 'pending', 'cancelled', 'completed']],
    ['payload:~"\\"n\\": 50"', ['later']],
    ['payload.user.id:42 queue:reports', []],
  ]
  for (const [query, names] of expected)
    expect(await found(millrace, query), query).toEqual(names.map((name) => ids[name]))
  for (const [query, names] of expected)
    expect(await millrace.search.count(query), query).toEqual({ count: names.length, isCapped: false })
})

test('live jobs are found by the fingerprint of their last failed attempt', async () => {
  await using t = await setup()
  const flaky = defineJob({ type: 'flaky', queue: queues.mail, payload, retry: { attempts: 5 } })
  const { millrace } = await t.working([implement(flaky, () => Promise.reject(new Error('flaky')))])
  const { id } = await millrace.enqueue(flaky, { n: 1 })
  await jobEvent(millrace, 'job_retry_scheduled', id)
  const [attempt] = await millrace.attempts(id)
  expect(await found(millrace, `fp:${attempt?.fingerprint} status:failed`)).toEqual([id])
  expect(await found(millrace, 'fp:000000000000 status:failed')).toEqual([])
})

test('a dead job is found by its letter when the archive has forgotten it', async () => {
  const { t, millrace, ids } = await filled()
  await using _ = t
  await t.sql('delete from millrace.job_archive where id = $1', [ids.dead])
  const { jobs } = await millrace.search.jobs('status:dead payload.user.id:42')
  expect(jobs).toMatchObject([{ id: ids.dead, status: 'dead', type: 'mail.letter', attempt: 1, payload: { n: 2 } }])
  expect(await found(millrace, 'error:~stamp reason:exhausted took:<5m')).toEqual([ids.dead])
  expect((await millrace.jobs({ status: 'dead' })).map(({ id }) => id)).toEqual([ids.dead])
})

test('pages follow one another in both orders, and jobs that are enqueued meanwhile move none of them', async () => {
  const { t, millrace, office, ids } = await filled()
  await using _ = t
  const newest = [ids.later, ids.pending, ids.cancelled, ids.dead, ids.completed]
  const first = await millrace.search.jobs('', { limit: 2 })
  await office.enqueue(report, { n: 6 })
  const second = await millrace.search.jobs('', { limit: 3, after: first.next ?? '' })
  expect([...first.jobs, ...second.jobs].map(({ id }) => id)).toEqual(newest)
  expect(second.next).toBeNull()
  const oldest = await millrace.search.jobs('payload:*', { limit: 2, order: 'oldest' })
  const rest = await millrace.search.jobs('payload:*', { limit: 3, order: 'oldest', after: oldest.next ?? '' })
  expect([...oldest.jobs, ...rest.jobs].map(({ id }) => id)).toEqual(newest.toReversed())
  await expect(millrace.search.jobs('', { after: oldest.next ?? '' })).rejects.toThrow(/order 'oldest'/)
  await expect(millrace.search.jobs('', { after: 'page-2' })).rejects.toThrow(/expected the `next`/)
})

test('a search of payloads says what it looked at', async () => {
  const { t, millrace, ids } = await filled()
  await using _ = t
  const { jobs, scanned, next } = await millrace.search.jobs('payload.n:1 queue:mail')
  expect(jobs.map(({ id }) => id)).toEqual([ids.completed])
  const created = await Promise.all(
    [ids.completed, ids.cancelled].map(async (id) => (await millrace.job(id))?.createdAt),
  )
  expect(scanned).toEqual({ rows: 3, from: created[0], to: created[1] })
  expect(next).toBeNull()
  expect((await millrace.search.jobs('queue:mail')).scanned).toBeNull()
})

test('a search of payloads without time gets on by some jobs, and its cursor goes on', async () => {
  await using t = await setup()
  const millrace = t.client([report])
  const first = await millrace.enqueue(report, { n: 1 })
  await t.sql(`
    insert into millrace.job (type, queue, priority, max_attempts, run_at, created_at, updated_at, payload)
    select 'report', 'reports', 5, 3, now(), now(), now(), '{"n": 2}' from generate_series(1, 2000)`)
  const jobs = []
  let after: string | undefined
  let rows = 0
  let pages = 0
  do {
    const page = await millrace.search.jobs('payload.n:1', { timeoutMs: 1, ...(after === undefined ? {} : { after }) })
    jobs.push(...page.jobs)
    rows += page.scanned?.rows ?? 0
    pages++
    after = page.next ?? undefined
  } while (after !== undefined)
  expect(jobs.map(({ id }) => id)).toEqual([first.id])
  expect(rows).toBe(2_001)
  expect(pages).toBeGreaterThan(1)
})

test('counts stop at their cap', async () => {
  const { t, millrace } = await filled()
  await using _ = t
  expect(await millrace.search.count('', { cap: 3 })).toEqual({ count: 3, isCapped: true })
  expect(await millrace.search.count('', { cap: 5 })).toEqual({ count: 5, isCapped: false })
  await expect(millrace.search.count('', { cap: 100_001 })).rejects.toThrow(/100000 is the most/)
})

test('a caller who may see one tenant finds no job of another', async () => {
  const { t, millrace, ids } = await filled()
  await using _ = t
  expect(await found(millrace, '', { tenant: 'org_8' })).toEqual([ids.pending])
  expect(await found(millrace, 'tenant:org_7', { tenant: 'org_8' })).toEqual([])
  expect(await found(millrace, 'payload.n:>0', { tenant: 'org_8' })).toEqual([ids.pending])
  expect(await millrace.search.count('', { tenant: 'org_8' })).toEqual({ count: 1, isCapped: false })
  const { items } = await millrace.search.suggest('tenant:', 7, { tenant: 'org_8' })
  expect(items.map(({ text }) => text)).toEqual(['org_8'])
})

test('a query that cannot be read is refused with its place', async () => {
  await using t = await setup()
  const millrace = t.client([report])
  const refused = await millrace.search.jobs('queue:mail statu:dead').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(InvalidQuery)
  expect(refused).toMatchObject({ code: 'invalid_query', start: 11, end: 16, suggestion: 'status' })
  expect(String(refused)).toMatch(/at character 12: There is no field "statu"/)
})

test('values are suggested with counts, fields with what they are about', async () => {
  const { t, millrace } = await filled()
  await using _ = t
  const suggested = async (marked: string) => {
    const { items } = await millrace.search.suggest(marked.replace('|', ''), marked.indexOf('|'))
    return items.map(({ text, count }) => [text, count])
  }
  expect(await suggested('sta|')).toEqual([
    ['status:', null],
    ['started:', null],
  ])
  expect(await suggested('queue:|')).toEqual([
    ['reports', 2],
    ['mail', 1],
  ])
  expect(await suggested('type:lett|')).toEqual([['mail.letter', 1]])
  expect(await suggested('status:de|')).toEqual([['dead', 1]])
  expect(await suggested('tenant:|')).toEqual([
    ['org_8', 1],
    ['org_7', 0],
  ])
  const [group] = await millrace.deadLetters.groups()
  expect(await suggested('fp:|')).toEqual([[group?.fingerprint, 1]])
  expect(await suggested('created:|')).toContainEqual(['>-1h', null])
  expect(await suggested('payload.a|')).toEqual([])
})

test('a timeline counts what fits by the step in which it was created, live and archived', async () => {
  const { t, millrace } = await filled()
  await using _ = t
  const to = new Date(Date.now() + 60_000)
  const from = new Date(to.getTime() - 7_200_000)
  const read = (query: string, tenant?: string) =>
    millrace.search.timeline(query, { from, to, steps: 4, ...(tenant !== undefined && { tenant }) })
  const all = await read('')
  expect(all).toMatchObject({ stepMs: 1_800_000, isCapped: false, isTooLong: false })
  const total = all.steps.flatMap(({ counts }) => Object.values(counts)).reduce((sum, count) => sum + count, 0)
  expect(total).toBe((await millrace.search.count(`created:>=${from.toISOString()}`)).count)
  const [step] = all.steps
  expect(((step?.at.getTime() ?? 0) - from.getTime()) % 1_800_000).toBe(0)
  const [dead] = (await read('status:dead')).steps
  expect(dead?.counts).toEqual({ dead: 1 })
  expect((await read('', 'nobody')).steps).toEqual([])
  await expect(read('statu:dead')).rejects.toBeInstanceOf(InvalidQuery)
  await expect(millrace.search.timeline('', { from: to, to: from })).rejects.toThrow(/`from` must be before `to`/)
})
