// What happens to one workflow at the same time, and what is refused halfway.
import { defineWorkflow, Unrecoverable } from 'millrace'
import { expect, test } from 'vitest'
import { setup, signal } from '../support/setup.ts'
import { type Deeds, named, running, undo, undone, work } from './running.ts'

const stop = defineWorkflow('stop', { onFailure: 'stop' })
  .step('first', work, { ...named('first'), ...undone })
  .step('second', work, { ...named('second'), after: 'first' })

/** A workflow whose second step has failed, and would not again. */
async function failed() {
  let isBroken = true
  const deeds: Deeds = {
    done: [],
    work: ({ name }) => {
      if (name === 'second' && isBroken) throw new Unrecoverable('broken')
      return { did: name }
    },
  }
  const t = await running([stop], deeds)
  const { id } = await t.workflows.start(stop)
  expect(await t.workflows.result(id)).toMatchObject({ status: 'failed' })
  isBroken = false
  return { ...t, id, deeds, other: t.client([work, undo], { workflows: [stop] }) }
}

test('of two who resume a workflow one does, and the other is told', async () => {
  await using t = await failed()
  const answers = await Promise.all(
    [t.millrace, t.other, t.millrace, t.other].map(({ workflows }, i) => workflows.resume(t.id, { by: `person ${i}` })),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual(['done', 'refused', 'refused', 'refused'])
  expect(await t.workflows.result(t.id)).toMatchObject({ status: 'completed' })
  expect(t.deeds.done).toEqual(['first', 'second'])
  const resumed = `select from millrace.audit_log where action = 'workflow.resume'`
  expect(await t.sql(resumed)).toHaveLength(1)
})

test('of two who resume a workflow and roll it back one does, and the other is told', async () => {
  await using t = await failed()
  const [resumed, rolledBack] = await Promise.all([
    t.millrace.workflows.resume(t.id, { by: 'ann' }),
    t.other.workflows.rollBack(t.id, { by: 'bob' }),
  ])
  expect([resumed.status, rolledBack.status].toSorted()).toEqual(['done', 'refused'])
  const expected =
    resumed.status === 'done'
      ? { status: 'completed', done: ['first', 'second'] }
      : { status: 'rolled back', done: ['first', 'undo first'] }
  expect({ status: (await t.workflows.result(t.id)).status, done: t.deeds.done }).toEqual(expected)
})

test('a workflow that is cancelled while it is advanced starts nothing more, or undoes it', async () => {
  const flow = defineWorkflow('flow')
    .step('a', work, { ...named('a'), ...undone })
    .step('b', work, { ...named('b'), ...undone, after: 'a' })
    .step('c', work, { ...named('c'), ...undone, after: 'b' })
  const deeds: Deeds = { done: [] }
  await using t = await running([flow], deeds)
  const other = t.client([work, undo], { workflows: [flow] })
  for (let round = 0; round < 8; round++) {
    deeds.done.length = 0
    const completed = t.millrace.events.next('job_completed')
    const { id } = await t.workflows.start(flow)
    await completed
    const answer = await other.workflows.cancel(id, { by: 'ann' })
    const { status } = await t.workflows.result(id)
    const did = deeds.done.filter((each) => !each.startsWith('undo'))
    const undid = deeds.done.filter((each) => each.startsWith('undo'))
    expect(undid).toEqual(answer.status === 'done' ? did.toReversed().map((name) => `undo ${name}`) : [])
    expect(status).toBe(answer.status === 'done' ? 'rolled back' : 'completed')
  }
})

test('a start that is refused leaves nothing behind in a transaction that commits all the same', async () => {
  const flow = defineWorkflow('flow')
    .step('a', work, named('a'))
    .step('b', work, {
      payload: () => {
        throw new Error('not configured')
      },
    })
  await using t = await setup()
  const millrace = t.client([], { workflows: [flow, stop] })
  const tx = await t.pool.connect()
  await tx.query('begin')
  await expect(millrace.workflows.start(flow, undefined, { tx })).rejects.toThrow('not configured')
  await expect(millrace.workflows.start(stop, undefined, { tx, priority: 2 ** 40 })).rejects.toThrow(/priority|range/)
  const { id } = await millrace.workflows.start(stop, undefined, { tx })
  await tx.query('commit')
  tx.release()
  expect(await t.sql('select id from millrace.workflow')).toEqual([{ id }])
  expect(await t.sql('select workflow_id from millrace.job')).toEqual([{ workflow_id: id }])
})

test('a workflow that is erased while a job of it runs ends, and nothing of it is left to read', async () => {
  const isRunning = signal()
  const mayEnd = signal()
  const flow = defineWorkflow('flow', { onFailure: 'stop' })
    .step('a', work, named('a'))
    .step('b', work, { ...named('b'), after: 'a' })
    .step('c', work, { after: 'b', payload: ({ results }) => ({ name: results.b.did }) })
  const deeds: Deeds = {
    done: [],
    work: async ({ name }) => {
      if (name === 'b') {
        isRunning.resolve()
        await mayEnd.promise
      }
      return { did: `secret ${name}` }
    },
  }
  await using t = await running([flow], deeds)
  const { id } = await t.workflows.start(flow, undefined, { tenant: 'acme' })
  await isRunning.promise
  expect((await t.millrace.erase({ tenant: 'acme', by: 'ann', reason: 'asked' })).running).toHaveLength(1)
  mayEnd.resolve()
  await t.workflows.result(id)
  await t.millrace.erase({ tenant: 'acme', by: 'ann', reason: 'asked' })
  const left = await t.sql('select payload, result, reason from millrace.workflow_item')
  expect(JSON.stringify(left)).not.toMatch(/secret/)
})

test('an undo that Postgres will not store fails its step, and not the call that asked for it', async () => {
  await using t = await failed()
  await t.sql(`alter table millrace.job add constraint no_undo check (type <> 'undo') not valid`)
  expect(await t.workflows.rollBack(t.id, { by: 'ann' })).toEqual({ status: 'done', as: 'rollback failed' })
  expect((await t.workflows.get(t.id))?.steps[0]).toMatchObject({
    undo: 'failed',
    reason: expect.stringMatching(/Postgres refuses to store its jobs/),
  })
  await expect(t.workflows.resume(t.id, { by: 'ann' })).rejects.toThrow(/Postgres refuses to store its jobs/)
})
