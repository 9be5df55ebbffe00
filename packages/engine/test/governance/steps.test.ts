import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineJob, defineQueues, fixed, implement, type JobContext, Unrecoverable } from 'millrace'
import { drain, fakeClock, runJob } from 'millrace/testing'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { Database } from '#src/store/db'
import { jobEvent, setup, shortLease } from '../support/setup.ts'

const queue = defineQueues({ default: {} }).default
const retry = { attempts: 3, backoff: fixed('10ms') }
const payload = z.looseObject({})
const ship = defineJob({ type: 'ship', queue, payload, retry })
const encryption = { keys: [{ id: 'a', key: randomBytes(32) }] }

/** A client without a worker: jobs run when the test drains them. */
async function bench(handler: (payload: object, ctx: JobContext) => unknown, start = '2026-01-01T00:00:00Z') {
  const t = await setup()
  const clock = fakeClock(start)
  const millrace = t.client([ship], { clock })
  const drained = () => drain(millrace, [implement(ship, handler)])
  return {
    ...t,
    millrace,
    clock,
    drained,
    enqueue: async () => (await millrace.enqueue(ship, {})).id,
    records: () => t.sql('select scope, key, state, result from millrace.once_key order by job_id, claimed_at, key'),
    async kept() {
      const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 1 })
      await new Housekeeper({ db, clock, registry: new Registry([ship]) }).tick()
      await db.close()
      return (await t.sql<{ key: string }>('select key from millrace.once_key order by key')).map(({ key }) => key)
    },
  }
}

