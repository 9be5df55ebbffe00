import { setImmediate } from 'node:timers/promises'
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { EndWatch } from '#src/client/end-watch'
import { EndedListener } from '#src/client/ended-listener'
import { Events } from '#src/events'
import { Database } from '#src/store/db'
import type { StatementName } from '#src/store/statements'
import { setup as base, eventually, signal } from '../support/setup.ts'

const job = defineJob({
  type: 'job',
  queue: defineQueues({ default: {} }).default,
  payload: z.object({ n: z.number() }),
})

/** A watch whose statements are counted. */
async function setup() {
  const t = await base()
  const db = new Database({ connection: { connectionString: t.url }, schema: 'millrace', maxConnections: 2 })
  const looks: string[] = []
  let answered = 0
  const counting = {
    schema: 'millrace',
    run: async <Row>(name: StatementName, values: readonly unknown[]): Promise<Row[]> => {
      if (name === 'jobLive') looks.push(values[0] as string)
      const rows = await db.run<Row>(name, values)
      answered++
      return rows
    },
    tuples: db.tuples.bind(db),
    write: db.write.bind(db),
  }
  const watch = new EndWatch({ db: counting, events: new Events(), listener: undefined })
  return {
    ...t,
    watch,
    looks,
    isResting: () => answered === looks.length,
    async [Symbol.asyncDispose]() {
      await watch.close()
      await db.close()
      await t[Symbol.asyncDispose]()
    },
  }
}

const patience = { type: undefined, timeoutMs: 10_000, signal: undefined }

test('one statement looks for all who came together', async () => {
  await using t = await setup()
  const queued = await t.client([job]).enqueueMany(
    job,
    Array.from({ length: 100 }, (_, n) => ({ n })),
  )
  const ids = queued.map(({ id }) => id)
  const waits = Promise.allSettled(ids.map((id) => t.watch.until(id, patience)))
  await eventually(async () => t.looks.length > 0)
  expect(t.looks[0]).toBe(`{${ids.join(',')}}`)
  await t.watch.close()
  await waits
})

test('whoever is told that a job ended looks at once, and at that job only', async () => {
  await using t = await setup()
  const [one, two] = await t.client([job]).enqueueMany(job, [{ n: 1 }, { n: 2 }])
  const waits = Promise.allSettled([t.watch.until(one?.id ?? '', patience), t.watch.until(two?.id ?? '', patience)])
  // Patient by now: the next poll is far away.
  await eventually(async () => t.looks.length >= 5 && t.isResting())
  const before = t.looks.length
  t.watch.heard([two?.id ?? '', '12345'])
  await setImmediate()
  await setImmediate()
  expect(t.looks.slice(before)).toEqual([`{${two?.id}}`])
  await t.watch.close()
  await waits
})

test('looking grows rarer', async () => {
  await using t = await setup()
  const { id } = await t.client([job]).enqueue(job, { n: 1 })
  const wait = t.watch.until(id, { ...patience, timeoutMs: 1_000 }).catch((error: Error) => error.name)
  expect(await wait).toBe('ResultTimeout')
  expect(t.looks.length).toBeGreaterThan(1)
  expect(t.looks.length).toBeLessThan(9)
})

test('the listener hears ids that another connection tells', async () => {
  await using t = await base()
  const heard = signal<readonly string[]>()
  const ready = signal()
  const listener = new EndedListener({
    connection: { connectionString: t.url },
    schema: 'millrace',
    onEnded: heard.resolve,
    onListening: ready.resolve,
  })
  listener.open()
  await ready.promise
  await t.sql(`select pg_notify('millrace_ended', '12,34')`)
  expect(await heard.promise).toEqual(['12', '34'])
  await listener.close()
})
