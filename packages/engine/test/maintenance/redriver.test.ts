import { defineJob, defineQueues, implement, type RedrivePolicy } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Admitter } from '#src/governance/admitter'
import { Redriver } from '#src/maintenance/redriver'
import { graveyard } from '../support/dead-letters.ts'

const queues = defineQueues({ default: {} })
const base = { queue: queues.default, payload: z.object({ n: z.number() }) } as const
const plain = defineJob({ ...base, type: 'plain' })
const patient = defineJob({ ...base, type: 'patient', redrive: { after: '10m', atMost: 3 } })
const keyed = defineJob({
  ...base,
  type: 'keyed',
  dedupe: { key: ({ n }) => `k${n}` },
  redrive: { after: '10m', atMost: 1, reasons: ['exhausted', 'stuck'] },
})
const jobs = [plain, patient, keyed]
const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const MINUTE = 60_000

/** Redrivers on a clock of the test's own. */
async function setup(contracts: ConstructorParameters<typeof Registry>[0] = jobs) {
  const t = await graveyard()
  const start = Date.now()
  let nowMs = start
  const clock = { databaseNow: () => new Date(nowMs) }
  const millrace = t.client(jobs, { clock })
  const woken: string[] = []
  const wake = (names: Iterable<string>) => void woken.push(...names)
  const redriver = () =>
    new Redriver({
      db: t.db,
      clock,
      registry: new Registry(contracts),
      admitter: new Admitter({ db: t.db, clock, wake, onError: () => {} }),
      wake,
    })
  return {
    ...t,
    millrace,
    woken,
    redriver,
    tick: () => redriver().tick(),
    pass: (minutes: number) => {
      nowMs += minutes * MINUTE
    },
    now: () => new Date(nowMs),
    statuses: async () => (await millrace.deadLetters.list({ limit: 1_000 })).reverse().map(({ status }) => status),
  }
}

