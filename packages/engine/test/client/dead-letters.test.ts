import { defineJob, defineQueues, type Millrace, type RedriveResult } from 'millrace'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'

const queues = defineQueues({ default: {}, mail: { priority: 3 } })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({ n: z.number() }) })
const keyed = defineJob({
  type: 'keyed',
  queue: queues.mail,
  payload: z.object({ key: z.string() }),
  dedupe: { key: ({ key }) => key },
})
const jobs = [task, keyed]
const ann = { by: 'ann' }
const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))

describe('list', () => {
  test('pages from the newest to the oldest and misses none', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const ids = await t.letters(millrace, task, numbers(25))
    const newestFirst = [...ids].sort((a, b) => Number(b) - Number(a))
    const seen: string[] = []
    for (let before: string | undefined; ; before = seen.at(-1)) {
      const page = await millrace.deadLetters.list({ limit: 10, ...(before === undefined ? {} : { before }) })
      seen.push(...page.map(({ id }) => id))
      if (page.length < 10) break
    }
    expect(seen).toEqual(newestFirst)
  })

  test('shows what a person needs to decide, without the payload', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const diedAt = new Date('2026-05-01T10:00:00Z')
    const { id: jobId } = await millrace.enqueue(
      task,
      { n: 1 },
      { tenant: 'acme', correlationId: 'c-1', maxAttempts: 4 },
    )
    const [id] = await t.kill([jobId], { error: new TypeError('no route'), at: diedAt })
    expect(await millrace.deadLetters.list()).toEqual([
      {
        id,
        jobId,
        type: 'task',
        queue: 'default',
        tenant: 'acme',
        correlationId: 'c-1',
        reason: 'exhausted',
        attempts: 4,
        errorClass: 'TypeError',
        errorMessage: 'no route',
        fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
        status: 'pending',
        acknowledged: false,
        acknowledgedBy: null,
        acknowledgedAt: null,
        notes: null,
        redrives: 0,
        redrivenJobId: null,
        workflowId: null,
        diedAt,
      },
    ])
  })

  test('is narrowed by every filter, and by several at once', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const { deadLetters } = millrace
    const [plain, stuck, seen, resolved] = await t.letters(millrace, task, numbers(4))
    await t.sql(`update millrace.dead_letter_jobs set reason = 'stuck', fingerprint = 'f2' where id = $1`, [stuck])
    const { id: tenantJob } = await millrace.enqueue(task, { n: 9 }, { tenant: 'acme' })
    const [acme] = await t.kill([tenantJob])
    const mail = await t.letter(millrace, keyed, { key: 'k' })
    await deadLetters.acknowledge(seen as string, ann)
    await deadLetters.resolve(resolved as string, ann)
    const listed = async (filter: Parameters<typeof deadLetters.list>[0]) =>
      (await deadLetters.list(filter)).map(({ id }) => id).reverse()
    expect(await listed({ status: 'resolved' })).toEqual([resolved])
    expect(await listed({ acknowledged: true })).toEqual([seen, resolved])
    expect(await listed({ acknowledged: true, status: 'pending' })).toEqual([seen])
    expect(await listed({ queue: 'mail' })).toEqual([mail])
    expect(await listed({ type: 'keyed' })).toEqual([mail])
    expect(await listed({ tenant: 'acme' })).toEqual([acme])
    expect(await listed({ reason: 'stuck' })).toEqual([stuck])
    expect(await listed({ fingerprint: 'f2' })).toEqual([stuck])
    expect(await listed({ status: 'pending', acknowledged: false, type: 'task' })).toEqual([plain, stuck, acme])
    expect(await listed({ type: 'nobody' })).toEqual([])
  })

  test.each([{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { before: 'x' }])('refuses %o', async (filter) => {
    await using t = await graveyard()
    await expect(t.client(jobs).deadLetters.list(filter)).rejects.toThrow(/expected/)
  })
})

