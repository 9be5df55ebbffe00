import { defineJob, defineQueues, implement } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'
import { jobEvent, shortLease } from '../support/setup.ts'

const queues = defineQueues({ old: {}, default: {}, owned: { tenant: 'required' } })
const base = { type: 'task', queue: queues.default, payload: z.object({ n: z.number() }) } as const
const task = defineJob(base)
const keyed = defineJob({
  type: 'keyed',
  queue: queues.default,
  payload: z.object({ key: z.string(), size: z.number().default(1) }),
  dedupe: { key: ({ key }) => key },
})
const jobs = [task, keyed]
const ann = { by: 'ann' }
const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
const sql = {
  lockLetter: 'select from millrace.dead_letter_jobs where id = $1 for update',
  key: `insert into millrace.job (type, queue, priority, max_attempts, correlation_id, payload, run_at, created_at, updated_at, dedup_key)
        values ('keyed', 'default', 5, 5, 'c', '{}', now(), now(), now(), $1)`,
}

describe('a redriven letter', () => {
  test('has a new job of the same work, linked with the dead one', async () => {
    await using t = await graveyard()
    const before = defineJob({ ...base, queue: queues.old })
    const options = { tenant: 'acme', priority: 2, correlationId: 'c-1', createdBy: 'web', maxAttempts: 7 }
    const { id: jobId } = await t.client([before]).enqueue(before, { n: 1 }, options)
    const [id] = (await t.kill([jobId])) as [string]
    const millrace = t.client(jobs)
    const [result] = await millrace.deadLetters.redrive(id, ann)
    expect(result).toEqual({ status: 'redriven', id, jobId: expect.any(String) })
    const newId = (result as { jobId: string }).jobId
    expect(newId).not.toBe(jobId)
    expect(await millrace.job(newId)).toMatchObject({
      status: 'pending',
      type: 'task',
      queue: 'default',
      payload: { n: 1 },
      tenant: 'acme',
      priority: 2,
      correlationId: 'c-1',
      parentJobId: jobId,
      createdBy: 'ann',
      attempt: 0,
      maxAttempts: 7,
    })
    expect(await millrace.job(jobId)).toMatchObject({ status: 'dead' })
    expect(await millrace.deadLetters.get(id)).toMatchObject({
      status: 'retried',
      acknowledged: true,
      acknowledgedBy: 'ann',
      redrivenJobId: newId,
    })
    expect(await millrace.deadLetters.redrive(id, ann)).toEqual([{ status: 'already_redriven', id, jobId: newId }])
  })

  test('is run by workers elsewhere, which are woken', async () => {
    await using t = await graveyard()
    const worker = t.client(jobs)
    const trusted = worker.events.next('listen_trusted', ({ isTrusted }) => isTrusted)
    // With its usual lease: one that looks for orphans all the time would take the job that is about to die.
    await worker.work({ handlers: [implement(task, ({ n }) => n)] })
    await trusted
    const operator = t.client(jobs)
    // Dead before any worker could run it.
    const { id: jobId } = await operator.enqueue(task, { n: 4 }, { delay: '1h' })
    const [id] = (await t.kill([jobId])) as [string]
    const done = worker.events.next('job_completed')
    const [result] = await operator.deadLetters.redrive(id, ann)
    expect((await done).job.id).toBe((result as { jobId: string }).jobId)
  })

  test('may have an edited payload and another number of attempts', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    await millrace.deadLetters.redrive(id, { ...ann, payload: { n: 2 }, maxAttempts: 1 })
    expect(await t.liveJobs()).toMatchObject([{ payload: { n: 2 }, max_attempts: 1 }])
    expect((await millrace.deadLetters.get(id))?.originalJob.payload).toEqual({ n: 1 })
  })

  test('that dies again is a new letter, which counts on', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    let id = await t.letter(millrace, task, { n: 1 })
    for (const redrives of [1, 2, 3]) {
      const [result] = await millrace.deadLetters.redrive(id, ann)
      const [next] = (await t.kill([(result as { jobId: string }).jobId])) as [string]
      expect(await millrace.deadLetters.get(next)).toMatchObject({ redrives, status: 'pending', acknowledged: false })
      id = next
    }
    expect(await millrace.deadLetters.list({ status: 'retried' })).toHaveLength(3)
  })
})

