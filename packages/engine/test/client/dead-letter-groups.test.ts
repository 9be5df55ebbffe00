// Facts about kinds of failure: who is hit, what was decided, how many died when, and in which version.
import { defineJob, defineQueues } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { graveyard } from '../support/dead-letters.ts'

const queues = defineQueues({ mail: {} })
const task = defineJob({ type: 'task', queue: queues.mail, payload: z.object({ n: z.number() }) })
const HOUR_MS = 3_600_000
const ann = { by: 'ann' }

/** Letters of the same failure: three of acme an hour and a half ago, one of blue now, one without a tenant that is resolved. */
async function failures() {
  const t = await graveyard()
  const millrace = t.client([task])
  const error = new TypeError('order 1 is unknown')
  const die = async (tenant: string | undefined, ago: number) => {
    const { id } = await millrace.enqueue(task, { n: 1 }, tenant === undefined ? {} : { tenant })
    return (await t.kill([id], { error, at: new Date(Date.now() - ago) }))[0] as string
  }
  const acme = [await die('acme', 1.5 * HOUR_MS), await die('acme', 1.5 * HOUR_MS), await die('acme', 1.5 * HOUR_MS)]
  const settled = await die(undefined, 60_000)
  const blue = await die('blue', 60_000)
  await millrace.deadLetters.resolve(settled, ann)
  await millrace.deadLetters.acknowledge(acme, ann)
  await millrace.deadLetters.note(blue, 'the partner knows', ann)
  const fingerprint = (await millrace.deadLetters.get(blue))?.fingerprint as string
  return Object.assign(t, { millrace, fingerprint, blue })
}

test('the facts of a group count deaths by the hour, tenants and decisions', async () => {
  await using t = await failures()
  const [group, ...others] = await t.millrace.deadLetters.groupFacts([t.fingerprint, 'ffffffffffff'], { hours: 3 })
  expect(others).toEqual([])
  expect(group).toMatchObject({
    ...{ fingerprint: t.fingerprint, type: 'task', queue: 'mail', reason: 'exhausted', errorClass: 'TypeError' },
    ...{ letters: 5, isCapped: false, acknowledged: 3, acknowledgedBy: 'ann', retried: 0, resolved: 1, ignored: 0 },
    ...{ byHour: [0, 3, 2], tenants: 2 },
    byTenant: [
      { tenant: 'acme', letters: 3 },
      { tenant: 'blue', letters: 1 },
    ],
    lastNotes: expect.stringContaining('the partner knows'),
  })
})

test('the facts of some tenants are about their letters alone', async () => {
  await using t = await failures()
  const [group] = await t.millrace.deadLetters.groupFacts([t.fingerprint], { tenants: ['blue'] })
  expect(group).toMatchObject({ letters: 1, acknowledged: 0, byTenant: [{ tenant: 'blue', letters: 1 }] })
  expect(group?.byHour.reduce((sum, count) => sum + count, 0)).toBe(1)
})

test('hours beyond a week and too many fingerprints are refused', async () => {
  await using t = await graveyard()
  const { deadLetters } = t.client([task])
  await expect(deadLetters.groupFacts(['a'], { hours: 169 })).rejects.toThrow('at most 168')
  await expect(deadLetters.groupFacts(Array.from({ length: 201 }, String))).rejects.toThrow('at most 200')
})

test('versions say in which program the letters failed, and since when it runs', async () => {
  await using t = await failures()
  const group = { fingerprint: t.fingerprint, type: 'task' }
  expect(await t.millrace.deadLetters.groupVersions(group)).toEqual([])
  const startedAt = new Date('2026-05-01T00:00:00Z')
  const [worker] = await t.sql<{ id: string }>(
    `insert into millrace.worker (id, host, pid, version, lanes, started_at, heartbeat_at, expires_at)
     values (gen_random_uuid(), 'h', 1, 'v7', '{}', $1, now(), now()) returning id`,
    [startedAt],
  )
  await t.sql('update millrace.job_attempt set worker_id = $1 where fingerprint = $2', [worker?.id, t.fingerprint])
  const versions = await t.millrace.deadLetters.groupVersions(group)
  expect(versions).toMatchObject([{ version: 'v7', letters: 5, startedAt }])
  expect(await t.millrace.deadLetters.groupVersions(group, { tenants: ['blue'] })).toMatchObject([{ letters: 1 }])
})