describe('get', () => {
  test('gives the original job, the details and every failed attempt', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const { id: jobId } = await millrace.enqueue(task, { n: 7 }, { correlationId: 'c-7', createdBy: 'web' })
    await t.sql(
      `insert into millrace.job_attempt (job_id, attempt, run_id, type, queue, finished_at, error_class, error_message, fingerprint)
       values ($1, 1, gen_random_uuid(), 'task', 'default', now() - interval '1 second', 'Error', 'first try', 'f1')`,
      [jobId],
    )
    const [id] = await t.kill([jobId], { error: new TypeError('second try') })
    const letter = await millrace.deadLetters.get(id as string)
    expect(letter).toMatchObject({
      id,
      jobId,
      originalJob: { type: 'task', correlation_id: 'c-7', created_by: 'web', payload: { n: 7 }, status: 'processing' },
      errorDetails: { class: 'TypeError', stack: expect.stringContaining('second try'), logs: [{ msg: 'last words' }] },
      failedAttempts: [
        { attempt: 1, errorMessage: 'first try', fingerprint: 'f1' },
        { errorMessage: 'second try', fingerprint: letter?.fingerprint },
      ],
    })
  })

  test('finds nothing under an id that is none', async () => {
    await using t = await graveyard()
    const { deadLetters } = t.client(jobs)
    expect([await deadLetters.get('12'), await deadLetters.get("1' or true")]).toEqual([undefined, undefined])
  })
})

describe('groups', () => {
  test('count the pending letters by failure and type, the most frequent first', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const [early, late] = [new Date('2026-05-01T00:00:00Z'), new Date('2026-05-02T00:00:00Z')]
    const fail = (message: string) => new Error(message)
    await t.letters(millrace, task, numbers(2), { error: fail('order 1 is unknown'), at: early })
    const newestId = await t.letter(millrace, task, { n: 2 }, { error: fail('order 2 is unknown'), at: late })
    await t.letter(millrace, keyed, { key: 'a' }, { error: fail('order 3 is unknown'), at: early })
    await t.letter(millrace, task, { n: 3 }, { error: fail('the disk is full'), at: early })
    const settled = await t.letters(millrace, task, numbers(3), { error: fail('the disk is full') })
    await millrace.deadLetters.resolve(settled, ann)
    const groups = await millrace.deadLetters.groups()
    expect(groups.map(({ type, pending, sampleMessage }) => [type, pending, sampleMessage])).toEqual([
      ['task', 3, 'order 2 is unknown'],
      ['task', 1, 'the disk is full'],
      ['keyed', 1, 'order 3 is unknown'],
    ])
    expect(groups[0]).toMatchObject({ firstDiedAt: early, lastDiedAt: late, newestId })
    expect(groups[0]?.fingerprint).toBe(groups[2]?.fingerprint)
    expect(await millrace.deadLetters.groups({ limit: 1 })).toEqual(groups.slice(0, 1))
    const page = await millrace.deadLetters.list({ fingerprint: groups[1]?.fingerprint as string, status: 'pending' })
    expect(page).toHaveLength(1)
  })
})