describe('a redrive is refused', () => {
  const unchanged = { status: 'pending', acknowledged: false, redrivenJobId: null }

  test('when the payload does not fit the schema any more', async () => {
    await using t = await graveyard()
    const id = await t.letter(t.client(jobs), task, { n: 1 })
    const stricter = defineJob({ ...base, payload: z.object({ n: z.number(), m: z.number() }) })
    const millrace = t.client([stricter])
    expect(await millrace.deadLetters.redrive(id, ann)).toEqual([
      { status: 'refused', id, reason: 'invalid_payload', message: expect.stringMatching(/payload of job "task".*m/) },
    ])
    expect(await millrace.deadLetters.get(id)).toMatchObject(unchanged)
    expect(await millrace.deadLetters.redrive(id, { ...ann, payload: { n: 1, m: 1 } })).toMatchObject([
      { status: 'redriven' },
    ])
  })

  test('when the edited payload does not fit', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    for (const payload of [{ n: 'x' }, { n: 1n }, null, 'x'.repeat(300_000)]) {
      expect(await millrace.deadLetters.redrive(id, { ...ann, payload })).toMatchObject([
        { status: 'refused', reason: 'invalid_payload' },
      ])
    }
    expect(await millrace.deadLetters.get(id)).toMatchObject(unchanged)
    expect(await t.liveJobs()).toEqual([])
  })

  test('when nobody here knows the type', async () => {
    await using t = await graveyard()
    const id = await t.letter(t.client(jobs), task, { n: 1 })
    expect(await t.client([keyed]).deadLetters.redrive(id, ann)).toMatchObject([
      { status: 'refused', reason: 'unknown_job_type', message: expect.stringContaining('"task"') },
    ])
  })

  test('when it would change hands, or belong to nobody', async () => {
    await using t = await graveyard()
    const payload = z.object({ org: z.string() })
    const owned = defineJob({ type: 'owned', queue: queues.default, payload, tenant: ({ org }) => org })
    const demanding = defineJob({ ...base, queue: queues.owned })
    const millrace = t.client([owned, demanding])
    const [mine, nobodys] = [
      await t.letter(millrace, owned, { org: 'acme' }),
      await t.letter(t.client([task]), task, { n: 1 }),
    ]
    expect(await millrace.deadLetters.redrive(mine, { ...ann, payload: { org: 'rival' } })).toMatchObject([
      { status: 'refused', reason: 'tenant_mismatch' },
    ])
    expect(await millrace.deadLetters.redrive(nobodys, ann)).toMatchObject([
      { status: 'refused', reason: 'tenant_required' },
    ])
  })

  test('when the contract stumbles over the old payload', async () => {
    await using t = await graveyard()
    const id = await t.letter(t.client(jobs), task, { n: 1 })
    const careless = defineJob({
      ...base,
      payload: z.any(),
      dedupe: { key: (payload: { user: { id: string } }) => payload.user.id },
    })
    expect(await t.client([careless]).deadLetters.redrive(id, ann)).toMatchObject([
      { status: 'refused', reason: 'contract_failed', message: expect.stringContaining('undefined') },
    ])
  })

  test.each(['resolve', 'ignore'] as const)('when somebody chose to %s the letter', async (verb) => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    await millrace.deadLetters[verb](id, { by: 'bob' })
    expect(await millrace.deadLetters.redrive(id, ann)).toMatchObject([
      { status: 'refused', reason: `${verb}d`, message: expect.stringContaining('by bob') },
    ])
    expect(await t.liveJobs()).toEqual([])
  })

  test('as a whole when the options make no sense', async () => {
    await using t = await graveyard()
    const { deadLetters } = t.client(jobs)
    await expect(deadLetters.redrive('1', { ...ann, maxAttempts: 0 })).rejects.toThrow(/maxAttempts is 0/)
    await expect(deadLetters.redrive(['1', '2'], { ...ann, payload: {} })).rejects.toThrow(/one payload for several/)
  })
})

describe('a dedup key', () => {
  test('that a live job holds makes the redrive a duplicate', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, keyed, { key: 'k' })
    const { id: holder } = await millrace.enqueue(keyed, { key: 'k' })
    expect(await millrace.deadLetters.redrive(id, ann)).toEqual([{ status: 'duplicate', id, jobId: holder }])
    expect(await millrace.deadLetters.get(id)).toMatchObject({ status: 'pending', acknowledged: false })
    await millrace.cancel(holder, { by: 'ann' })
    expect(await millrace.deadLetters.redrive(id, ann)).toMatchObject([{ status: 'redriven' }])
  })

  test('of two letters lets one of them through', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const [a, b] = [await t.letter(millrace, keyed, { key: 'k' }), await t.letter(millrace, keyed, { key: 'k' })]
    const [first, second] = await millrace.deadLetters.redrive([a, b], ann)
    expect([first?.status, second?.status].sort()).toEqual(['duplicate', 'redriven'])
    expect((first as { jobId: string }).jobId).toBe((second as { jobId: string }).jobId)
    expect(await millrace.deadLetters.list({ status: 'pending' })).toHaveLength(1)
  })

  test('given at the enqueue is kept, and one of the contract follows an edited payload', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const { id: jobId } = await millrace.enqueue(task, { n: 1 }, { dedupKey: 'own' })
    const [own] = (await t.kill([jobId])) as [string]
    const edited = await t.letter(millrace, keyed, { key: 'old' })
    await millrace.deadLetters.redrive(own, ann)
    await millrace.deadLetters.redrive(edited, { ...ann, payload: { key: 'new' } })
    expect((await t.liveJobs()).map((job) => job.dedup_key)).toEqual(['own', 'new'])
  })

  test("that somebody's open transaction holds refuses its own letter and no other", async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const letters = await t.letters(
      millrace,
      keyed,
      ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key })),
    )
    const client = await t.pool.connect()
    await client.query('begin')
    await client.query(sql.key, ['c'])
    const results = await millrace.deadLetters.redrive(letters, ann)
    await client.query('rollback')
    client.release()
    expect(results.map(({ status }) => status)).toEqual(['redriven', 'redriven', 'refused', 'redriven', 'redriven'])
    expect(results[2]).toMatchObject({ reason: 'key_busy' })
  }, 30_000)
})

