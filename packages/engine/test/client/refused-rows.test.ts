// A row of a batch that Postgres refuses although it passed every check of ours: alone it fails its own caller, in a list
// it fails the list.
import { defineJob, defineQueues, InvalidPayload } from 'millrace'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { latinDatabases } from '../support/database.ts'
import { setup } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const note = defineJob({ type: 'note', queue: queues.default, payload: z.object({ text: z.string() }) })
const letter = defineJob({ type: 'letter', queue: queues.default, payload: z.object({ text: z.string() }) })
const keyed = defineJob({
  type: 'keyed',
  queue: queues.default,
  payload: z.object({ text: z.string(), key: z.string().optional() }),
  dedupe: { key: ({ key }) => key },
})
const jobs = [note, letter, keyed]
/** Latin 1 has neither. */
const FOREIGN = 'snow ☃ 日本'
const EURO = '€'
/** More than a list of one statement. */
const LONG = 2_500

let latin: Awaited<ReturnType<typeof latinDatabases>>
beforeAll(async () => {
  latin = await latinDatabases()
})
afterAll(() => latin.close())

const texts = (rows: readonly { text: string }[]): string[] => rows.map(({ text }) => text).sort()
const stored = `select payload->>'text' as text from millrace.job`

describe('single enqueues that share a statement', () => {
  test('with a character that the server lacks fail alone, wherever it stands', async () => {
    await using t = await setup(latin.fresh())
    const millrace = t.client(jobs)
    const wishes = Array.from({ length: 60 }, (_, i) => {
      const contract = i % 3 === 0 ? letter : note
      if (i === 7 || i === 8) return millrace.enqueue(contract, { text: FOREIGN })
      if (i === 30) return millrace.enqueue(contract, { text: 'bad label' }, { createdBy: EURO })
      if (i === 59) return millrace.enqueue(contract, { text: 'bad tenant' }, { tenant: EURO })
      return millrace.enqueue(contract, { text: `é ${i}` }, i % 2 === 0 ? { tenant: `ü${i}` } : {})
    })
    const results = await Promise.allSettled(wishes)
    const refused = results.flatMap((result, i) => (result.status === 'rejected' ? [{ i, error: result.reason }] : []))
    expect(refused.map(({ i }) => i)).toEqual([7, 8, 30, 59])
    for (const { i, error } of refused) {
      expect(error).toBeInstanceOf(InvalidPayload)
      expect(error).toMatchObject({ type: i % 3 === 0 ? 'letter' : 'note', cause: { code: '22P05' } })
      expect(error.message).not.toContain(FOREIGN)
    }
    const rows = await t.sql<{ id: string; text: string; tenant: string | null }>(
      `select id, payload->>'text' as text, tenant from millrace.job`,
    )
    expect(rows).toHaveLength(56)
    results.forEach((result, i) => {
      if (result.status === 'rejected') return
      const row = rows.find(({ id }) => id === result.value.id)
      expect(row).toMatchObject({ text: `é ${i}`, tenant: i % 2 === 0 ? `ü${i}` : null })
    })
  })

  test('with a time that the server cannot read fail alone', async () => {
    await using t = await setup()
    const millrace = t.client(jobs)
    const times = [undefined, new Date('2031-01-01'), new Date(-1e14), undefined, new Date('1999-01-01')]
    const results = await Promise.allSettled(
      times.map((runAt, i) => millrace.enqueue(note, { text: `${i}` }, runAt === undefined ? {} : { runAt })),
    )
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(texts(await t.sql(stored))).toEqual(['0', '1', '3', '4'])
  })

  test('all of them refused, each caller is told, and the next ones are written', async () => {
    await using t = await setup(latin.fresh())
    const millrace = t.client(jobs)
    const bad = await Promise.allSettled(Array.from({ length: 20 }, () => millrace.enqueue(note, { text: FOREIGN })))
    expect(bad.filter(({ status }) => status === 'rejected')).toHaveLength(20)
    await millrace.enqueue(note, { text: 'fine' })
    expect(texts(await t.sql(stored))).toEqual(['fine'])
  })
})

describe('a list', () => {
  const list = (size: number, bad: number) =>
    Array.from({ length: size }, (_, i) => ({ text: i === bad ? FOREIGN : `${i}` }))

  test.each([
    { what: 'short', size: 50, bad: 20 },
    { what: 'long, refused in its first statement', size: LONG, bad: 3 },
    { what: 'long, refused in its last statement', size: LONG, bad: LONG - 1 },
  ])('$what, is written as a whole or not at all', async ({ size, bad }) => {
    await using t = await setup(latin.fresh())
    const millrace = t.client(jobs)
    await expect(millrace.enqueueMany(note, list(size, bad))).rejects.toBeInstanceOf(InvalidPayload)
    expect(await t.sql(stored)).toEqual([])
    const results = await millrace.enqueueMany(note, list(size, -1))
    const rows = await t.sql<{ id: string; text: string }>(`select id, payload->>'text' as text from millrace.job`)
    const written = new Map(rows.map((row) => [row.id, row.text]))
    expect(results.map(({ id }) => written.get(id))).toEqual(list(size, -1).map(({ text }) => text))
  })

  test.each([{ size: 60 }, { size: LONG }])(
    'of $size, of which every third has a key, is written as a whole or not at all',
    async ({ size }) => {
      await using t = await setup(latin.fresh())
      const millrace = t.client(jobs)
      const held = await millrace.enqueue(keyed, { text: 'held', key: 'k3' })
      const mixed = (bad: number) =>
        list(size, bad).map((payload, i) => (i % 3 === 0 ? { ...payload, key: `k${i}` } : payload))
      await expect(millrace.enqueueMany(keyed, mixed(size - 2))).rejects.toBeInstanceOf(InvalidPayload)
      await expect(millrace.enqueueMany(keyed, mixed(6))).rejects.toBeInstanceOf(InvalidPayload)
      expect(texts(await t.sql(stored))).toEqual(['held'])
      const results = await millrace.enqueueMany(keyed, mixed(-1))
      expect(results.filter(({ status }) => status === 'duplicate')).toEqual([{ status: 'duplicate', id: held.id }])
      expect(results[3]).toEqual({ status: 'duplicate', id: held.id })
      expect(await t.sql('select count(*)::int, count(dedup_key)::int as keys from millrace.job')).toEqual([
        { count: size, keys: Math.ceil(size / 3) },
      ])
    },
  )

  test('refused does not harm single enqueues under way', async () => {
    await using t = await setup(latin.fresh())
    const millrace = t.client(jobs)
    const [refused, ...written] = await Promise.allSettled([
      millrace.enqueueMany(note, list(LONG, LONG - 1)),
      ...Array.from({ length: 30 }, (_, i) => millrace.enqueue(letter, { text: `single ${i}` })),
    ])
    expect(refused?.status).toBe('rejected')
    expect(written.every(({ status }) => status === 'fulfilled')).toBe(true)
    expect(await t.sql('select type, count(*)::int from millrace.job group by 1')).toEqual([
      { type: 'letter', count: 30 },
    ])
  })
})