describe('ctx.step', () => {
  test('a retried handler resumes after the last finished step', async () => {
    const done: string[] = []
    await using t = await bench(async (_, ctx) => {
      const charge = await ctx.step('charge', () => done.push('charge'))
      const label = await ctx.step('label', () => {
        done.push('label')
        if (ctx.attempt === 1) throw new Error('no printer')
        return 'L-1'
      })
      return { charge, label }
    })
    const id = await t.enqueue()
    await t.drained()
    expect(await t.millrace.job(id)).toMatchObject({ status: 'failed' })
    expect(await t.millrace.steps(id)).toMatchObject([{ name: 'charge', finishedAt: expect.any(Date) }])
    t.clock.advance('1s')
    await t.drained()
    expect(done).toEqual(['charge', 'label', 'label'])
    expect(await t.millrace.job(id)).toMatchObject({ status: 'completed', result: { charge: 1, label: 'L-1' } })
    expect((await t.millrace.steps(id)).map(({ name }) => name)).toEqual(['charge', 'label'])
  })

  test('belongs to its job: another one of the type does its own', async () => {
    let calls = 0
    await using t = await bench((_, ctx) => ctx.step('charge', () => ++calls))
    await t.enqueue()
    await t.enqueue()
    expect(await t.drained()).toMatchObject([{ result: 1 }, { result: 2 }])
    expect(await t.millrace.steps('nonsense')).toEqual([])
  })

  test('a job that takes the place of a dead one goes on behind its finished steps, and so does the next', async () => {
    const done: string[] = []
    let isBroken = true
    await using t = await bench(async (_, ctx) => {
      await ctx.step('charge', () => done.push('charge'))
      if (isBroken) throw new Unrecoverable('no address')
      return ctx.step('label', () => done.push('label'))
    })
    let id = await t.enqueue()
    for (const last of [false, true]) {
      await t.drained()
      isBroken = !last
      const redriven = await t.millrace.retry(id, { by: 'ops' })
      if (redriven.status !== 'redriven') throw new Error(redriven.status)
      expect(await t.millrace.steps(redriven.jobId)).toEqual(await t.millrace.steps(id))
      id = redriven.jobId
    }
    await t.drained()
    expect(done).toEqual(['charge', 'label'])
    expect(await t.millrace.job(id)).toMatchObject({ status: 'completed' })
  })

  test('refuses a name twice in one run, but not another try of one that failed', async () => {
    let tries = 0
    await using t = await bench(async (_, ctx) => {
      const flaky = () =>
        ctx.step('flaky', () => {
          if (++tries === 1) throw new Error('once')
          return 'ok'
        })
      expect(await flaky().catch(flaky)).toBe('ok')
      return flaky()
    })
    const id = await t.enqueue()
    await t.drained()
    expect((await t.millrace.attempts(id))[0]?.errorMessage).toMatch(/"ship" has two steps "flaky".*position or id/)
  })

  test('refuses names that cannot be stored, results that are not JSON, secrets, and a key of ctx.once among its own', async () => {
    const refused = async (work: Promise<unknown>) => String(await work.catch((error: Error) => error.message))
    await using t = await bench(async (_, ctx) => [
      await refused(ctx.step('', () => 1)),
      await refused(ctx.step('x'.repeat(501), () => 1)),
      await refused(ctx.step(7 as never, () => 1)),
      await refused(ctx.step('big', () => 1n as unknown)),
      await refused(ctx.step('login', () => ({ password: 'hunter2' }))),
      await refused(ctx.once('charge', () => 1, { scope: `$step:${ctx.jobId}` })),
    ])
    const id = await t.enqueue()
    await t.drained()
    const unusable = expect.stringMatching(/The name of ctx.step is not usable/)
    expect((await t.millrace.job(id))?.result).toEqual([
      unusable,
      unusable,
      unusable,
      expect.stringMatching(/in step "big", .*bigint/),
      expect.stringMatching(/in step "login", .*password.*secret/),
      expect.stringMatching(/kept for ctx.step/),
    ])
    expect(await t.records()).toEqual([])
  })

  test('inside a transaction it commits with it', async () => {
    await using t = await bench(async (_, ctx) => {
      const tx = new pg.Client(t.url)
      await tx.connect()
      await tx.query('begin')
      await ctx.step('book', () => tx.query('insert into ledger values (1)').then(() => {}), { tx })
      await tx.query(ctx.attempt === 1 ? 'rollback' : 'commit')
      await tx.end()
      if (ctx.attempt < 3) throw new Error('again')
      return ctx.transaction(async (own) => {
        await ctx.step('pack', () => own.query('insert into ledger values (2)').then(() => {}))
      })
    })
    await t.sql('create table ledger (n int)')
    await t.enqueue()
    for (let i = 0; i < 3; i++) {
      await t.drained()
      t.clock.advance('1s')
    }
    expect(await t.sql('select n from ledger order by n')).toEqual([{ n: 1 }, { n: 2 }])
    expect(await t.records()).toMatchObject([{ key: 'book' }, { key: 'pack' }])
  })

  test('a run without a database refuses it clearly', async () => {
    await expect(
      runJob(
        implement(ship, (_, ctx) => ctx.step('a', () => 1)),
        {},
      ),
    ).rejects.toThrow(/ctx\.step/)
  })
})

describe('the record of a step', () => {
  test('counts after weeks of waiting, with housekeeping or without', async () => {
    let calls = 0
    await using t = await bench(async (_, ctx) => {
      await ctx.step('charge', () => ++calls)
      if (ctx.attempt < 3) throw new Error('again')
    })
    await t.enqueue()
    await t.drained()
    for (let attempt = 2; attempt <= 3; attempt++) {
      t.clock.advance('40d')
      if (attempt === 3) expect(await t.kept()).toEqual(['charge'])
      await t.drained()
    }
    expect(calls).toBe(1)
  })

  test('goes when the archive has forgotten the job, and not before', async () => {
    await using t = await bench((_, ctx) => ctx.step('charge', () => 1))
    await t.enqueue()
    await t.drained()
    t.clock.advance('6d')
    expect(await t.kept()).toEqual(['charge'])
    t.clock.advance('3d')
    expect(await t.kept()).toEqual([])
  })

  test('stays for a dead letter that waits, and goes when somebody has decided', async () => {
    await using t = await bench(async (_, ctx) => {
      await ctx.step('charge', () => 1)
      throw new Unrecoverable('no address')
    })
    const id = await t.enqueue()
    await t.drained()
    t.clock.advance('60d')
    expect(await t.kept()).toEqual(['charge'])
    const letter = await t.millrace.deadLetters.ofJob(id)
    await t.millrace.deadLetters.ignore([letter?.id as string], { by: 'ops' })
    t.clock.advance('2d')
    expect(await t.kept()).toEqual([])
  })

  test('is forgotten with what its job carried', async () => {
    await using t = await bench((_, ctx) => ctx.step('charge', () => 1))
    const id = await t.enqueue()
    await t.drained()
    await t.millrace.erase({ ids: [id], by: 'ops', reason: 'asked' })
    expect(await t.records()).toEqual([])
  })
})