describe('the redriver', () => {
  test('redrives a letter when its time has come, and not before', async () => {
    await using t = await setup()
    const id = await t.letter(t.millrace, patient, { n: 1 }, { at: t.now() })
    t.pass(9.9)
    expect(await t.tick()).toEqual({ redriven: 0, postponed: 0, isMore: false })
    t.pass(0.2)
    expect(await t.tick()).toEqual({ redriven: 1, postponed: 0, isMore: false })
    expect(await t.liveJobs()).toMatchObject([{ type: 'patient', payload: { n: 1 } }])
    expect(await t.millrace.deadLetters.get(id)).toMatchObject({
      status: 'retried',
      acknowledged: true,
      acknowledgedBy: 'millrace: redrive rule',
    })
    expect(t.woken).toEqual(['default'])
    expect(await t.tick()).toMatchObject({ redriven: 0 })
  })

  test('leaves types without a rule, other reasons, and types it does not know to people', async () => {
    await using t = await setup([plain, keyed])
    await t.letter(t.millrace, plain, { n: 1 }, { at: t.now() })
    await t.letter(t.millrace, patient, { n: 1 }, { at: t.now() })
    await t.letter(t.millrace, keyed, { n: 1 }, { at: t.now(), reason: 'discarded' })
    await t.letter(t.millrace, keyed, { n: 2 }, { at: t.now(), reason: 'stuck' })
    t.pass(60)
    expect(await t.tick()).toMatchObject({ redriven: 1 })
    expect(await t.statuses()).toEqual(['pending', 'pending', 'pending', 'retried'])
  })

  test('leaves alone what a person has acknowledged, resolved, ignored or redriven', async () => {
    await using t = await setup()
    const ids = (await t.letters(t.millrace, patient, numbers(4), { at: t.now() })) as [string, string, string, string]
    await t.millrace.deadLetters.acknowledge(ids[0], { by: 'ann' })
    await t.millrace.deadLetters.resolve(ids[1], { by: 'ann' })
    await t.millrace.deadLetters.ignore(ids[2], { by: 'ann' })
    await t.millrace.deadLetters.redrive(ids[3], { by: 'ann' })
    t.pass(60)
    expect(await t.tick()).toMatchObject({ redriven: 0, postponed: 0 })
    expect(await t.liveJobs()).toHaveLength(1)
  })

  test('stops after as many redrives as the contract allows', async () => {
    await using t = await setup()
    await t.letter(t.millrace, patient, { n: 1 }, { at: t.now() })
    for (const redrives of [1, 2, 3]) {
      t.pass(11)
      expect(await t.tick()).toMatchObject({ redriven: 1 })
      const [job] = await t.liveJobs()
      await t.kill([job?.id], { at: t.now() })
      expect((await t.millrace.deadLetters.list())[0]).toMatchObject({ redrives, status: 'pending' })
    }
    t.pass(600)
    expect(await t.tick()).toEqual({ redriven: 0, postponed: 0, isMore: false })
    expect(await t.statuses()).toEqual(['retried', 'retried', 'retried', 'pending'])
  })

  test('takes the oldest first, in batches, and says that there is more', async () => {
    await using t = await setup()
    const young = await t.letters(t.millrace, patient, numbers(10), { at: t.now() })
    t.pass(-5)
    await t.letters(t.millrace, patient, numbers(115), { at: t.now() })
    t.pass(60)
    const redriver = t.redriver()
    const first = await redriver.tick()
    expect([first, redriver.delayAfter(first)]).toEqual([{ redriven: 100, postponed: 0, isMore: true }, 0])
    expect(await t.millrace.deadLetters.list({ status: 'pending', limit: 1_000 })).toHaveLength(25)
    for (const id of young) expect(await t.millrace.deadLetters.get(id)).toMatchObject({ status: 'pending' })
    const second = await redriver.tick()
    expect(second).toEqual({ redriven: 25, postponed: 0, isMore: false })
    expect(redriver.delayAfter(second)).toBe(30_000)
  })

  test('lets a letter that cannot be redriven wait anew, so that others pass', async () => {
    await using t = await setup()
    const stuck = await t.letters(t.millrace, patient, numbers(100), { at: t.now() })
    await t.sql(`update millrace.dead_letter_jobs set original_job = jsonb_set(original_job, '{payload}', '{}')`)
    const { id: holder } = await t.millrace.enqueue(keyed, { n: 7 })
    await t.kill([holder], { at: t.now() })
    await t.millrace.enqueue(keyed, { n: 7 })
    t.pass(1)
    const good = await t.letter(t.millrace, patient, { n: 1 }, { at: t.now() })
    t.pass(60)
    const redriver = t.redriver()
    expect(await redriver.tick()).toEqual({ redriven: 0, postponed: 100, isMore: true })
    expect(await redriver.tick()).toEqual({ redriven: 1, postponed: 1, isMore: false })
    expect(await t.millrace.deadLetters.get(good)).toMatchObject({ status: 'retried' })
    expect(await t.millrace.deadLetters.get(stuck[0] as string)).toMatchObject({
      status: 'pending',
      acknowledged: false,
    })
    expect(await redriver.tick()).toEqual({ redriven: 0, postponed: 0, isMore: false })
    t.pass(11)
    expect(await redriver.tick()).toMatchObject({ postponed: 100 })
  })

  test('of many pods at once creates one job for each letter', async () => {
    await using t = await setup()
    await t.letters(t.millrace, patient, numbers(90), { at: t.now() })
    t.pass(60)
    const results = await Promise.all([t.tick(), t.tick(), t.tick(), t.tick()])
    expect(results.reduce((sum, { redriven }) => sum + redriven, 0)).toBe(90)
    expect(await t.liveJobs()).toHaveLength(90)
    expect(results.every(({ postponed }) => postponed === 0)).toBe(true)
  })

  test('yields to a person who was faster', async () => {
    await using t = await setup()
    const id = await t.letter(t.millrace, patient, { n: 1 }, { at: t.now() })
    t.pass(60)
    const client = await t.pool.connect()
    await client.query('begin')
    await client.query(
      `update millrace.dead_letter_jobs set acknowledged = true, acknowledged_by = 'ann' where id = $1`,
      [id],
    )
    // It does not wait for her either.
    expect(await t.tick()).toMatchObject({ redriven: 0 })
    await client.query('commit')
    client.release()
    expect(await t.tick()).toMatchObject({ redriven: 0 })
    expect(await t.liveJobs()).toEqual([])
  })

  test('runs in every worker', async () => {
    await using t = await setup()
    const eager = defineJob({ ...base, type: 'eager', redrive: { after: '1s', atMost: 1 }, retry: { attempts: 1 } })
    const millrace = t.client([eager])
    await t.letter(millrace, eager, { n: 3 })
    await t.sql(`update millrace.dead_letter_jobs set redrive_since = now() - interval '1 minute'`)
    const done = millrace.events.next('job_completed')
    await millrace.work({ handlers: [implement(eager, ({ n }) => n)] })
    expect((await done).job.type).toBe('eager')
  })
})

describe('a redrive rule', () => {
  const defined = (redrive: unknown) => () => defineJob({ ...base, type: 'x', redrive: redrive as RedrivePolicy })

  test('is for exhausted letters unless it says otherwise', () => {
    expect(patient.redrive).toEqual({ afterMs: 600_000, atMost: 3, reasons: ['exhausted'] })
    expect(plain.redrive).toBeUndefined()
  })

  test.each([
    [{ after: 'soon', atMost: 1 }, /redrive\.after is "soon"/],
    [{ after: 0, atMost: 1 }, /redriven after 0 ms: one second is the least/],
    [{ after: '1m', atMost: 0 }, /redrive\.atMost 0: expected an integer from 1 to 100/],
    [{ after: '1m', atMost: 101 }, /redrive\.atMost 101/],
    [{ after: '1m' }, /redrive\.atMost undefined/],
    [{ after: '1m', atMost: 1, reasons: ['tired'] }, /redrive\.reasons \["tired"\]: expected one or more of exhausted/],
    [{ after: '1m', atMost: 1, reasons: [] }, /redrive\.reasons \[\]/],
  ])('is refused when it says %o', (redrive, message) => {
    expect(defined(redrive)).toThrow(message)
  })
})
