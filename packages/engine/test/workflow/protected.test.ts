// What workflows keep of their jobs, under which keys, and how it is erased.
import { defineJob, defineWorkflow, implement, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { ringOf } from '../support/keys.ts'
import { eventually, setup, shortLease } from '../support/setup.ts'
import { named, queues, running, undone, work } from './running.ts'

const secret = defineJob({
  type: 'secret',
  queue: queues.steps,
  payload: z.object({ token: z.string() }),
  result: z.object({ token: z.string() }),
  sensitive: ['token'],
  retention: 'none',
})

test('a rotation brings what workflows keep under the first key, and until then the status counts it', async () => {
  const flow = defineWorkflow('secrets', { onFailure: 'stop' })
    .step('a', secret, {
      payload: () => ({ token: 'tick' }),
      undo: { job: secret, payload: ({ payload, result }) => ({ token: `${payload.token} ${result.token}` }) },
    })
    .step('b', work, { ...named('b'), after: 'a' })
  const seen: string[] = []
  const handlers = [
    implement(secret, ({ token }) => {
      seen.push(token)
      return { token: `${token}-tock` }
    }),
    implement(work, () => {
      throw new Unrecoverable('that will do')
    }),
  ]
  await using t = await setup()
  const old = t.client([], { workflows: [flow], encryption: ringOf('a') })
  const worker = await old.work({ handlers, lease: shortLease })
  const { id } = await old.workflows.start(flow)
  expect(await old.workflows.result(id)).toMatchObject({ status: 'failed' })
  await worker.stop()

  const millrace = t.client([], { workflows: [flow], encryption: ringOf('b', 'a') })
  const [, before] = await millrace.encryptionKeys.status()
  expect(before).toMatchObject({ id: 'a', live: 0, deadLetters: 0, archive: 0, workflows: 1, isNeeded: true })
  const stranger = t.client([], { encryption: ringOf('b', 'a') })
  expect(await stranger.encryptionKeys.rotate({ by: 'ann' })).toMatchObject({
    rotated: { workflows: 0 },
    unreadable: [{ place: 'workflows', keyId: 'a' }],
  })
  expect(await millrace.encryptionKeys.rotate({ by: 'ann' })).toMatchObject({
    rotated: { workflows: 1 },
    unreadable: [],
  })
  expect(await millrace.encryptionKeys.status()).toMatchObject([
    { id: 'b', workflows: 1 },
    { id: 'a', isNeeded: false },
  ])

  const alone = t.client([], { workflows: [flow], encryption: ringOf('b') })
  await alone.work({ handlers, lease: shortLease })
  await alone.workflows.rollBack(id, { by: 'ann' })
  expect(await alone.workflows.result(id)).toMatchObject({ status: 'rolled back' })
  expect(seen).toEqual(['tick', 'tick tick-tock'])
})

test('an erasure locks items before steps, as whoever ends jobs does: neither waits for the other for ever', async () => {
  const flow = defineWorkflow('flow', { onFailure: 'stop' }).step('a', work, { ...named('a'), ...undone })
  await using t = await running([flow], {
    done: [],
    work: () => {
      throw new Unrecoverable('broken')
    },
  })
  const { id } = await t.workflows.start(flow)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
  const [jobId] = (await t.workflows.get(id))?.steps[0]?.jobIds ?? []
  const other = await t.pool.connect()
  await other.query('begin')
  await other.query('select from millrace.workflow_item where workflow_id = $1 for no key update', [id])
  const erased = t.millrace.erase({ ids: [jobId as string], by: 'ann', reason: 'asked' })
  await eventually(async () => {
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    return (await t.sql(waiting)).length > 0
  })
  await other.query('select from millrace.workflow_step where workflow_id = $1 for no key update', [id])
  await other.query('commit')
  other.release()
  expect(await erased).toMatchObject({ deadLetters: 1 })
  const [step] = (await t.workflows.get(id))?.steps ?? []
  expect(step).toMatchObject({ reason: '[erased]' })
})