describe('a decision', () => {
  const states = ['pending', 'acknowledged', 'retried', 'resolved', 'ignored'] as const
  type State = (typeof states)[number]
  type Verb = 'acknowledge' | 'redrive' | 'resolve' | 'ignore'

  const reach: Record<State, (millrace: Millrace, id: string) => Promise<unknown>> = {
    pending: async () => {},
    acknowledged: (millrace, id) => millrace.deadLetters.acknowledge(id, { by: 'before' }),
    retried: (millrace, id) => millrace.deadLetters.redrive(id, { by: 'before' }),
    resolved: (millrace, id) => millrace.deadLetters.resolve(id, { by: 'before' }),
    ignored: (millrace, id) => millrace.deadLetters.ignore(id, { by: 'before' }),
  }

  /** What each verb says and makes of a letter in each state. */
  const expected: Record<State, Record<Verb, [says: string, becomes: State]>> = {
    pending: {
      acknowledge: ['acknowledged', 'acknowledged'],
      redrive: ['redriven', 'retried'],
      resolve: ['resolved', 'resolved'],
      ignore: ['ignored', 'ignored'],
    },
    acknowledged: {
      acknowledge: ['already_acknowledged', 'acknowledged'],
      redrive: ['redriven', 'retried'],
      resolve: ['resolved', 'resolved'],
      ignore: ['ignored', 'ignored'],
    },
    retried: {
      acknowledge: ['already_acknowledged', 'retried'],
      redrive: ['already_redriven', 'retried'],
      resolve: ['resolved', 'resolved'],
      ignore: ['ignored', 'ignored'],
    },
    resolved: {
      acknowledge: ['already_acknowledged', 'resolved'],
      redrive: ['refused', 'resolved'],
      resolve: ['already_resolved', 'resolved'],
      ignore: ['ignored', 'ignored'],
    },
    ignored: {
      acknowledge: ['already_acknowledged', 'ignored'],
      redrive: ['refused', 'ignored'],
      resolve: ['resolved', 'resolved'],
      ignore: ['already_ignored', 'ignored'],
    },
  }
  const pairs = states.flatMap((state) =>
    (['acknowledge', 'redrive', 'resolve', 'ignore'] as const).map((verb) => ({ state, verb })),
  )

  test.each(pairs)('$verb on a letter that is $state', async ({ state, verb }) => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const [id, neighbour] = (await t.letters(millrace, task, numbers(2))) as [string, string]
    await reach[state](millrace, id)
    const [result] = await millrace.deadLetters[verb](id, ann)
    const [says, becomes] = expected[state][verb]
    expect(result).toMatchObject({ status: says, id })
    const isChange = !/^already|^refused/.test(says)
    expect(await millrace.deadLetters.get(id)).toMatchObject({
      status: becomes === 'acknowledged' ? 'pending' : becomes,
      acknowledged: true,
      acknowledgedBy: isChange ? 'ann' : 'before',
      acknowledgedAt: expect.any(Date),
    })
    if (says.startsWith('already') && says !== 'already_redriven')
      expect(result).toMatchObject({ by: 'before', at: expect.any(Date) })
    expect(await millrace.deadLetters.get(neighbour)).toMatchObject({ status: 'pending', acknowledged: false })
    expect(await t.liveJobs()).toHaveLength(state === 'retried' || says === 'redriven' ? 1 : 0)
  })

  test.each(['acknowledge', 'redrive', 'resolve', 'ignore'] as const)(
    '%s answers by position, also for what is not there and what is named twice',
    async (verb) => {
      await using t = await graveyard()
      const millrace = t.client(jobs)
      const [a, b] = (await t.letters(millrace, task, numbers(2))) as [string, string]
      const results = await millrace.deadLetters[verb]([b, '999999', a, 'no id', b], ann)
      const [done, twice] = {
        acknowledge: ['acknowledged', 'already_acknowledged'],
        redrive: ['redriven', 'already_redriven'],
        resolve: ['resolved', 'already_resolved'],
        ignore: ['ignored', 'already_ignored'],
      }[verb]
      expect(results.map(({ id, status }) => [id, status])).toEqual([
        [b, done],
        ['999999', 'not_found'],
        [a, done],
        ['no id', 'not_found'],
        [b, twice],
      ])
      expect(await millrace.deadLetters[verb]([], ann)).toEqual([])
    },
  )

  test('needs to know who decides', async () => {
    await using t = await graveyard()
    const { deadLetters } = t.client(jobs)
    for (const verb of ['acknowledge', 'redrive', 'resolve', 'ignore'] as const) {
      await expect(deadLetters[verb]('1', { by: '' })).rejects.toThrow(/`by` is missing/)
      await expect(deadLetters[verb]('1', {} as never)).rejects.toThrow(/`by` is missing/)
      await expect(deadLetters[verb]('1', { by: 'x'.repeat(501) })).rejects.toThrow(/by is not usable/)
    }
  })
})