describe('many letters', () => {
  test('a thousand, some of them bad, each get their own answer in few statements', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const ids = await t.letters(millrace, task, numbers(1_000))
    const bad = new Map([
      [17, 'refused'],
      [250, 'already_redriven'],
      [999, 'refused'],
    ])
    const spoil = `update millrace.dead_letter_jobs set original_job = jsonb_set(original_job, '{payload,n}', '"x"') where id = any($1)`
    await t.sql(spoil, [[ids[17], ids[999]]])
    await millrace.deadLetters.redrive(ids[250] as string, ann)
    const transactions = async () => {
      const [row] = await t.sql<{ xact_commit: string }>(
        'select pg_stat_force_next_flush(), xact_commit from pg_stat_database where datname = current_database()',
      )
      return Number(row?.xact_commit)
    }
    const before = await transactions()
    const results = await millrace.deadLetters.redrive(ids, ann)
    expect(results.map(({ id }) => id)).toEqual(ids)
    results.forEach(({ status }, i) => {
      expect(status, `letter ${i}`).toBe(bad.get(i) ?? 'redriven')
    })
    expect(await t.liveJobs()).toHaveLength(998)
    // Two for each hundred, and what the test itself does.
    expect((await transactions()) - before).toBeLessThan(60)
  }, 30_000)

  test('commit with their jobs, or not at all', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    // A letter that cannot be marked must leave no job behind.
    await t.sql(`alter table millrace.dead_letter_jobs add constraint stuck check (status = 'pending')`)
    expect(await millrace.deadLetters.redrive(id, ann)).toMatchObject([{ status: 'refused', reason: 'not_storable' }])
    expect(await t.liveJobs()).toEqual([])
    await t.sql('alter table millrace.dead_letter_jobs drop constraint stuck')
    expect(await millrace.deadLetters.redrive(id, ann)).toMatchObject([{ status: 'redriven' }])
  })
})

describe('operators who redrive the same letters at once', () => {
  test('create one job for each', async () => {
    await using t = await graveyard()
    const ids = await t.letters(t.client(jobs), task, numbers(150))
    const operators = ['a', 'b', 'c', 'd'].map((by) => ({ by, millrace: t.client(jobs) }))
    const answers = await Promise.all(
      operators.map(({ by, millrace }, i) =>
        millrace.deadLetters
          .redrive(i % 2 ? [...ids].reverse() : ids, { by })
          .then((results) => (i % 2 ? results.reverse() : results)),
      ),
    )
    expect(await t.liveJobs()).toHaveLength(150)
    ids.forEach((id, i) => {
      const said = answers.map((results) => results[i] as { status: string; id: string; jobId: string })
      expect(said.every((result) => result.id === id)).toBe(true)
      expect(said.map(({ status }) => status).sort()).toEqual([
        'already_redriven',
        'already_redriven',
        'already_redriven',
        'redriven',
      ])
      expect(new Set(said.map(({ jobId }) => jobId)).size).toBe(1)
    })
  })

  test('wait for each other: the second one finds the job of the first', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    const client = await t.pool.connect()
    await client.query('begin')
    await client.query(sql.lockLetter, [id])
    const both = Promise.all([t.client(jobs), t.client(jobs)].map((each) => each.deadLetters.redrive(id, ann)))
    await client.query('commit')
    client.release()
    expect((await both).map(([result]) => result?.status).sort()).toEqual(['already_redriven', 'redriven'])
    expect(await t.liveJobs()).toHaveLength(1)
  })
})

test('the work of a dead letter is done in the end', async () => {
  await using t = await graveyard()
  let isBroken = true
  const once = defineJob({ ...base, retry: { attempts: 1 } })
  const millrace = t.client([once])
  const worker = implement(once, ({ n }) => {
    if (isBroken) throw new Error('broken')
    return n
  })
  await millrace.work({ handlers: [worker], lease: shortLease })
  const { id } = await millrace.enqueue(once, { n: 5 })
  await jobEvent(millrace, 'job_died', id)
  const [letter] = await millrace.deadLetters.list()
  isBroken = false
  const done = millrace.events.next('job_completed')
  await millrace.deadLetters.redrive(letter?.id as string, ann)
  const { job } = await done
  expect(await millrace.job(job.id)).toMatchObject({ status: 'completed', result: 5, parentJobId: id })
})