describe('what a sensitive type records', () => {
  const secretive = defineJob({ type: 'secretive', queue, payload, retry, sensitive: ['token'] })
  const module = new URL('../worker/fixtures/deeds.js', import.meta.url)

  test('is encrypted as a whole, by ctx.step and by ctx.once, and known to whoever asks which keys are needed', async () => {
    await using t = await setup()
    const millrace = t.client([secretive], { encryption })
    const handler = implement(secretive, async (_, ctx) => {
      const step = await ctx.step('login', () => ({ iban: 'DE-1' }))
      const key = await ctx.once('k', () => ['DE-2'])
      if (ctx.attempt === 1) throw new Error('again')
      return [step.iban, ...key]
    })
    const { id } = await millrace.enqueue(secretive, { token: 't' })
    await drain(millrace, [handler])
    await millrace.runNow(id, { by: 'ann' })
    await drain(millrace, [handler])
    expect(await millrace.job(id)).toMatchObject({ status: 'completed', result: ['DE-1', 'DE-2'] })
    const stored = await t.sql<{ text: string }>('select result::text as text from millrace.once_key')
    expect(stored.map(({ text }) => /^\{"\$encrypted": /.test(text) && !text.includes('DE-'))).toEqual([true, true])
    const rotated = t.client([secretive], { encryption: { keys: [{ id: 'b', key: randomBytes(32) }] } })
    expect(await rotated.encryptionKeys.status()).toMatchObject([{}, { id: 'a', records: 1, isNeeded: true }])
  })

  test('is encrypted by the worker for an isolated handler, which resumes after its process died', async () => {
    await using t = await setup()
    const millrace = t.client([secretive], { encryption })
    const handlers = [implement(secretive, { isolation: 'process', module })]
    await millrace.work({ handlers, lease: shortLease })
    const { id } = await millrace.enqueue(secretive, { does: 'steps', token: 't-1' })
    expect(await millrace.result(id)).toMatchObject({
      status: 'completed',
      result: { first: { token: 't-1', attempt: 1 }, second: 2 },
    })
    const stored = await t.sql<{ result: object }>('select result from millrace.once_key')
    expect(stored.map(({ result }) => Object.keys(result))).toEqual([['$encrypted'], ['$encrypted']])
  })
})

test('a worker process that is killed between two steps leaves the second to whoever runs the job next', async () => {
  await using t = await setup()
  const directory = await mkdtemp(join(tmpdir(), 'steps-'))
  const file = join(directory, 'effects')
  const child = fork(fileURLToPath(new URL('../worker/fixtures/stepping-process.js', import.meta.url)), [t.url])
  try {
    const millrace = t.client([ship])
    await once(child, 'message')
    const { id } = await millrace.enqueue(ship, { file })
    await once(child, 'message')
    child.kill('SIGKILL')
    await once(child, 'exit')
    const handler = implement(ship, async (_, ctx) => {
      await ctx.step('charge', () => expect.unreachable())
      return ctx.step('label', () => 'L-1')
    })
    await millrace.work({ handlers: [handler], lease: shortLease })
    await jobEvent(millrace, 'job_completed', id)
    expect(await millrace.job(id)).toMatchObject({ result: 'L-1', crashes: 1 })
    expect(await readFile(file, 'utf8')).toBe('charged\n')
  } finally {
    child.kill('SIGKILL')
    await rm(directory, { recursive: true })
  }
})
