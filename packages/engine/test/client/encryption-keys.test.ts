// Which keys are needed, and rotating to the first one.
import { defineJob, defineQueues, implement } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'
import { ringOf } from '../support/keys.ts'
import { jobEvent } from '../support/setup.ts'

const queues = defineQueues({ default: {} })
const job = defineJob({
  type: 'care',
  queue: queues.default,
  payload: z.object({ name: z.string(), notes: z.array(z.string()) }),
  sensitive: ['name', 'notes.*'],
})
const payload = { name: 'Ann', notes: ['a', 'b'] }

/** A live job, a dead letter and a completed job under key a. */
async function ward() {
  const t = await graveyard()
  const old = t.client([job], { encryption: ringOf('a') })
  await t.letter(old, job, payload)
  const worker = await old.work({ handlers: [implement(job, () => {})] })
  const { id: done } = await old.enqueue(job, payload)
  await jobEvent(old, 'job_completed', done)
  await worker.stop()
  const live = await old.enqueueMany(job, [payload, payload])
  return { ...t, old, live: live.map(({ id }) => id) }
}

test('a rotation brings live jobs and dead letters under the first key, and the status says what still needs the old one', async () => {
  await using t = await ward()
  const millrace = t.client([job], { encryption: ringOf('b', 'a') })
  const before = {
    id: 'a',
    isFirst: false,
    isKnown: true,
    live: 2,
    deadLetters: 1,
    workflows: 0,
    archive: 2,
    records: 0,
    isNeeded: true,
  }
  expect(await millrace.encryptionKeys.status()).toEqual([
    {
      id: 'b',
      isFirst: true,
      isKnown: true,
      live: 0,
      deadLetters: 0,
      workflows: 0,
      archive: 0,
      records: 0,
      isNeeded: true,
    },
    before,
  ])
  const progress: unknown[] = []
  expect(await millrace.encryptionKeys.rotate({ by: 'ann', onProgress: (step) => progress.push(step) })).toEqual({
    first: 'b',
    rotated: { live: 2, deadLetters: 1, workflows: 0 },
    unreadable: [],
  })
  expect(progress).toEqual([
    { place: 'live', scanned: 2, rotated: 2 },
    { place: 'deadLetters', scanned: 1, rotated: 1 },
    { place: 'workflows', scanned: 0, rotated: 0 },
  ])
  const after = { ...before, live: 0, deadLetters: 0 }
  expect(await millrace.encryptionKeys.status()).toMatchObject([{ id: 'b', live: 2, deadLetters: 1 }, after])
  await t.sql('delete from millrace.job_archive')
  expect(await millrace.encryptionKeys.status()).toMatchObject([{ id: 'b' }, { id: 'a', isNeeded: false }])
  expect(await millrace.encryptionKeys.rotate({ by: 'ann' })).toMatchObject({ rotated: { live: 0, deadLetters: 0 } })
  expect(await t.sql('select actor as by, action, details from millrace.audit_log order by id')).toEqual([
    { by: 'ann', action: 'keys.rotate', details: { place: 'live', rows: 2, key: 'b' } },
    { by: 'ann', action: 'keys.rotate', details: { place: 'deadLetters', rows: 1, key: 'b' } },
  ])

  const alone = t.client([job], { encryption: ringOf('b') })
  const seen: unknown[] = []
  const completed = Promise.all(t.live.map((id) => jobEvent(alone, 'job_completed', id)))
  await alone.work({ handlers: [implement(job, (given) => void seen.push(given))] })
  await completed
  expect(seen).toEqual([payload, payload])
})

test('what cannot be decrypted is named and left as it was, and the others are rotated', async () => {
  await using t = await ward()
  const stored = await t.sql('select payload from millrace.job order by id')
  const millrace = t.client([job], { encryption: ringOf('c') })
  const { id } = await millrace.enqueue(job, payload)
  const next = t.client([job], { encryption: ringOf('d', 'c') })
  const result = await next.encryptionKeys.rotate({ by: 'ann' })
  expect(result.rotated).toEqual({ live: 1, deadLetters: 0, workflows: 0 })
  expect(result.unreadable).toHaveLength(3)
  expect(result.unreadable[0]).toEqual({ place: 'live', id: t.live[0], keyId: 'a' })
  expect(await t.sql('select payload from millrace.job where id <> $1 order by id', [id])).toEqual(stored)
  expect(await next.encryptionKeys.status()).toContainEqual(
    expect.objectContaining({ id: 'a', isKnown: false, isNeeded: true }),
  )
})

test('without keys there is nothing to rotate to', async () => {
  await using t = await ward()
  const millrace = t.client([job])
  await expect(millrace.encryptionKeys.rotate({ by: 'ann' })).rejects.toThrow(
    /no encryption keys.*MILLRACE_ENCRYPTION_KEYS/,
  )
  await expect(t.old.encryptionKeys.rotate({ by: '' })).rejects.toThrow(/`by` is missing/)
})
