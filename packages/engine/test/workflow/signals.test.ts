import { defineWorkflow, UnknownSignal, Unrecoverable } from 'millrace'
import { drain, fakeClock } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { Millrace } from '#src/millrace'
import { workflowPrune } from '#src/store/workflows'
import { eventually, setup } from '../support/setup.ts'
import { type Deeds, handlersOf, named, running, statuses, undo, undone, work } from './running.ts'

const approval = defineWorkflow('approval')
  .step('ask', work, named('ask'))
  .signal('approved', { after: 'ask', payload: z.object({ by: z.string(), at: z.coerce.date() }), timeout: '2d' })
  .step('ship', work, {
    after: 'approved',
    payload: ({ results }) => ({ name: `${results.approved.by} ${results.approved.at.getFullYear()}` }),
  })

const yes = { by: 'ann', at: '2024-05-05T12:00:00Z' }
const isWaiting = (t: { workflows: Parameters<typeof statuses>[0] }, id: string, name = 'approved') =>
  eventually(async () => (await statuses(t.workflows, id))[name] === 'running')

describe('a signal', () => {
  test('completes the step that waits for it, and what came with it is its result', async () => {
    await using t = await running([approval], { done: [] })
    const { id } = await t.workflows.start(approval)
    await isWaiting(t, id)
    const waiting = (await t.workflows.get(id))?.steps[1]
    expect(waiting).toMatchObject({ name: 'approved', kind: 'signal', status: 'running', jobs: 0, jobIds: [] })
    expect((waiting?.dueAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(47 * 3_600_000)
    expect(await t.workflows.signal(id, 'approved', yes, { by: 'bob' })).toEqual({ status: 'accepted' })
    expect(await t.workflows.result(id)).toEqual({
      status: 'completed',
      reason: null,
      results: { ship: { did: 'ann 2024' } },
    })
    expect((await t.workflows.get(id))?.steps[1]).toMatchObject({ status: 'completed', dueAt: null })
    const [entry] = await t.sql('select actor as by, target, details from millrace.audit_log')
    expect(entry).toEqual({ by: 'bob', target: id, details: { name: 'approval', signal: 'approved' } })
  })

  test('that comes before its step waits for it', async () => {
    const flow = defineWorkflow('early')
      .step('ask', work, { ...named('ask'), delay: '1d' })
      .signal('go', { after: 'ask' })
    await using t = await running([flow], { done: [] })
    const { id } = await t.workflows.start(flow)
    expect(await t.workflows.signal(id, 'go', undefined, { by: 'bob' })).toEqual({ status: 'accepted' })
    expect(await statuses(t.workflows, id)).toEqual({ ask: 'running', go: 'waiting' })
    const [job] = (await t.workflows.get(id))?.steps[0]?.jobIds ?? []
    await t.millrace.retry(job as string, { by: 'bob' })
    expect(await t.workflows.result(id)).toMatchObject({ status: 'completed', results: { go: undefined } })
  })

  test('of a first step may be the last one, and is a result of the workflow', async () => {
    const flow = defineWorkflow('only').signal('go', { payload: z.object({ n: z.int() }) })
    await using t = await setup()
    const { workflows } = t.client([], { workflows: [flow] })
    const { id } = await workflows.start(flow)
    await workflows.signal(id, 'go', { n: 1 }, { by: 'bob' })
    expect(await workflows.result(id)).toMatchObject({ status: 'completed', results: { go: { n: 1 } } })
  })

  test('counts once: the same key is the same signal, and another one is refused', async () => {
    await using t = await setup()
    const { workflows } = t.client([work], { workflows: [approval] })
    const { id } = await workflows.start(approval)
    const send = (key?: string) => workflows.signal(id, 'approved', yes, { by: 'bob', ...(key ? { key } : {}) })
    const all = await Promise.all(['k', 'k', 'k'].map(send))
    expect(all.map(({ status }) => status).sort()).toEqual(['accepted', 'repeated', 'repeated'])
    for (const key of ['other', undefined]) {
      expect(await send(key)).toMatchObject({
        status: 'refused',
        as: 'running',
        message: expect.stringContaining('already'),
      })
    }
  })

  test('is sent exactly if the transaction commits in which it was sent', async () => {
    const deeds: Deeds = { done: [] }
    await using t = await running([approval], deeds)
    const { id } = await t.workflows.start(approval)
    await isWaiting(t, id)
    const client = await t.pool.connect()
    for (const end of ['rollback', 'commit']) {
      await client.query('begin')
      expect(await t.workflows.signal(id, 'approved', yes, { by: 'bob', tx: client })).toEqual({ status: 'accepted' })
      await client.query(end)
      if (end === 'rollback') expect((await statuses(t.workflows, id)).approved).toBe('running')
    }
    client.release()
    expect((await t.workflows.result(id)).status).toBe('completed')
    expect(deeds.done).toEqual(['ask', 'ann 2024'])
  })

  test('that cannot be taken says why', async () => {
    const plain = defineWorkflow('plain')
      .signal('go', {})
      .signal('later', { after: 'go', when: () => false })
    await using t = await running([approval, plain], { done: [] })
    const send = (id: string, name: string, payload?: unknown) => t.workflows.signal(id, name, payload, { by: 'bob' })
    const { id } = await t.workflows.start(approval)
    await expect(send(id, 'aproved', yes)).rejects.toThrow(UnknownSignal)
    await expect(send(id, 'aproved', yes)).rejects.toThrow('Did you mean "approved"?')
    await expect(send(id, 'approved', { by: 1 })).rejects.toThrow(/signal approved.*by/)
    await expect(t.workflows.signal(id, 'approved', yes, {} as never)).rejects.toThrow('`by` is missing')
    const other = await t.workflows.start(plain)
    await expect(send(other.id, 'go', { some: 1 })).rejects.toThrow('takes no payload')
    expect(await send('999', 'go')).toEqual({ status: 'not_found' })
    expect(await send('no', 'go')).toEqual({ status: 'not_found' })
    await send(other.id, 'go')
    expect(await send(other.id, 'later')).toMatchObject({ status: 'refused', as: 'completed' })
    await t.workflows.cancel(id, { by: 'bob' })
    await t.workflows.result(id)
    expect(await send(id, 'approved', yes)).toMatchObject({
      status: 'refused',
      message: `Workflow ${id} is cancelled: it waits for no signal any more.`,
    })
  })

  test('is erased with its workflow, and forgotten with it', async () => {
    const flow = defineWorkflow('gone', { retention: 'none' }).signal('go', { payload: z.object({ n: z.int() }) })
    await using t = await setup()
    const millrace = t.client([], { workflows: [flow] })
    const { id } = await millrace.workflows.start(flow, undefined, { tenant: 'acme' })
    await millrace.workflows.signal(id, 'go', { n: 1 }, { by: 'bob' })
    await millrace.erase({ tenant: 'acme', by: 'bob', reason: 'asked' })
    expect(await t.sql('select payload from millrace.workflow_signal')).toEqual([{ payload: { erased: true } }])
    const { db } = Millrace.servicesOf(millrace as never)
    expect(await workflowPrune(db, null, 100)).toBe(1)
    expect(await t.sql('select from millrace.workflow_signal')).toEqual([])
  })
})

describe('a step that waits', () => {
  test('fails when no signal came in time, and the edge says what that means', async () => {
    const clock = fakeClock('2024-01-01T00:00:00Z')
    const flow = defineWorkflow('late', { onFailure: 'stop' })
      .signal('approved', { timeout: '2d' })
      .step('without', work, {
        after: { approved: 'continue' },
        payload: ({ results }) => ({ name: String(results.approved) }),
      })
    const strict = defineWorkflow('strict', { onFailure: 'stop' }).signal('approved', {
      timeout: () => '1d',
    })
    await using t = await setup()
    const millrace = t.client([work, undo], { workflows: [flow, strict], clock })
    const { workflows } = millrace
    const [lenient, failing] = [await workflows.start(flow), await workflows.start(strict)]
    const deeds: Deeds = { done: [] }
    await drain(millrace, handlersOf(deeds), { advance: '47h' })
    expect(await workflows.get(failing.id)).toMatchObject({
      status: 'failed',
      reason: 'step "approved" failed: no signal came in time',
    })
    expect(deeds.done).toEqual([])
    await drain(millrace, handlersOf(deeds), { advance: '2h' })
    expect(await statuses(workflows, lenient.id)).toEqual({ approved: 'failed', without: 'completed' })
    expect(deeds.done).toEqual(['undefined'])
    expect(await workflows.signal(failing.id, 'approved', undefined, { by: 'bob' })).toMatchObject({
      status: 'refused',
    })
    await workflows.resume(failing.id, { by: 'bob' })
    expect(await workflows.signal(failing.id, 'approved', undefined, { by: 'bob' })).toEqual({ status: 'accepted' })
    expect(await workflows.get(failing.id)).toMatchObject({ status: 'completed' })
  })

  test('is due within moments in a process that works', async () => {
    const flow = defineWorkflow('nap')
      .sleep('nap', { for: '1s' })
      .step('a', work, { ...named('a'), after: 'nap' })
    await using t = await running([flow], { done: [] })
    const started = await Promise.all(Array.from({ length: 20 }, () => t.workflows.start(flow)))
    const ends = await Promise.all(started.map(({ id }) => t.workflows.result(id, { timeout: '10s' })))
    expect(ends.filter(({ status }) => status !== 'completed')).toEqual([])
  })

  test('sleeps for a time, or until one, and not at all if that is past', async () => {
    const clock = fakeClock('2024-01-01T00:00:00Z')
    const flow = defineWorkflow('sleeper')
      .sleep('past', { for: () => new Date('2023-01-01') })
      .sleep('cooling-off', { after: 'past', for: '1d' })
      .sleep('until', { after: 'cooling-off', for: () => new Date('2024-01-03T00:00:00Z') })
      .step('a', work, { ...named('a'), after: 'until' })
    await using t = await setup()
    const millrace = t.client([work, undo], { workflows: [flow], clock })
    const { id } = await millrace.workflows.start(flow)
    expect(await statuses(millrace.workflows, id)).toMatchObject({ past: 'completed', 'cooling-off': 'running' })
    const deeds: Deeds = { done: [] }
    await drain(millrace, handlersOf(deeds), { advance: '47h' })
    expect(await statuses(millrace.workflows, id)).toMatchObject({ 'cooling-off': 'completed', until: 'running' })
    await drain(millrace, handlersOf(deeds), { advance: '1h' })
    expect(await millrace.workflows.get(id)).toMatchObject({ status: 'completed' })
  })

  test('is not waited for when the workflow fails, and undoing goes on without it', async () => {
    const flow = defineWorkflow('stops')
      .step('done', work, { ...named('done'), ...undone })
      .signal('go', { after: 'done' })
      .sleep('long', { after: 'done', for: '1d' })
      .step('fails', work, { ...named('fails'), after: 'done' })
    const deeds: Deeds = {
      done: [],
      work: ({ name }) => {
        if (name === 'fails') throw new Unrecoverable('no')
        return { did: name }
      },
    }
    await using t = await running([flow], deeds)
    const { id } = await t.workflows.start(flow)
    expect((await t.workflows.result(id)).status).toBe('rolled back')
    expect(await statuses(t.workflows, id)).toEqual({
      done: 'completed',
      go: 'cancelled',
      long: 'cancelled',
      fails: 'failed',
    })
    expect(deeds.done).toEqual(['done', 'undo done'])
  })

  test('whose signal was kept by a process that died is advanced by a sweep', async () => {
    await using t = await running([approval], { done: [] })
    const { id } = await t.workflows.start(approval)
    await isWaiting(t, id)
    await t.sql('insert into millrace.workflow_signal values ($1, $2, null, $3, now(), $4)', [id, 'approved', 'x', yes])
    await t.sql("update millrace.workflow_step set needs_advance = true where waits_for = 'signal'")
    await Millrace.servicesOf(t.millrace as never).advancer.sweep()
    expect((await t.workflows.result(id)).status).toBe('completed')
  })
})
