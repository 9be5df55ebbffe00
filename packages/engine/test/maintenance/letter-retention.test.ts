import { defineJob, defineQueues, InvalidDefinition, type LetterRetentionOptions } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { letterRetention } from '#src/contract/letter-retention'
import { Registry } from '#src/contract/registry'
import { Housekeeper } from '#src/maintenance/housekeeper'
import { graveyard } from '../support/dead-letters.ts'

const queues = defineQueues({ default: {} })
const task = defineJob({ type: 'task', queue: queues.default, payload: z.object({}) })
const times = (count: number) => Array.from({ length: count }, () => ({}))
const ann = { by: 'ann' }
const DAY = 86_400_000

async function setup(deadLetters?: LetterRetentionOptions) {
  const t = await graveyard()
  let nowMs = Date.now()
  const clock = { databaseNow: () => new Date(nowMs) }
  return {
    ...t,
    millrace: t.client([task], { clock }),
    housekeeper: new Housekeeper({
      db: t.db,
      clock,
      registry: new Registry([]),
      letterRetention: letterRetention(deadLetters),
    }),
    pass: (days: number) => {
      nowMs += days * DAY
    },
  }
}

test('resolved and ignored letters are forgotten after seven days, pending and retried ones never', async () => {
  await using t = await setup()
  const ids = await t.letters(t.millrace, task, times(5))
  const [resolved, ignored, retried, seen, untouched] = ids as [string, string, string, string, string]
  await t.millrace.deadLetters.resolve(resolved, ann)
  await t.millrace.deadLetters.ignore(ignored, ann)
  await t.millrace.deadLetters.redrive(retried, ann)
  await t.millrace.deadLetters.acknowledge(seen, ann)
  t.pass(6.99)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 0 })
  t.pass(0.02)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 2 })
  t.pass(3_650)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 0 })
  const left = (await t.millrace.deadLetters.list()).map(({ id }) => id)
  expect(left.sort()).toEqual([retried, seen, untouched].sort())
})

test('the seven days begin with the last decision, not with the first', async () => {
  await using t = await setup()
  const id = await t.letter(t.millrace, task, {})
  await t.millrace.deadLetters.redrive(id, ann)
  t.pass(30)
  await t.millrace.deadLetters.resolve(id, ann)
  t.pass(6)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 0 })
  t.pass(2)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 1 })
})

test('many letters are forgotten in batches, one right after the other', async () => {
  await using t = await setup()
  await t.sql(
    `insert into millrace.dead_letter_jobs
       (job_id, type, queue, correlation_id, reason, attempts, original_job, error_message, died_at, status, acknowledged, acknowledged_at)
     select g, 'task', 'default', 'c', 'exhausted', 1, '{}', 'm', now(), 'resolved', true, now() - interval '8 days'
     from generate_series(1, 1500) as g`,
  )
  const first = await t.housekeeper.tick()
  expect([first.lettersForgotten, t.housekeeper.delayAfter(first)]).toEqual([1_000, 0])
  const second = await t.housekeeper.tick()
  expect([second.lettersForgotten, t.housekeeper.delayAfter(second)]).toEqual([500, 3_600_000])
})

test('a letter that somebody is just changing is left for the next time', async () => {
  await using t = await setup()
  const id = await t.letter(t.millrace, task, {})
  await t.millrace.deadLetters.resolve(id, ann)
  t.pass(8)
  const client = await t.pool.connect()
  await client.query('begin')
  await client.query('select from millrace.dead_letter_jobs where id = $1 for update', [id])
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 0 })
  await client.query('commit')
  client.release()
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 1 })
})

test('a program may count from the death of the job, keep letters longer, or forever', async () => {
  await using t = await setup({ keep: '30d', since: 'death' })
  const id = await t.letter(t.millrace, task, {})
  t.pass(29)
  await t.millrace.deadLetters.resolve(id, ann)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 0 })
  t.pass(2)
  expect(await t.housekeeper.tick()).toMatchObject({ lettersForgotten: 1 })

  await using kept = await setup({ keep: false })
  await kept.millrace.deadLetters.resolve(await kept.letter(kept.millrace, task, {}), ann)
  kept.pass(3_650)
  expect(await kept.housekeeper.tick()).toMatchObject({ lettersForgotten: 0 })
  const wrong = { since: 'birth' } as unknown as LetterRetentionOptions
  expect(() => kept.client([task], { deadLetters: wrong })).toThrow(InvalidDefinition)
})
