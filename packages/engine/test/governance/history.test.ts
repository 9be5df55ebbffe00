// Who switches the history of types on and off, and what that leaves behind.
import { createMillrace, defineJob, defineQueues, type HistoryRefused, implement, type Logger } from 'millrace'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Setup, setup, shortLease, silent } from '../support/setup.ts'

const queues = defineQueues({ watched: { history: 'full' }, plain: {} })
const payload = z.looseObject({})
const watched = defineJob({ type: 'watched', queue: queues.watched, payload })
const unwatched = defineJob({ type: 'unwatched', queue: queues.watched, payload, history: 'off' })
const own = defineJob({ type: 'own', queue: queues.plain, payload, history: 'full' })
const plain = defineJob({ type: 'plain', queue: queues.plain, payload })

const triggers = async (t: Setup) =>
  (await t.sql<{ name: string }>('select tgname as name from pg_trigger where not tgisinternal order by 1')).map(
    ({ name }) => name,
  )
const all = ['job_event_changed', 'job_event_ended', 'job_event_enqueued']

describe('a contract', () => {
  test('has the history of its queue, or its own', () => {
    expect([watched, unwatched, own, plain].map(({ history }) => history)).toEqual(['full', 'off', 'full', 'off'])
  })

  test('cannot have one without an archive, or of another kind', () => {
    const base = { type: 'x', queue: queues.plain, payload } as const
    expect(() => defineJob({ ...base, history: 'full', retention: 'none' })).toThrow(/retention: 'short' or longer/)
    expect(() => defineJob({ ...base, history: 'some' as never })).toThrow(/expected 'full' or 'off'/)
  })
})

describe('history', () => {
  test('without a type that has one there is no trigger, and no row', async () => {
    await using t = await setup()
    const { millrace } = await t.working([implement(plain, () => {}), implement(unwatched, () => {})])
    await millrace.result((await millrace.enqueue(plain, {})).id)
    expect(await triggers(t)).toEqual([])
    expect(await t.sql('select from millrace.job_event')).toEqual([])
    expect(await millrace.historySettings.list()).toEqual([])
  })

  test('workers that start at once switch it on, and a real run is told whole', async () => {
    await using t = await setup()
    const handlers = [implement(watched, () => 'ok'), implement(own, () => {})]
    const clients = Array.from({ length: 3 }, () => t.client([watched, own]))
    await Promise.all(clients.map((millrace) => millrace.work({ handlers, lease: shortLease })))
    expect(await triggers(t)).toEqual(all)
    const [millrace] = clients as [(typeof clients)[0]]
    expect(await millrace.historySettings.list()).toMatchObject([
      { type: 'own', isOn: true, setBy: 'contract' },
      { type: 'watched', isOn: true },
    ])
    const ids = (
      await millrace.enqueueMany(
        watched,
        Array.from({ length: 200 }, () => ({})),
      )
    ).map(({ id }) => id)
    await Promise.all(ids.map((id) => millrace.result(id)))
    for (const id of ids) {
      expect((await millrace.history(id)).map(({ event }) => event)).toEqual(['enqueued', 'claimed', 'completed'])
    }
  })

  test('what somebody switched off stays off, and the last one takes the triggers away', async () => {
    await using t = await setup()
    const { millrace, worker } = await t.working([implement(watched, () => {}), implement(own, () => {})])
    const { id } = await millrace.enqueue(watched, {})
    await millrace.result(id)
    await millrace.historySettings.off('own', { by: 'ann' })
    expect(await triggers(t)).toEqual(all)
    await millrace.historySettings.off('watched', { by: 'ann' })
    expect(await triggers(t)).toEqual([])
    await worker.stop()
    await t.working([implement(watched, () => {}), implement(own, () => {})])
    expect(await triggers(t)).toEqual([])
    expect((await millrace.history(id)).length).toBe(3)
    await millrace.historySettings.on('watched', { by: 'ann' })
    expect(await triggers(t)).toEqual(all)
    expect(
      await t.sql(`select actor as by, action, target from millrace.audit_log where action like 'history%'`),
    ).toEqual([
      { by: 'ann', action: 'history.off', target: 'own' },
      { by: 'ann', action: 'history.off', target: 'watched' },
      { by: 'ann', action: 'history.on', target: 'watched' },
    ])
    await expect(millrace.historySettings.on('watched', { by: '' })).rejects.toThrow(/`by` is missing/)
  })

  test('does not make enqueues wait for a transaction that stays open, and says that it could not be switched', async () => {
    await using t = await setup()
    const millrace = t.client([watched])
    const open = new pg.Client(t.url)
    await open.connect()
    await open.query('begin')
    await millrace.enqueue(watched, {}, { tx: open })
    await expect(millrace.historySettings.on('watched', { by: 'ann' })).rejects.toMatchObject({
      code: 'history_refused',
      reason: 'busy',
    })
    await open.query('commit')
    await open.end()
    await millrace.historySettings.on('watched', { by: 'ann' })
    expect(await triggers(t)).toEqual(all)
  })

  test('a role that may write jobs but not create triggers works without it, and its history is written once the owner has switched it on', async () => {
    await using t = await setup()
    const role = `clerk_${new URL(t.url).pathname.slice(1)}`.slice(0, 60)
    await t.sql(`create role "${role}" login password 'clerk'`)
    try {
      await t.sql(`grant usage on schema millrace to "${role}"`)
      await t.sql(`grant select, insert, update, delete on all tables in schema millrace to "${role}"`)
      await t.sql(`revoke all on millrace.job_event from "${role}"`)
      const url = new URL(t.url)
      url.username = role
      url.password = 'clerk'
      const warnings: { error: string }[] = []
      const logger: Logger = { ...silent, warn: (fields) => void warnings.push(fields as { error: string }) }
      await t
        .client([watched])
        .work({ handlers: [implement(watched, () => {})] })
        .then((worker) => worker.stop())
      await t.client([watched]).historySettings.off('watched', { by: 'owner' })
      await using clerk = createMillrace({ database: url.href, jobs: [watched, own], logger })
      const error = (await clerk.historySettings.on('watched', { by: 'clerk' }).catch((e) => e)) as HistoryRefused
      expect(error).toMatchObject({ code: 'history_refused', reason: 'not_permitted' })
      expect(error.message).toMatch(/millrace history on.*create or replace trigger job_event_enqueued after insert/)
      await clerk.work({ handlers: [implement(own, () => {}), implement(watched, () => {})], lease: shortLease })
      expect(warnings.some(({ error: text }) => /this role may not do it/.test(text ?? ''))).toBe(true)
      await t.client([watched]).historySettings.on('watched', { by: 'owner' })
      const { id } = await clerk.enqueue(watched, {})
      await clerk.result(id)
      const events = await t.client([watched]).history(id)
      expect(events.map(({ event }) => event)).toEqual(['enqueued', 'claimed', 'completed'])
    } finally {
      await t.sql(`drop owned by "${role}"`)
      await t.sql(`drop role "${role}"`)
    }
  })
})