describe('notes', () => {
  test('are lines with time and author, appended to what is there', async () => {
    const clock = { databaseNow: () => new Date('2026-05-01T10:00:00Z') }
    await using t = await graveyard()
    const millrace = t.client(jobs, { clock })
    const [a, b] = (await t.letters(millrace, task, numbers(2))) as [string, string]
    expect(await millrace.deadLetters.note(a, 'asked the bank', ann)).toEqual([{ status: 'noted', id: a }])
    expect(await millrace.deadLetters.note([a, b, '404'], 'bank is down', { by: 'bob' })).toEqual([
      { status: 'noted', id: a },
      { status: 'noted', id: b },
      { status: 'not_found', id: '404' },
    ])
    await millrace.deadLetters.resolve(a, { ...ann, note: 'paid by hand' })
    await millrace.deadLetters.ignore(b, { ...ann, note: 'a test order' })
    const notes = async (id: string) => (await millrace.deadLetters.get(id))?.notes?.split('\n')
    expect(await notes(a)).toEqual([
      '2026-05-01T10:00:00Z ann: asked the bank',
      '2026-05-01T10:00:00Z bob: bank is down',
      '2026-05-01T10:00:00Z ann: paid by hand',
    ])
    expect(await notes(b)).toEqual(['2026-05-01T10:00:00Z bob: bank is down', '2026-05-01T10:00:00Z ann: a test order'])
    expect(await millrace.deadLetters.get(a)).toMatchObject({ status: 'resolved' })
  })

  test.each(['', 'x'.repeat(4_001), 'a\u0000b'])('refuse a text like %j', async (text) => {
    await using t = await graveyard()
    await expect(t.client(jobs).deadLetters.note('1', text, ann)).rejects.toThrow(/A note must be text/)
    await expect(t.client(jobs).deadLetters.resolve('1', { ...ann, note: text })).rejects.toThrow(/A note must be text/)
  })

  test('written at the same time are all kept', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    await Promise.all(numbers(10).map(({ n }) => millrace.deadLetters.note(id, `note ${n}`, ann)))
    expect((await millrace.deadLetters.get(id))?.notes?.split('\n')).toHaveLength(10)
  })
})

describe('two who decide at the same time', () => {
  test('resolve a letter once: the second one learns who was faster', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const ids = await t.letters(millrace, task, numbers(50))
    const [ours, theirs] = await Promise.all([
      t.client(jobs).deadLetters.resolve(ids, { by: 'us' }),
      t.client(jobs).deadLetters.resolve([...ids].reverse(), { by: 'them' }),
    ])
    theirs.reverse()
    ids.forEach((_, i) => {
      const said = [ours[i]?.status, theirs[i]?.status].sort()
      expect(said).toEqual(['already_resolved', 'resolved'])
    })
  })

  test('see each other: resolving waits for a redrive under way and then stands', async () => {
    await using t = await graveyard()
    const millrace = t.client(jobs)
    const id = await t.letter(millrace, task, { n: 1 })
    const client = await t.pool.connect()
    await client.query('begin')
    await client.query('select from millrace.dead_letter_jobs where id = $1 for update', [id])
    const both = Promise.all([millrace.deadLetters.redrive(id, ann), millrace.deadLetters.resolve(id, ann)])
    await client.query('commit')
    client.release()
    const [[redriven], [resolved]] = (await both) as [RedriveResult[], { status: string }[]]
    expect(resolved?.status).toBe('resolved')
    expect(await t.liveJobs()).toHaveLength(redriven?.status === 'redriven' ? 1 : 0)
  })
})
